"""The lines of items in a JSON text, so that a fault can name its line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

Path = Sequence[str | int]
"""The way to an item from the outermost value: names of fields and places in lists."""

_SPACE = re.compile(r"[ \t\n\r]*")
_VALUE = json.JSONDecoder(strict=False)


def line_of(text: str, path: Path) -> int:
    """Return the line of the item at `path` in JSON `text`, or of the innermost thing around it that is there.

    Raises `ValueError` or `RecursionError` for a text that is no JSON.
    """
    place = _skip(text, 0)
    for part in path:
        inner = _inside(text, place, part)
        if inner is None:
            break
        place = inner
    return 1 + text.count("\n", 0, place)


def _inside(text: str, place: int, part: str | int) -> int | None:
    """The place of item `part` in the list or object at `place`; None where it has none. Of a repeated name the last counts."""
    named, last = text.startswith("{", place), None
    if not named and not text.startswith("[", place):
        return None
    place, key = _skip(text, place + 1), 0
    while not text.startswith(("}", "]"), place):
        name: str | int = key
        if named:
            name, place = _VALUE.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        last = place if name == part else last
        place = _skip(text, _VALUE.raw_decode(text, place)[1])
        place, key = _skip(text, place + 1) if text.startswith(",", place) else place, key + 1
    return last


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place
