"""Circuit breaker (lesson 09): a tool that keeps failing is not called for some time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import NonNegativeFloat, PositiveInt
from pydantic.dataclasses import dataclass as pydantic_dataclass

from planexec_lite.core import SETTINGS, Board, Capability, Choice, Part, only_with
from planexec_lite.core.events import StepBlocked, StepDone, StepFailed, StepStarted


@pydantic_dataclass(frozen=True, slots=True, config=SETTINGS)
class Breaker:
    """The settings of the circuit breakers: each tool has a breaker, which opens when calls of the tool keep failing.

    While a breaker is open, each attempt of a step that names its tool fails without a call. This counts as an attempt, and the
    step is retried like any other. Then a single call is tried at a time: a result closes the breaker, a failure opens it again.

    Args:
        failures: the number of failures in a row that opens the breaker. A timeout counts, a final error of the tool does not.
        seconds: how long the breaker stays open after the latest failure, on the run's clock.

    Raises `ValueError` if `failures` is below 1, or `seconds` below 0.
    """

    failures: PositiveInt = 3
    seconds: NonNegativeFloat = 30.0


@dataclass(frozen=True)
class Settings:
    """When a failing tool is left alone for a while. See `Policy`."""

    breaker: Breaker | None = None


class ToolHealth(Part):
    """By tool, the number of failures in a row and the time of the latest one. A result removes the tool."""

    failures: dict[str | None, tuple[int, float]] = {}


def _done(board: Board, event: StepDone) -> None:
    board[ToolHealth].failures.pop(board.steps[event.step].tool, None)


def _failed(board: Board, event: StepFailed) -> None:
    mine, tool = board[ToolHealth], board.steps[event.step].tool
    if tool is not None and not event.final:  # after a final error the tool itself still works
        before, _ = mine.failures.get(tool, (0, 0.0))
        mine.failures[tool] = (before + 1, event.at)


@only_with("breaker")
def block_failing_tool(
    board: Board, policy: Settings, event: StepStarted, _executor: Any
) -> Choice:
    """Guard: an attempt fails without a call while its tool's breaker is open."""
    assert policy.breaker is not None
    tool = board.steps[event.step].tool
    failures, latest = board[ToolHealth].failures.get(tool, (0, 0.0))
    if failures < policy.breaker.failures:
        return event
    open_for = round(latest + policy.breaker.seconds - board.now, 9)
    jobs = board.in_flight.values()
    if open_for > 0:
        why = f"its breaker is open for {open_for:g} s more"
    elif any(isinstance(job, StepStarted) and board.steps[job.step].tool == tool for job in jobs):
        why = "another call is testing it"
    else:
        return event
    error = f"not called: {tool} failed {failures} times in a row, and {why}"
    return StepBlocked(event.at, event.step, error, event.attempt, event.attempts)


CAPABILITY = Capability(ToolHealth, folds={StepDone: _done, StepFailed: _failed})
