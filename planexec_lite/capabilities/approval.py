"""Approval (lesson 07): if a run has a reviewer, no step starts before the reviewer has approved this plan. A gate asks again."""

from __future__ import annotations

from typing import Protocol

from planexec_lite.board import Board
from planexec_lite.core import WAIT, Signal, when_idle
from planexec_lite.events import Ended, Event, Paused, StepStarted


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def max_changes(self) -> int: ...


def stop_if_rejected(board: Board, policy: object) -> Event | Signal | None:
    """Stop the run if the reviewer rejected the plan."""
    review = board.approvals.rejected
    if review is None:
        return None
    reason = f"{review.by} rejected the plan" + (f": {review.comment}" if review.comment else "")
    return when_idle(board, Ended(board.now, "stopped", reason))


def stop_after_changes(board: Board, policy: Settings) -> Event | Signal | None:
    """Stop the run if the reviewer asked for a changed plan more than `max_changes` times."""
    if board.approvals.changes_asked <= policy.max_changes:
        return None
    reason = f"the reviewer asked for a change more than {policy.max_changes} times (max_changes)"
    return when_idle(board, Ended(board.now, "stopped", reason))


def ask_for_approval(board: Board, policy: object) -> Event | Signal | None:
    """Pause until the reviewer has decided about the plan."""
    return Paused(board.now, "approval") if board.needs_approval and not board.planning else None


def ask_at_gate(board: Board, policy: object, event: Event) -> Event | Signal:
    """Guard: pause before a step that needs a person's yes. Running steps finish first, so the board does not change meanwhile."""
    if isinstance(event, StepStarted) and board.why_asked(event.step) is not None:
        return when_idle(board, Paused(board.now, "gate", event.step), WAIT)
    return event
