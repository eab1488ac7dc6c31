"""Reviewers: who approves a plan. A run never waits for one: it pauses, and a decision resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from planexec_lite.assembly import Board
from planexec_lite.core.events import Approval
from planexec_lite.decisions import Decision
from planexec_lite.plan import Plan
from planexec_lite.tools import Toolbox


class Reviewer(Protocol):
    """Decides about what a run waits for (see ``board.paused``). None leaves the run paused, for a person."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision about `plan`, or None to leave the run paused."""


class AskPerson:
    """Leaves every decision to a person: the run pauses, and `PlannerExecutor.resume` goes on with what they decide."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> None:
        """Leave the run paused."""


class ApproveAll:
    """Approves every plan and opens every gate. What became of a step in doubt it can't know, and a budget is for a person."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Approve, where that is an answer."""
        asked = board.paused and (board.paused.inside or board.paused.reason)
        return None if asked in ("doubt", "budget") else Decision("approve", by="ApproveAll")


class ScriptedReviewer:
    """Gives the decisions of a list, one a review, as a person would; when they are used up, the run stays paused.

    Args:
        decisions: each a `Decision`, or "approve" or "reject" in short.
    """

    def __init__(self, decisions: Sequence[Decision | Approval]) -> None:
        self.decisions = [one if isinstance(one, Decision) else Decision(one, by="script") for one in decisions]

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision whose turn it is: how many were made so far stands on the board."""
        return self.decisions[len(board.reviews)] if len(board.reviews) < len(self.decisions) else None
