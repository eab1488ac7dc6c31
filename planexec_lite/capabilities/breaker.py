"""Circuit breaker (lesson 09): a tool that keeps failing is not called for some time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from planexec_lite.core import Board, Capability, Choice, Part, only_if
from planexec_lite.core import events as e


@dataclass(frozen=True, slots=True)
class Breaker:
    """The settings of the circuit breakers: each tool has a breaker, which opens when calls of the tool keep failing.

    While a breaker is open, each attempt of a step that names its tool fails without a call. This counts as an attempt, and the
    step is retried like any other. Then a single call is tried at a time: a result closes the breaker, a failure opens it again.

    Args:
        failures: the number of failures in a row that opens the breaker. A timeout counts, a final error of the tool does not.
        seconds: how long the breaker stays open after the latest failure, on the run's clock.

    Raises `ValueError` if `failures` is below 1, or `seconds` below 0.
    """

    failures: int = 3
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if type(self.failures) is not int or self.failures < 1:
            raise ValueError(f"failures={self.failures!r}: at least one failure opens a breaker")
        if not 0 <= self.seconds < math.inf:
            raise ValueError(
                f"seconds={self.seconds}: a breaker stays open for zero seconds or more"
            )


@dataclass(frozen=True)
class Settings:
    """When a failing tool is left alone for a while. See `Policy`."""

    breaker: Breaker | None = None


@dataclass
class ToolHealth(Part):
    """By tool, the number of failures in a row and the time of the latest failure. A result removes the tool."""

    failures: dict[str, int] = field(default_factory=dict)
    last_failure: dict[str, float] = field(default_factory=dict)


def _done(board: Board, event: e.StepDone) -> None:
    mine, tool = board[ToolHealth], board.steps[event.step].tool
    if mine.failures and tool in mine.failures:
        del mine.failures[tool], mine.last_failure[tool]


def _failed(board: Board, event: e.StepFailed) -> None:
    mine, tool = board[ToolHealth], board.steps[event.step].tool
    if tool is not None and not event.final:  # after a final error the tool itself still works
        mine.failures[tool] = mine.failures.get(tool, 0) + 1
        mine.last_failure[tool] = event.at


@only_if(lambda policy, _started: policy.breaker is not None)
def block_failing_tool(
    board: Board, policy: Settings, event: e.StepStarted, _executor: Any
) -> Choice:
    """Guard: an attempt fails without a call while its tool's breaker is open."""
    assert policy.breaker is not None
    error = _why_open(board, policy.breaker, event.step)
    return (
        event
        if error is None
        else e.StepBlocked(event.at, event.step, error, event.attempt, event.attempts)
    )


def _why_open(board: Board, breaker: Breaker, step_id: str) -> str | None:
    tool, mine = board.steps[step_id].tool, board[ToolHealth]
    if tool is None or (failures := mine.failures.get(tool, 0)) < breaker.failures:
        return None
    open_for = round(mine.last_failure[tool] + breaker.seconds - board.now, 9)
    if open_for > 0:
        return f"not called: {tool} failed {failures} times in a row, and its breaker is open for {open_for:g} s more"
    running = (
        board.steps[job.step] for job in board.in_flight.values() if isinstance(job, e.StepStarted)
    )
    if any(step.tool == tool for step in running):
        return (
            f"not called: {tool} failed {failures} times in a row, and another call is testing it"
        )
    return None


CAPABILITY = Capability(ToolHealth, folds={e.StepDone: _done, e.StepFailed: _failed})
