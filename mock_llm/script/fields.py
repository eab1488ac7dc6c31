"""The fields of a script: each value checked where it stands, each problem with its place and the mend."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .yaml_lines import Lines, Path


@dataclass(frozen=True)
class Place:
    """Where a value stands in a script, so that a problem can be reported with it."""

    file: str
    lines: Lines
    problems: list[str]
    path: Path = ()

    def at(self, key: str | int) -> Place:
        """The place of a part of this value."""
        return replace(self, path=(*self.path, key))

    def __str__(self) -> str:
        if self.lines:
            # What is missing has no line: the nearest value around it has.
            known = next(path for n in range(len(self.path), -1, -1) if (path := self.path[:n]) in self.lines)
            return f"{self.file}:{self.lines[known]}"
        return self.file + "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in self.path)

    @property
    def name(self) -> str:
        """The field's own name: `says`, or `says[0]` for an item of it."""
        *_, last = (n for n, key in enumerate(self.path) if isinstance(key, str))
        return str(self.path[last]) + "".join(f"[{n}]" for n in self.path[last + 1 :])

    def report(self, problem: str) -> None:
        """Note a problem of the value that stands here."""
        self.problems.append(f"{self}: {problem}")


T = TypeVar("T")
Check = Callable[[Any, Place], Any]


def fields(value: Any, known: Mapping[str, Check], place: Place, what: str) -> dict[str, Any]:
    """The fields of an object, each checked; unknown ones are reported, with the likely name."""
    if not isinstance(value, Mapping):
        place.report(f"{what} has fields ({', '.join(known)}), but this is {value!r}")
        return {}
    for name in value:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            mend = f"did you mean {near[0]!r}?" if near else f"{what} has {', '.join(known)}"
            place.at(str(name)).report(f"unknown field {name!r} in {what}; {mend}")
    return {name: check(value[name], place.at(name)) for name, check in known.items() if name in value}


def construct(kind: Callable[..., T], given: dict[str, Any], place: Place, needed: tuple[str, ...] = ()) -> T | None:
    """The value made of its fields, or None, and what it finds wrong with itself reported.

    Args:
        kind: makes the value; what it can't take it says in a ValueError.
        needed: fields that must be given.
    """
    lacking = [name for name in needed if name not in given]
    if lacking:
        place.report(f"{place.name} needs a field {lacking[0]!r}")
        return None
    try:
        return kind(**given)
    except (ValueError, TypeError) as error:
        place.report(str(error))
        return None


def several(check: Check) -> Check:
    """A check of a list of values that each pass `check`; a single value will do for a list of one."""

    def checked(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            return (check(value, place),)
        if not value:
            place.report(f"{place.name} is empty: leave it out")
        return tuple(check(item, place.at(n)) for n, item in enumerate(value))

    return checked


def expect(kinds: Any, what: str) -> Check:
    """A check that a value is of a Python type, or of one of several."""

    def check(value: Any, place: Place) -> Any:
        # For Python True is a whole number; for a script's author it is none.
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            quotable = what == "a text" and not isinstance(value, (dict, list))
            mend = f"; put it in quotes: {str(value)!r}" if quotable else ""
            place.report(f"{place.name} must be {what}, not {value!r}{mend}")
        return value

    return check


text = expect(str, "a text")
number = expect((int, float), "a number")
count = expect(int, "a whole number")
flag = expect(bool, "true or false")
texts = several(text)


def anything(value: Any, place: Place) -> Any:
    """No check: whatever stands there."""
    return value


def function(value: Any, place: Place) -> Any:
    """A check that a value is a Python function."""
    if not callable(value):
        place.report(
            "python is a function of the request, so the scene must be written in Python; use text, json or find"
        )
    return value


def patterns(value: Any, place: Place) -> dict[str, str]:
    """A check of names with a regular expression each."""
    return fields(value, dict.fromkeys(value, text) if isinstance(value, Mapping) else {}, place, "find")
