"""Coding tasks inside the lessons: `attempt(function, cases)` calls the learner's function and prints the first difference.

A stub returns None, so the cell prints "not yet: …" until the function is written. The first cases are in the cell, where
the learner can read them, and `tasks.yaml` has more, by the name that the cell uses: the learner's function can be a lambda, or
have another name of its own. `exercises/authors/reveals` has one right answer for each task.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from reprlib import Repr
from textwrap import fill, shorten
from typing import Any

import yaml

from exercises.checker.data import Loader
from exercises.checker.exercise import cut, shown

COLUMNS = 92
LONGEST = 60  # characters of the arguments


class _Short(Repr):
    def repr_instance(self, x: Any, _level: int) -> str:
        """A long object is its class: the middle of its fields tells a reader nothing."""
        text = repr(x)
        return text if len(text) <= self.maxother else f"{type(x).__name__}(…)"


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 8


def attempt(function: Callable[..., Any], cases: Sequence[tuple[Any, ...]]) -> None:
    """Print "right" if `function` gives the expected result in all cases; else print the first case that differs.

    Args:
        function: the learner's function. Each call gets its own copy of the arguments.
        cases: tuples of the arguments followed by the expected result.
    """
    cell = inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    name = next((task for task in _more() if cell.get(task) is function), _name(function) or "your function")
    further = _more().get(name, ())
    for number, (*arguments, expected) in enumerate([*cases, *further]):
        given = ", ".join(_name(argument) or _SHORT.repr(argument) for argument in arguments)
        call = f"{name}({shorten(given, LONGEST, placeholder='…')})"
        if number >= len(cases):  # the learner can't read this case in the cell
            call = cut(f"{name}({', '.join(map(shown, arguments))})", 400)
        try:
            result = function(*deepcopy(arguments))
        except Exception as problem:
            _say(f"not yet: {call} raised {type(problem).__name__}: {problem}")
            return
        if type(result) is not type(expected) or result != expected:
            _say(f"not yet: {call} returned {_SHORT.repr(result)}; expected {_SHORT.repr(expected)}")
            return
    total = len(cases) + len(further)
    _say(f"right: {total} of {total} cases")


@cache
def _more() -> dict[str, list[list[Any]]]:
    """The further cases of the tasks, by the name of the function."""
    found: dict[str, list[list[Any]]] = yaml.load(Path(__file__).with_name("tasks.yaml").read_text("utf-8"), Loader)
    return found


def _name(value: Any) -> str:
    """The name of a function or class; "" for other values. A function's repr would show its address."""
    return str(getattr(value, "__name__", ""))


def _say(text: str) -> None:
    print(fill(text, COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False))
