"""Defines an exercise: a function that tries the learner's answer, two hints, and one sentence to remember.

The function's first parameter is the `Trial`; its other parameters are the names that the learner defines. Its docstring says what
is wanted. See `exercises/README.md` for how one is written.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from random import Random
from types import MappingProxyType
from typing import Any, NoReturn

from pydantic import BaseModel

from exercises.checker.data import data
from exercises.checker.guard import Stop

LONGEST = 240
STOPPED = "none yet: the check stopped your answer at this point"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_OBJECT = re.compile(r"<(?:[\w<>]+\.)*(\w+) object(?: [\w.<>]+)?(?: at 0x[0-9a-fA-F]+)?>")


class Wrong(Stop):
    """The answer breaks a rule."""

    def __init__(self, wanted: str, rule: str) -> None:
        super().__init__(wanted, rule)
        self.wanted, self.rule = wanted, rule


class Raised(Stop):
    """The learner's code raised `error` while the trial called it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class Unknown(LookupError):
    """Raised for an unknown exercise; the message is for the learner."""


@dataclass
class Trial:
    """One trial of an answer, which records the last call and its result for the message.

    Args:
        draw: False leaves the pictures out.
        anew: returns the answers as another process defines them, from the same cell.
        scenario: what happened before the call, a row of the message.
        wanted: what the message expects if the call raises; by default, the exercise's docstring.
        told: how the message shows the next call, if not with all its arguments.
        last: the last call that returned: function, arguments, named arguments, and the shown result.
    """

    draw: bool = True
    anew: Callable[[], list[Any]] | None = None
    head: str = "called"
    called: str = "nothing yet"
    came: str = "nothing"
    scenario: str = ""
    wanted: str = ""
    told: str = ""
    last: tuple[Any, tuple[Any, ...], dict[str, Any], str] | None = None
    figures: list[Callable[[], Any]] = field(default_factory=list)

    def call(self, function: Any, *args: Any, **named: Any) -> Any:
        """Call the learner's function with copies of the arguments, check that it leaves them unchanged, and return its result."""
        given = [*map(shown, args), *(f"{name}={shown(value)}" for name, value in named.items())]
        called = self.told or cut(f"{shown(function)}({', '.join(given)})")
        self.head, self.called, self.came, self.told = "called", called, "nothing", ""
        self.want(callable(function), "a function", "The cell must define a function with this name.")
        before = [_state(value) for value in (*args, *named.values())]
        originals = args, named
        args, named = copied(args), copied(named)
        try:
            value = function(*args, **named)
        except Wrong:
            self.came = STOPPED
            raise
        except Stop:
            raise
        except BaseException as error:
            raise Raised(error) from error
        if inspect.iscoroutine(value):
            value.close()  # it is never awaited
        self.came = cut(shown(value))
        self.last = function, *originals, shown(value)
        for (name, now), old in zip([*enumerate(args), *named.items()], before, strict=True):
            if _state(now) != old:
                parameter = _parameter(function, name)
                self.came = f"`{parameter}` {_difference(old, now)}"
                rule = "Don't change the arguments: the caller might still use them."
                self.wrong(f"`{parameter}` as it was before the call", rule)
        return value

    def lets_through(self, error: Exception, function: Any, *args: Any) -> None:
        """Check that the learner's function raises this error, which a function that it calls has raised."""
        try:
            self.call(function, *args)
        except Raised as raised:
            if raised.error is error:
                return
            self.came = cut(f"{type(raised.error).__name__}: {raised.error}")
        rule = "Let the errors of the functions that you call pass unchanged; don't swallow them."
        self.wrong(f"the {type(error).__name__} that the called function raises", rule)

    def given(self, name: str, value: Any) -> Any:
        """Record a value that the learner wrote, instead of a call, and return it."""
        self.head, self.called, self.came = "you wrote", cut(f"{name} = {shown(value)}"), ""
        return value

    def want(self, holds: Any, wanted: str, rule: str, came: str = "") -> None:
        """End the trial as wrong unless `holds`.

        Args:
            holds: whether the answer is right.
            wanted: the expected result, without any value of the learner; for a prediction, without the right value.
            rule: the sentence of the task that the answer breaks.
            came: the result, if another text than the last call's result shows it better.
        """
        if not holds:
            self.wrong(wanted, rule, came)

    def wrong(self, wanted: str, rule: str, came: str = "") -> NoReturn:
        """End the trial as wrong."""
        self.came = cut(came) or self.came
        raise Wrong(wanted, rule)

    def show(self, view: Callable[..., Any], *args: Any, **named: Any) -> None:
        """Draw the learner's plan or run, `trial.show(views.graph, plan)`; drawing does not count towards the time limit."""
        if self.draw:
            self.figures.append(partial(view, *copied(args), **copied(named)))


@dataclass(frozen=True)
class Exercise:
    """An exercise as data; `names` are the names that the learner defines, in the order of the parameters of `judge`."""

    id: str
    judge: Callable[..., None]
    hints: tuple[str, ...]
    learned: str
    seconds: float

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the learner defines."""
        return tuple(inspect.signature(self.judge).parameters)[1:]

    @property
    def wanted(self) -> str:
        """The expected answer, in a sentence."""
        return inspect.getdoc(self.judge) or ""


def exercise(id: str) -> Callable[[Callable[..., None]], Exercise]:
    """Make an exercise of the decorated function; its hints and its limit are in the YAML file of the lesson.

    Each exercise has there a `nudge`, the first hint, at most 50 words: where to look; a `question`, the second hint, at most 50
    words, whose answer is the next move and never the answer itself; `learned`, a sentence shown when the answer is right;
    and perhaps `seconds`, the limit of CPU time for each check, at least ten times the usual time. Waiting has a separate limit.
    """
    text = data(id)
    hints, seconds = (text["nudge"], text["question"]), text.get("seconds", 3.0)
    return lambda judge: Exercise(id, judge, hints, text["learned"], seconds)


def find(id: str) -> Exercise:
    """Return the exercise with this id. Raises `Unknown` for an unknown id."""
    lesson = id.partition(".")[0] if isinstance(id, str) else ""
    known = of_lesson(lesson)
    if not isinstance(id, str) or id not in known:
        have = f"Lesson {lesson} has {', '.join(known)}." if known else 'Write an id as in the heading, such as "01.2".'
        raise Unknown(f"There is no exercise {id!r}. {have}")
    return known[id]


def of_lesson(lesson: str) -> MappingProxyType[str, Exercise]:
    """Return the exercises of a lesson by id, in order."""
    name = f"exercises.checker.checks.lesson_{lesson}"
    if not re.fullmatch(r"\w+", lesson) or importlib.util.find_spec(name) is None:
        return MappingProxyType({})
    loaded = [one for one in vars(importlib.import_module(name)).values() if isinstance(one, Exercise)]
    return MappingProxyType({one.id: one for one in sorted(loaded, key=lambda one: one.id)})


def copied(value: Any) -> Any:
    """Return a deep copy of plain data; other objects are not copied, so that a spy stays the same spy."""
    if type(value) in (list, tuple, set):
        return type(value)(map(copied, value))
    return {key: copied(one) for key, one in value.items()} if type(value) is dict else value


def raising(error: Exception) -> Callable[..., NoReturn]:
    """Return a function that raises this error."""

    def fails(*_: Any, **__: Any) -> NoReturn:
        raise error

    return fails


def unforeseen(function: Any, count: int) -> list[str]:
    """Return strings that the author of the function can't know: random numbers seeded with the function's source.

    They are the same on every run; an answer with hard-coded strings has another source and gets other strings. The grader
    sets `PLANEXEC_SEED`, so that each student gets other strings too.
    """
    try:
        text = getattr(function, "source", "") or inspect.getsource(function)
    except (OSError, TypeError):  # its source is not available
        constants = getattr(getattr(function, "__code__", None), "co_consts", ())
        text = repr([one for one in constants if not hasattr(one, "co_code")])
    seed = os.environ.get("PLANEXEC_SEED", "") + text
    return [str(number) for number in Random(seed).sample(range(1000, 10000), count)]


def _state(value: Any) -> Any:
    """Return the current content of plain data, plans and boards for a later comparison; other objects are returned unchanged."""
    if isinstance(value, dict):
        return {key: _state(one) for key, one in dict.items(value)}
    if isinstance(value, (list, tuple)):
        return type(value), [_state(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return frozenset(value)
    if isinstance(value, BaseModel):
        return type(value), {name: _state(getattr(value, name)) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), {one.name: _state(getattr(value, one.name)) for one in fields(value)}
    return value


def _difference(before: Any, now: Any) -> str:
    """Describe how an argument differs from its state before the call."""
    old, new = (one[1] if isinstance(one, tuple) and one[:1] == (type(now),) else one for one in (before, _state(now)))
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"has {len(new)} items after the call, not {len(old)}"
        if sorted(map(repr, old)) == sorted(map(repr, new)):
            return "has its items in another order after the call"
    return cut(f"after the call is {shown(now)}")


def _parameter(function: Any, place: int | str) -> str:
    """Return the name of the function's parameter at a position."""
    try:
        return place if isinstance(place, str) else list(inspect.signature(function).parameters)[place]
    except (ValueError, TypeError, IndexError):
        return f"argument {place}"


def shown(value: Any) -> str:
    """Return a reproducible repr: sorted sets, no addresses, functions by their names.

    A plan, a decision or a verdict shows only fields that differ from their defaults.
    """
    if value is ...:
        return "..."
    if isinstance(value, dict) and type(value).__repr__ is dict.__repr__:
        return "{" + ", ".join(f"{shown(key)}: {shown(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(shown, value))) + "}" if value else "set()"
    if type(value) in (list, tuple):
        inner = ", ".join(map(shown, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if inspect.isroutine(value) or isinstance(value, type):
        return str(getattr(value, "__name__", "a function"))
    if type(value).__repr__ in (BaseModel.__repr__, _written_by_dataclass(value)):
        said = ", ".join(f"{name}={shown(one)}" for name, one in _said(value).items())
        return f"{type(value).__name__}({said})"
    return without_addresses(repr(value))


def _written_by_dataclass(value: Any) -> Any:
    """Return the generated `__repr__` of one of the kit's dataclasses, or None for any other class."""
    kind = type(value)
    ours = kind.__module__.startswith(("planexec_lite.", "planexec_lab."))
    return kind.__repr__ if ours and is_dataclass(kind) and kind.__dataclass_params__.repr else None  # type: ignore[attr-defined]


def _said(value: Any) -> dict[str, Any]:
    """Return the fields of a model or a dataclass that differ from their defaults."""
    if isinstance(value, BaseModel):
        model = type(value).model_fields.items()
        defaults = {name: one.get_default(call_default_factory=True) for name, one in model}
    else:
        made = {one.name: one.default_factory() for one in fields(value) if callable(one.default_factory)}
        defaults = {one.name: one.default for one in fields(value)} | made
    return {name: getattr(value, name) for name, default in defaults.items() if getattr(value, name) != default}


def without_addresses(text: str) -> str:
    """Return the text without addresses, which differ from run to run; an object with the default repr becomes `<Kind>`."""
    return _ADDRESS.sub("", _OBJECT.sub(r"<\1>", text))


def cut(text: str, longest: int = LONGEST, tail: int = 50) -> str:
    """Shorten a text to `longest` characters, but keep its last `tail` characters."""
    return text if len(text) <= longest else f"{text[: longest - tail - 10]} … {text[-tail:]}"
