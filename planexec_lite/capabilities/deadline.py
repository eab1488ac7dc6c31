"""Deadlines (lesson 09): when the run's time is over, no new step starts, and the run stops."""

from __future__ import annotations

import math
from typing import Protocol

from planexec_lite.board import Board
from planexec_lite.core import Signal, when_idle
from planexec_lite.events import Ended, Event


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def deadline(self) -> float | None: ...


def time_left(policy: Settings, now: float) -> float:
    """Return the seconds from `now`, on the run's clock, to the deadline; infinite if there is none."""
    return math.inf if policy.deadline is None else round(policy.deadline - now, 9)


def until_deadline(policy: Settings, now: float, seconds: float) -> float:
    """Return `seconds`, or the seconds from `now` until the deadline if those are fewer."""
    return min(seconds, max(0.0, time_left(policy, now)))


def stop_at_deadline(board: Board, policy: Settings) -> Event | Signal | None:
    """Stop the run when its time is over, unless nothing is left to plan or to do."""
    if policy.deadline is None or time_left(policy, board.now) > 0 or not _has_more(board):
        return None
    return when_idle(board, Ended(board.now, "stopped", f"the deadline of {policy.deadline:g} s has passed"))


def _has_more(board: Board) -> bool:
    return board.proposal is None or bool(board.problems) or board.table.has_more or not board.proposal.complete
