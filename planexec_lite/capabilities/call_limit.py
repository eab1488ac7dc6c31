"""Call limit (lesson 09): a run calls a tool at most a given number of times, even if its plans ask for more calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planexec_lite.core import Board, Capability, Choice, Part, only_if
from planexec_lite.core import events as e


@dataclass(frozen=True)
class Settings:
    """The settings of this capability."""

    max_calls: Mapping[str, int] = field(default_factory=dict, hash=False)


def check(policy: Settings) -> None:
    """Raise `ValueError` for settings that make no sense."""
    for tool, most in policy.max_calls.items():
        if type(most) is not int or most < 0:
            raise ValueError(f"max_calls={{{tool!r}: {most!r}}}: a whole number, zero or more")


@dataclass
class Calls(Part):
    """By tool, how many attempts of steps that name it were started."""

    by_tool: Counter[str] = field(default_factory=Counter)


def _started(board: Board, event: e.StepStarted) -> None:
    if (tool := board.steps[event.step].tool) is not None:
        board[Calls].by_tool[tool] += 1


def _not_made(board: Board, event: e.Requeued | e.StepPaused) -> None:
    """The step starts again later, so this attempt does not count."""
    id = event.step or ""
    cancelled = isinstance(event, e.StepPaused) or event.reason == "cancelled"
    if cancelled and board.state.get(id) in ("waiting", "failed") and (tool := board.steps[id].tool) is not None:
        board[Calls].by_tool[tool] -= 1


@only_if(lambda policy, started: bool(policy.max_calls))
def limit_calls(board: Board, policy: Settings, event: e.StepStarted, executor: Any) -> Choice:
    """Guard: a step whose tool was called `max_calls` times fails without a call."""
    tool = board.steps[event.step].tool or ""
    most = policy.max_calls.get(tool)
    if most is None or board[Calls].by_tool[tool] < most:
        return event
    error = f"not called: {tool} was called {most} times in this run (max_calls)"
    return e.StepBlocked(event.at, event.step, error, event.attempt, event.attempts, final=True)


CAPABILITY = Capability(
    Calls,
    folds={e.StepStarted: _started, e.Requeued: _not_made, e.StepPaused: _not_made},
    check_settings=check,
)
