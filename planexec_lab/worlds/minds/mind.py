"""A mind chooses the next call from the results so far, and expects a result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from planexec_lite.plan import Step
from planexec_lite.tools.references import as_text

EXPECTED = "the result is "
_TRY = re.compile(r"\(try (\d+)\)")  # in the error of a flaky tool


class Seen(NamedTuple):
    """The outcome of one call: the tool, its arguments, the result or the error, and whether it failed."""

    tool: str
    params: Mapping[str, Any]
    result: Any
    failed: bool = False

    @property
    def tries(self) -> str:
        """How often the call was made, as the error of a flaky tool says; "" where it says nothing."""
        count = _TRY.search(str(self.result)) if self.failed else None
        return count[1] if count else ""


class Act(NamedTuple):
    """A call that comes next, and why. `alone`: in a plan it waits for nothing but what it refers to."""

    why: str
    tool: str
    params: Mapping[str, Any] = {}
    alone: bool = False


class Answer(NamedTuple):
    """Nothing comes next: the goal is reached, or can't be."""

    text: str


class Expectation(NamedTuple):
    """An expected result, and the assumed part of it (None if nothing is assumed)."""

    result: Any
    assumed: Any = None


class Later(str):
    """A result that is not there yet: its parts are references, as if it were."""

    __slots__ = ()

    def __getitem__(self, part: Any) -> Later:
        path = f"[{part}]" if isinstance(part, int) else f".{part}"
        return Later(f"{self.removesuffix('}')}{path}}}")


class Mind(Protocol):
    """A model's knowledge about a goal."""

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return the next call after the results `seen`; a result can be `Later`."""

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return the expected result of `act`; `later` is an unknown result."""


def following(mind: Mind, seen: Sequence[Seen]) -> Act | Answer:
    """Return what comes next; a call that failed by chance alone is made again, and says so."""
    act = mind.next([one for one in seen if not one.tries])
    return act if isinstance(act, Answer) else act._replace(why=again(act.why, act.tool, seen))


def again(why: str, tool: str, seen: Sequence[Seen]) -> str:
    """The description of a call of `tool`; after a random failure it mentions the failure, because an unchanged plan is invalid."""
    tries = [one.tries for one in seen if one.tool == tool and one.tries]
    return f"{why.rstrip('.')}, again after try {tries[-1]}." if tries else why


def as_expected(step: Step, result: Any) -> bool | str:
    """A rule for `RuleEvaluator`: whether a result has what its plan took for granted; else the result, as the reason."""
    criterion = step.success_criteria or ""
    if not criterion.startswith(EXPECTED):
        return True
    assumed = json.loads(criterion.removeprefix(EXPECTED))
    if isinstance(assumed, dict):
        met = isinstance(result, Mapping) and all(result.get(name) == value for name, value in assumed.items())
    else:
        met = result == assumed
    return met or as_text(result)
