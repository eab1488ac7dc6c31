"""News (lesson 06): a person or a program tells a run something while it goes on, and the planner plans the rest again."""

from __future__ import annotations

from typing import Protocol

from planexec_lite.board import Board
from planexec_lite.core import HOLD, Signal, when_idle
from planexec_lite.events import Ended, Event


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def max_replans(self) -> int: ...


def hold_streamed_steps(board: Board, policy: object) -> Event | Signal | None:
    """If news arrives while the planner is writing, no more of its streamed steps start."""
    return HOLD if board.planning and board.proposals.unread_news else None


def stop_after_replans(board: Board, policy: Settings) -> Event | Signal | None:
    """Stop the run if news needs a new plan, and there have already been `max_replans`."""
    replans = board.proposals.replans
    if not (board.proposals.unread_news and board.has_planner and replans >= policy.max_replans):
        return None
    reason = f"news came, and the rest was planned again {replans} times already (max_replans)"
    return when_idle(board, Ended(board.now, "stopped", reason))
