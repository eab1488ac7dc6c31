"""A run as JSON lines, to be sent, kept or read by something else, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeGuard

from planexec_lite.events import Event, from_json
from planexec_lite.journal.database import JournalError

FORMAT, VERSION = "planexec-run", 1
# where str.splitlines ends a line, and JSON does not
ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)


def written(uid: str, events: Sequence[str]) -> Iterator[str]:
    """Give the lines, each with its end: what this is, then the events."""
    yield json.dumps({"format": FORMAT, "version": VERSION, "run": uid, "events": len(events)}) + "\n"
    for event in events:
        yield event.translate(ENDS) + "\n"


def read(lines: Iterable[str]) -> tuple[str, list[Event]]:
    """Return the run's uid and its events. Raises `JournalError`, with the number of the line, for what can't be read."""
    events: list[Event] = []
    uid, wanted = "", 0
    for number, line in enumerate(lines, 1):
        with of_line(number):
            if number == 1:
                uid, wanted = _head(line)
            elif number > wanted + 1:
                raise ValueError(f"there are more lines than the {wanted} events that the first one tells of")
            else:
                events.append(from_json(line))
    if not uid:
        raise JournalError("there is no line in it; the first one of a run says what it is")
    if len(events) < wanted or not events:
        raise JournalError(f"{len(events)} events are there, of {wanted}: the rest of the lines is missing")
    return uid, events


def is_uid(uid: object) -> TypeGuard[str]:
    """Whether it is what a run is called wherever it is kept."""
    return isinstance(uid, str) and re.fullmatch("[0-9a-f]{32}", uid) is not None


def _head(line: str) -> tuple[str, int]:
    head = json.loads(line)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ValueError(f'no exported run: the first line says {{"format": "{FORMAT}", …}}')
    if head.get("version") != VERSION:
        raise ValueError(f"format version {head.get('version')!r}; this reads {VERSION}")
    if not is_uid(uid := head.get("run")):
        raise ValueError(f"no id of a run: {uid!r:.80}")
    if type(count := head.get("events")) is not int or count < 1:
        raise ValueError(f"no number of events: {count!r:.80}")
    return uid, count


@contextmanager
def of_line(number: int) -> Iterator[None]:
    """Say of which line something is that can't be read."""
    try:
        yield
    except UNREADABLE as problem:
        raise JournalError(f"line {number} can't be read ({told(problem)}); nothing was taken in") from problem


def told(problem: BaseException) -> str:
    """An error in words, shortened."""
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text[:200]}{'…' if len(text) > 200 else ''}"
