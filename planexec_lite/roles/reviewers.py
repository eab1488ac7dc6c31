"""Reviewers answer the questions of runs. A run never waits for a person: it pauses, and a decision resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from planexec_lite.assembly import Board
from planexec_lite.core.questions import Decision, Question
from planexec_lite.tools import Toolbox


class Reviewer(Protocol):
    """Answers the questions of a run. None leaves the run paused, for a person."""

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision | None:
        """Return the decision about `question`, or None to leave the run paused."""


class AskPerson:
    """Leaves every decision to a person: the run pauses, and `PlannerExecutor.resume` continues it with their decision."""

    def review(self, question: Question, board: Board, tools: Toolbox) -> None:
        """Leave the run paused."""


class ApproveAll:
    """Approves every plan, call and undo. It decides nothing about a step in doubt or a budget: a person must."""

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision | None:
        """Approve what needs only a yes."""
        del board, tools  # the question says what it needs
        if question.amounts or "done" in question.verdicts:
            return None
        return question.decide("approve", by="ApproveAll")


class ScriptedReviewer:
    """Returns the decisions of a list, one per review; after the last one, the run stays paused.

    Args:
        decisions: each is a `Decision`, or short, "approve" or "reject".
    """

    def __init__(self, decisions: Sequence[Decision | Literal["approve", "reject"]]) -> None:
        self.decisions = [
            given if isinstance(given, Decision) else Decision(given, by="script")
            for given in decisions
        ]

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision | None:
        """Return the next decision; the board counts the reviews so far."""
        del question, tools  # the list answers, whatever is asked
        reviews = len(board.reviews)
        return self.decisions[reviews] if reviews < len(self.decisions) else None
