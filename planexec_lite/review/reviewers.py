"""Reviewers: who approves a plan. A run never waits for one: it pauses, and a decision resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from planexec_lite.board import Board
from planexec_lite.budget import Budget
from planexec_lite.events import Approval, Grant
from planexec_lite.plan import Plan
from planexec_lite.plan.data import as_words
from planexec_lite.tools import Toolbox

Answer = Literal[Approval, "done", "not done", "roll back"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer says about a plan, a gate, a step in doubt, or a budget that is used up.

    Args:
        verdict: "approve", "reject", or "change", which asks the planner for another plan. About a step in doubt: it was "done",
            or "not done" and is to be carried out, or what was done is to be taken back, "roll back". About a budget: "approve",
            with more of it; "reject", which stops the run; or "roll back".
        by: who says so.
        comment: the reason of a rejection, or what the planner is to change.
        plan: with "approve", the plan as the reviewer edited it; it is checked again, and the approval is of its hash.
        grant: with "approve", the bounds within which later plans need no approval of their own.
        of: the hash of the plan that was looked at; a run that waits with another plan does not take the decision. "": whatever
            the run waits with. A yes to a plan opens no gate.
        gate: what is decided about: the step behind a gate; "undo 3", for the undo of step 3; "doubt 3"; "budget". None: it is
            about the plan, or, without `of`, about whatever is asked.
        result: with "done", what the step gave.
        budget: with "approve", how much may be used beyond the budget, as so much more of each.

    Raises `ValueError` for an unknown verdict, for words that can't be written down, for an edited plan, a grant or a budget
    without an approval, and for a result without "done".
    """

    verdict: Answer
    by: str = "reviewer"
    comment: str = ""
    plan: Plan | None = None
    grant: Grant | None = None
    of: str = ""
    gate: str | None = None
    result: Any = None
    budget: Budget | None = None

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Answer):
            raise ValueError(
                f"verdict={self.verdict!r}: a reviewer says 'approve', 'reject' or 'change'; of a step in doubt 'done', 'not done' "
                "or 'roll back'"
            )
        if not isinstance(self.plan, Plan | None) or not isinstance(self.grant, Grant | None):
            raise ValueError("plan is a Plan or None, and grant a Grant or None; Plan.parse reads a plan")
        if not isinstance(self.budget, Budget | None):
            raise ValueError("budget is a Budget or None: Budget(tokens=2_000) grants 2,000 tokens more")
        with_approval = (self.plan, self.grant, self.budget)
        if self.verdict != "approve" and any(one is not None for one in with_approval):
            raise ValueError(f"verdict={self.verdict!r}: an edited plan, a grant and a budget go with 'approve'")
        if self.verdict != "done" and self.result is not None:
            raise ValueError(f"verdict={self.verdict!r}: a result goes with 'done'")
        as_words(self.by, "by")
        as_words(self.comment, "comment")


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
        return None if board.asked in ("doubt", "budget") else Decision("approve", by="ApproveAll")


class ScriptedReviewer:
    """Gives the decisions of a list, one a review, as a person would; when they are used up, the run stays paused.

    Args:
        decisions: each a `Decision`, or "approve" or "reject" in short.
    """

    def __init__(self, decisions: Sequence[Decision | Approval]) -> None:
        self.decisions = [one if isinstance(one, Decision) else Decision(one, by="script") for one in decisions]

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision whose turn it is: how many were made so far stands on the board."""
        return self.decisions[board.answers] if board.answers < len(self.decisions) else None
