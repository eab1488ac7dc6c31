"""The fields of a script: checks each value and reports each problem with its place and a fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mock_llm.types import suggestion

from .yaml_lines import Lines, Path

LONGEST = 300  # characters of each end of a problem


@dataclass(frozen=True)
class Place:
    """The place of a value in a script, used to report problems."""

    file: str
    lines: Lines
    problems: list[str]
    path: Path = ()

    def at(self, key: str | int) -> Place:
        """Return the place of a part of this value."""
        return replace(self, path=(*self.path, key))

    def __str__(self) -> str:
        if self.lines:
            # A missing value has no line, so the enclosing value's line is used.
            known = next(path for n in range(len(self.path), -1, -1) if (path := self.path[:n]) in self.lines)
            return f"{self.file}:{self.lines[known]}"
        return self.file + "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in self.path)

    @property
    def name(self) -> str:
        """The field's name: `says`, or `says[0]` for an item of it."""
        *_, last = (n for n, key in enumerate(self.path) if isinstance(key, str))
        return str(self.path[last]) + "".join(f"[{n}]" for n in self.path[last + 1 :])

    def report(self, problem: str) -> None:
        """Record a problem of the value at this place; a long value in its text is cut."""
        if len(problem) > 2 * LONGEST:
            problem = f"{problem[:LONGEST]} … {problem[-LONGEST:]}"
        self.problems.append(f"{self}: {problem}")


T = TypeVar("T")
Check = Callable[[Any, Place], Any]


def fields(value: Any, known: Mapping[str, Check], place: Place, what: str) -> dict[str, Any]:
    """Return the checked fields of an object; unknown fields are reported with the most similar known name."""
    if not isinstance(value, Mapping):
        place.report(f"{what} has fields ({', '.join(known)}), but this is {value!r}")
        return {}
    for name in value:
        if name not in known:
            fix = suggestion(name, known, f"{what} has ")
            place.at(str(name)).report(f"unknown field {name!r} in {what}; {fix}")
    return {name: check(value[name], place.at(name)) for name, check in known.items() if name in value}


def construct(kind: Callable[..., T], given: dict[str, Any], place: Place, needed: tuple[str, ...] = ()) -> T | None:
    """Return the value built from its fields, or None if that fails; the problem is then reported.

    Args:
        kind: builds the value, and raises ValueError for invalid fields.
        needed: the required fields.
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
    """Return a check for a list whose items each pass `check`; a single value counts as a list with one item."""

    def checked(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            return (check(value, place),)
        if not value:
            place.report(f"{place.name} is empty: leave it out")
        return tuple(check(item, place.at(n)) for n, item in enumerate(value))

    return checked


def expect(kinds: Any, what: str) -> Check:
    """Return a check that a value has one of several Python types."""

    def check(value: Any, place: Place) -> Any:
        # In Python, True is an int; in a script it is not a number.
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
    """Accept any value."""
    return value


def function(value: Any, place: Place) -> Any:
    """Check that a value is a Python function."""
    if not callable(value):
        place.report(
            "python is a function of the request, so the scene must be written in Python; use text, json or find"
        )
    return value


def patterns(value: Any, place: Place) -> dict[str, str]:
    """Check that a value maps names to regular expressions."""
    return fields(value, dict.fromkeys(value, text) if isinstance(value, Mapping) else {}, place, "find")
