"""Circuit breaker (lesson 09): a tool that keeps failing is not called for a while."""

from __future__ import annotations

from typing import Protocol

from planexec_lite.board import Board
from planexec_lite.core import Signal
from planexec_lite.events import Event, StepBlocked, StepStarted
from planexec_lite.policy import Breaker


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def breaker(self) -> Breaker | None: ...


def block_failing_tool(board: Board, policy: Settings, event: Event) -> Event | Signal:
    """Guard: an attempt fails without a call while its tool's breaker is open."""
    if policy.breaker is None or not isinstance(event, StepStarted):
        return event
    error = _why_open(board, policy.breaker, event.step)
    return event if error is None else StepBlocked(event.at, event.step, error, event.attempt, event.attempts)


def _why_open(board: Board, breaker: Breaker, id: str) -> str | None:
    tool = board.steps[id].tool
    if tool is None or (failures := board.health.failures.get(tool, 0)) < breaker.failures:
        return None
    open_for = round(board.health.last_failure[tool] + breaker.seconds - board.now, 9)
    if open_for > 0:
        return f"not called: {tool} failed {failures} times in a row, and its breaker is open for {open_for:g} s more"
    running = (board.steps[other] for other in board.in_flight if other is not None and board.state[other] == "running")
    if any(step.tool == tool for step in running):
        return f"not called: {tool} failed {failures} times in a row, and one call is trying it"
    return None
