"""Decisions: what is said about a plan, a gate, a step in doubt or a budget, checked before it counts."""

from __future__ import annotations

from typing import Any, cast

from planexec_lite import references
from planexec_lite.board import Board
from planexec_lite.events import (
    Approval,
    BudgetDenied,
    BudgetGranted,
    DoubtResolved,
    Event,
    Paused,
    PauseReason,
    Reviewed,
    RollbackBegun,
    gate_in_words,
)
from planexec_lite.executors import as_data
from planexec_lite.loop.jobs import without_done
from planexec_lite.loop.nested import hashes_of, innermost, waiting_inside
from planexec_lite.loop.run import Run
from planexec_lite.plan import Plan, PlanError
from planexec_lite.review.reviewers import Answer, Decision
from planexec_lite.tools import Toolbox, ToolError

ANSWERS: dict[PauseReason, tuple[Answer, ...]] = {
    "approval": ("approve", "reject", "change"),
    "gate": ("approve", "reject", "change"),
    "undo": ("approve", "reject"),
    "doubt": ("done", "not done", "roll back"),
    "budget": ("approve", "reject", "roll back"),
}
"""What may be said about a run that waits, by what it waits for."""


def answered(run: Run, decision: Decision, tools: Toolbox, has_planner: bool) -> Event:
    """Return the event that `decision` makes of what `run` waits for.

    Raises `ValueError` where it does not fit that, `TypeError` where it is no `Decision`, and `PlanError` if the plan that
    the reviewer edited is invalid.
    """
    board = run.board
    if board.paused is None:
        raise ValueError(f"this run does not wait for a decision: it is {run.status}")
    if not isinstance(decision, Decision):
        raise TypeError(f"a reviewer gives a Decision or None, not a {type(decision).__name__}")
    _check_subject(run, decision)
    _check_verdict(run, decision, has_planner)
    _check_budget(innermost(run), decision)
    if decision.verdict == "roll back":
        return RollbackBegun(board.now, f"{decision.by} asked for it{_because(decision)}")
    waits = innermost(run).board
    if waits.paused is not None and waits.paused.reason == "doubt":
        return _resolved(board, waits, decision)
    if board.paused.reason == "budget":
        return _more(board, decision)
    plan = _edited(decision.plan, board, tools) if decision.plan is not None else None
    hash, verdict = (plan or _stands(board)).hash, cast(Approval, decision.verdict)
    who, about = (decision.by, decision.comment), board.paused.gate
    return Reviewed(board.now, verdict, hash, *who, about, plan, decision.grant, decision.budget)


def _check_subject(run: Run, decision: Decision) -> None:
    """Raise `ValueError` where the decision is about something else than what `run` waits for."""
    board, waits = run.board, innermost(run)
    asked = cast(Paused, board.paused)
    of_plan = asked.reason in ("approval", "gate") and board.has_reviewer
    if of_plan and _stands(board).hash != board.proposals.latest_hash:
        raise ValueError('the plan was changed in place; give what you edited: Decision("approve", plan=…)')
    # a budget, or what became of a step, is no matter of the plan inside: whoever says it may have looked at the run around
    around = (_stands(board).hash,) if cast(Paused, waits.board.paused).reason in ("budget", "doubt") else ()
    looked_at = (*hashes_of(run), *around)
    if decision.of and decision.of not in looked_at:
        raise ValueError("the decision is about another plan than the one that waits; review that one")
    if decision.gate is not None and decision.gate != asked.gate:
        about = f"the gate of step {decision.gate}" if decision.gate in board.steps else gate_in_words(decision.gate)
        raise ValueError(f"the decision is about {about}, and this run {run.reason}")
    about_plan = decision.of and decision.gate is None and decision.verdict == "approve"
    if about_plan and asked.reason != "approval" and waits is run:
        raise ValueError('a yes to the plan opens no gate; look at the board and say Decision("approve", by=…)')


def _check_verdict(run: Run, decision: Decision, has_planner: bool) -> None:
    """Raise `ValueError` where what is decided is no answer to what `run`, or the run inside its step, waits for."""
    waits, inside = innermost(run), waiting_inside(run)
    reason = cast(Paused, waits.board.paused).reason
    if reason == "undo" and (decision.verdict == "change" or decision.plan or decision.grant):
        raise ValueError(
            "what was done is taken back, and nothing is planned any more; approve this call, or reject it"
        )
    if decision.verdict not in ANSWERS[reason]:
        known = ", ".join(f'"{one}"' for one in ANSWERS[reason])
        raise ValueError(f'"{decision.verdict}" is no answer here, since this run {run.reason}; answer {known}')
    if inside and decision.plan is not None:
        raise ValueError(
            "the plan of the run inside can't be edited from here; say yes or no to it, or ask for a change"
        )
    if decision.verdict == "change" and not has_planner:
        raise ValueError("there is no planner to change the plan; approve it, reject it, or edit it yourself")


def _check_budget(waits: Run, decision: Decision) -> None:
    """Raise `ValueError` where more is granted to a run that does not wait for it, or not of all that is used up."""
    short = cast(Paused, waits.board.paused).short
    if decision.budget is not None and not short:
        raise ValueError(f"more budget is granted to a run that waits for it, and this one {waits.reason}")
    if not short or decision.verdict != "approve":
        return
    if decision.plan is not None or decision.grant is not None:
        raise ValueError("a budget is granted by itself; the plan is decided about when it is asked for")
    amounts = decision.budget.bounds if decision.budget else {}
    if missing := [name for name in short if not amounts.get(name)]:
        more = ", ".join(f"{name}=…" for name in missing)
        raise ValueError(f'this run {waits.reason}; say how much: Decision("approve", budget=Budget({more}))')


def _resolved(board: Board, waits: Board, decision: Decision) -> Event:
    """What became of a step in doubt, on the board that `waits`: the run's own, or that of a run inside a step.

    Raises `ValueError` for a result that the steps behind it can't use.
    """
    about, in_doubt = cast(Paused, board.paused).step or "", cast(Paused, waits.paused).step or ""
    if decision.verdict == "not done":
        return DoubtResolved(board.now, about, False, decision.by, comment=decision.comment)
    return DoubtResolved(
        board.now, about, True, decision.by, usable(waits, in_doubt, decision.result), decision.comment
    )


def usable(board: Board, id: str, result: Any) -> Any:
    """Return what somebody says that a step gave, as data. Raises `ValueError` where the steps behind it can't use it."""
    step = board.steps[id]
    try:
        result = as_data(result, step)
    except ToolError as problem:
        raise ValueError(str(problem)) from None
    behind = [(f"step {id} uses", board.steps[id].params) for id in board.table.unfinished]
    for who, where in [*behind, ("the plan's answer is", board.plan.answer)]:
        for named in references.find(where):
            try:
                if named.step == step.id:
                    references.resolve(str(named), {step.id: result})
            except references.MissingResultError as problem:
                raise ValueError(
                    f'{who} {named}, and {problem}; say what step {step.id} gave: Decision("done", result=…)'
                ) from None
    return result


def _more(board: Board, decision: Decision) -> Event:
    """More of the budget, or none."""
    if decision.budget is not None:
        return BudgetGranted(board.now, decision.budget, decision.by, decision.comment)
    return BudgetDenied(board.now, decision.by, decision.comment)


def _because(decision: Decision) -> str:
    return f": {decision.comment}" if decision.comment else ""


def _stands(board: Board) -> Plan:
    """The plan that is decided about: of a planner that broke off, what had arrived stands."""
    return board.proposal or board.plan


def _edited(plan: Plan, board: Board, tools: Toolbox) -> Plan | None:
    """What the reviewer made of the plan, checked, without the steps that are done; None if it is still the same."""
    plan = without_done(Plan.received(plan, "the reviewer"), board)
    if problems := plan.problems(tools, done=board.results.keys()):
        raise PlanError(problems, plan.to_json())
    return plan if plan != board.proposal else None
