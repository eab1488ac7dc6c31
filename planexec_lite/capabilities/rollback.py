"""Rollback (lesson 09): completed steps are undone, the latest first."""

from __future__ import annotations

from typing import Literal, Protocol

from planexec_lite.board import Board
from planexec_lite.core import WAIT, Signal
from planexec_lite.events import Ended, Event, Paused, RollbackBegun, UndoStarted


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def rollback(self) -> Literal["never", "failed", "unfinished"]: ...


def undo_next(board: Board, policy: object) -> Event | Signal | None:
    """Once a rollback has begun, run its calls one at a time. A failed undo does not stop the rollback."""
    rollback = board.rollback
    if rollback.begun is None:
        return None
    if board.in_flight:
        return WAIT
    if not rollback.left:
        return Ended(board.now, "rolled back", _summary(board))
    undo = rollback.left[-1]
    return Paused(board.now, "undo", undo.label) if rollback.asks else UndoStarted(board.now, undo.label, undo.call)


def roll_back_first(board: Board, policy: Settings, event: Event) -> Event | Signal:
    """Guard: a run that ends without success first undoes what it did, if the policy wants that."""
    if not isinstance(event, Ended) or board.rollback.begun or not board.rollback.has_anything():
        return event
    wanted = event.status == "failed" or policy.rollback == "unfinished"
    if event.status == "finished" or policy.rollback == "never" or not wanted:
        return event
    return RollbackBegun(board.now, event.reason)


def _summary(board: Board) -> str:
    rollback = board.rollback
    by_reason: dict[str, list[str]] = {}
    for label, why in rollback.remains:
        by_reason.setdefault(why, []).append(label)
    words = [rollback.begun.reason] if rollback.begun else []
    words += [f"undone: {', '.join(rollback.undone_steps)}"] if rollback.undone_steps else []
    words += [f"called: {', '.join(rollback.called)}"] if rollback.called else []
    words += ["nothing was undone"] if not rollback.undone else []
    words += [f"not undone: {', '.join(labels)} ({why})" for why, labels in by_reason.items()]
    return "; ".join(words)
