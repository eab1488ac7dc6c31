"""Reviewers: who approves a plan. A run never waits for one: it pauses, and a decision resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, get_args

from planexec_lite.board import Board
from planexec_lite.events import Approval, Grant
from planexec_lite.plan import Plan
from planexec_lite.plan.data import as_words
from planexec_lite.tools import Toolbox


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer says about a plan, or about a gate.

    Args:
        verdict: "approve", "reject", or "change", which asks the planner for another plan.
        by: who says so.
        comment: the reason of a rejection, or what the planner is to change.
        plan: with "approve", the plan as the reviewer edited it; it is checked again, and the approval is of its hash.
        grant: with "approve", the bounds within which later plans need no approval of their own.
        of: the hash of the plan that was looked at; a run that waits with another plan does not take the decision. "": whatever
            the run waits with. A yes to a plan opens no gate.
        gate: the step before whose gate it is decided, or "undo 3" for that of the undo of step 3; None: it is about the plan,
            or, without `of`, about whatever is asked.

    Raises `ValueError` for an unknown verdict, for words that can't be written down, and for an edited plan or a grant without
    an approval.
    """

    verdict: Approval
    by: str = "reviewer"
    comment: str = ""
    plan: Plan | None = None
    grant: Grant | None = None
    of: str = ""
    gate: str | None = None

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Approval):
            raise ValueError(f"verdict={self.verdict!r}: a reviewer says 'approve', 'reject' or 'change'")
        if not isinstance(self.plan, Plan | None) or not isinstance(self.grant, Grant | None):
            raise ValueError("plan is a Plan or None, and grant a Grant or None; Plan.parse reads a plan")
        if self.verdict != "approve" and (self.plan is not None or self.grant is not None):
            raise ValueError(f"verdict={self.verdict!r}: an edited plan and a grant go with 'approve'")
        as_words(self.by, "by")
        as_words(self.comment, "comment")


class Reviewer(Protocol):
    """Decides about a plan, or about a gate (see ``board.paused``). None leaves the run paused, for a person."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision about `plan`, or None to leave the run paused."""


class AskPerson:
    """Leaves every decision to a person: the run pauses, and `PlannerExecutor.resume` goes on with what they decide."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> None:
        """Leave the run paused."""


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
