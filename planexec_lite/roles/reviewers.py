"""Reviewers decide about plans. A run never waits for a person: it pauses, and a decision resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from planexec_lite.assembly import Board
from planexec_lite.core.events import Approval
from planexec_lite.decisions import Decision
from planexec_lite.plan import Plan
from planexec_lite.tools import Toolbox


class Reviewer(Protocol):
    """Answers the question of a paused run (see ``board.paused``). None leaves the run paused, for a person."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision about `plan`, or None to leave the run paused."""


class AskPerson:
    """Leaves every decision to a person: the run pauses, and `PlannerExecutor.resume` continues it with their decision."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> None:
        """Leave the run paused."""


class ApproveAll:
    """Approves every plan and opens every gate. It decides nothing about a step in doubt or a budget: a person must."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Approve a plan, a gate or an undo."""
        asked = board.paused and (board.paused.inside or board.paused.reason)
        return None if asked in ("doubt", "budget") else Decision("approve", by="ApproveAll")


class ScriptedReviewer:
    """Returns the decisions of a list, one per review; after the last one, the run stays paused.

    Args:
        decisions: each is a `Decision`, or short, "approve" or "reject".
    """

    def __init__(self, decisions: Sequence[Decision | Approval]) -> None:
        self.decisions = [one if isinstance(one, Decision) else Decision(one, by="script") for one in decisions]

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the next decision; the board counts the reviews so far."""
        return self.decisions[len(board.reviews)] if len(board.reviews) < len(self.decisions) else None
