"""Decisions: what a reviewer says about a plan or a gate, checked before it counts."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.events import Reviewed
from planexec_lite.loop.jobs import without_done
from planexec_lite.loop.nested import hashes_of, waiting_inside
from planexec_lite.loop.run import Run
from planexec_lite.plan import Plan, PlanError
from planexec_lite.review.reviewers import Decision
from planexec_lite.tools import Toolbox


def reviewed(run: Run, decision: Decision, tools: Toolbox, has_planner: bool) -> Reviewed:
    """Return the event that `decision` makes of the plan or the gate that `run` waits with.

    Raises `ValueError` where it does not fit what waits, `TypeError` where it is no `Decision`, and `PlanError` if the
    plan that the reviewer edited is invalid.
    """
    board = run.board
    if board.paused is None:
        raise ValueError(f"this run does not wait for a decision: it is {run.status}")
    if not isinstance(decision, Decision):
        raise TypeError(f"a reviewer gives a Decision or None, not a {type(decision).__name__}")
    stands = board.proposal or board.plan  # of a planner that broke off, what had arrived stands
    if board.paused.reason != "undo" and board.has_reviewer and stands.hash != board.proposals.latest_hash:
        raise ValueError('the plan was changed in place; give what you edited: Decision("approve", plan=…)')
    inside = waiting_inside(run)
    if decision.of and decision.of not in hashes_of(inside or run):
        raise ValueError("the decision is about another plan than the one that waits; review that one")
    if decision.gate is not None and decision.gate != board.paused.gate:
        raise ValueError(f"the decision is about the gate of step {decision.gate}, and this run {run.reason}")
    if board.paused.reason == "undo" and (decision.verdict == "change" or decision.plan or decision.grant):
        raise ValueError(
            "what was done is taken back, and nothing is planned any more; approve this call, or reject it"
        )
    if inside and decision.plan is not None:
        raise ValueError(
            "the plan of the run inside can't be edited from here; say yes or no to it, or ask for a change"
        )
    if (
        decision.of
        and decision.gate is None
        and decision.verdict == "approve"
        and board.paused.reason != "approval"
        and not inside
    ):
        raise ValueError('a yes to the plan opens no gate; look at the board and say Decision("approve", by=…)')
    if decision.verdict == "change" and not has_planner:
        raise ValueError("there is no planner to change the plan; approve it, reject it, or edit it yourself")
    plan = _edited(decision.plan, board, tools) if decision.plan is not None else None
    hash, gate = (plan or stands).hash, board.paused.gate
    return Reviewed(board.now, decision.verdict, hash, decision.by, decision.comment, gate, plan, decision.grant)


def _edited(plan: Plan, board: Board, tools: Toolbox) -> Plan | None:
    """What the reviewer made of the plan, checked, without the steps that are done; None if it is still the same."""
    plan = without_done(Plan.received(plan, "the reviewer"), board)
    if problems := plan.problems(tools, done=board.results.keys()):
        raise PlanError(problems, plan.to_json())
    return plan if plan != board.proposal else None
