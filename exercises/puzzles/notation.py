"""Plans as text, one line per step: ``3 pour 10 s after 1, 2``. A line has the id, the job, its seconds, and its dependencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

FORM = "write a line such as: 3 pour 10 s after 1, 2"
_LINE = re.compile(r"(?P<id>[\w.-]+)\s+(?P<job>[^\W\d]\w*)\s+(?P<seconds>\d+)\s*s(?:\s+after\s+(?P<after>.+))?")


class Line(NamedTuple):
    """A step, as a line of the notation."""

    id: str
    job: str
    seconds: float
    after: tuple[str, ...]


def lines(text: str) -> list[Line]:
    """Read a plan line by line, and skip empty lines. Raises `ValueError` for a malformed line."""
    if not isinstance(text, str):
        raise TypeError(f"the plan must be a string, not {type(text).__name__}")
    return [_line(words) for words in map(str.strip, text.splitlines()) if words]


def _line(words: str) -> Line:
    match = _LINE.fullmatch(words)
    if match is None:
        raise ValueError(f"{words!r} can't be read; {FORM}")
    after = tuple(id for id in re.split(r"[,\s]+|\band\b", match["after"] or "") if id)
    return Line(match["id"], match["job"], float(match["seconds"]), after)


def seconds(text: str) -> Mapping[str, float]:
    """Return the seconds of each job in a plan."""
    return {line.job: line.seconds for line in lines(text)}
