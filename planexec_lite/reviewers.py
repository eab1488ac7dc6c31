"""Reviewers: who approves a plan. A run never waits for one: it pauses, and a decision resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, get_args

from planexec_lite.board import Board
from planexec_lite.events import Approval
from planexec_lite.plan import Plan
from planexec_lite.tools import Toolbox


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer says: "approve", "reject", or "change" with a `comment` for the planner; `by` says who."""

    verdict: Approval
    by: str = "reviewer"
    comment: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Approval):
            raise ValueError(f"verdict={self.verdict!r}: a reviewer says 'approve', 'reject' or 'change'")


class Reviewer(Protocol):
    """Decides about a plan, or about a gate (see ``board.paused``). None leaves the run paused, for a person."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision about `plan`, or None to leave the run paused."""


class ApproveAll:
    """Approves every plan and opens every gate."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Approve."""
        return Decision("approve", by="ApproveAll")


class ScriptedReviewer:
    """Gives the decisions of a list, one a review, as a person would; when they are used up, the run stays paused.

    Args:
        decisions: each a `Decision`, or "approve" or "reject" in short.
    """

    def __init__(self, decisions: Sequence[Decision | Approval]) -> None:
        self.decisions = [one if isinstance(one, Decision) else Decision(one, by="script") for one in decisions]

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision whose turn it is: the number of reviews on the board says which."""
        return self.decisions[len(board.reviews)] if len(board.reviews) < len(self.decisions) else None
