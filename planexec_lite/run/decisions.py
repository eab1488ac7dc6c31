"""The checks of a person's decision, before a run continues with it."""

from __future__ import annotations

from typing import Any

from planexec_lite.assembly import Board
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.planning import without_done
from planexec_lite.capabilities.rollback import RollbackStarted
from planexec_lite.capabilities.undo import keeps_doubts
from planexec_lite.core.events import Event, Reviewed
from planexec_lite.core.questions import Decision, Question
from planexec_lite.plan import Plan, PlanError
from planexec_lite.plan.data import as_data
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox, ToolError, references


def event_of(decision: Decision, run: Run, tools: Toolbox) -> Event:
    """Return the event that results from `decision` about the question of `run`.

    Raises `ValueError` if the decision does not answer this question, `TypeError` if it is not a `Decision`, and
    `PlanError` if the reviewer's edited plan is invalid.
    """
    board, question = run.board, run.question
    if question is None:
        raise ValueError(f"this run does not wait for a decision: it is {run.status}")
    if not isinstance(decision, Decision):
        raise TypeError(f"a reviewer gives a Decision or None, not a {type(decision).__name__}")
    _check_subject(board, question, decision)
    _check_verdict(question, decision)
    _check_budget(question, decision)
    if decision.verdict == "roll back":
        comment = f": {decision.comment}" if decision.comment else ""
        return RollbackStarted(board.now, f"{decision.by} asked for it{comment}")
    plan = None if decision.plan is None else _edited(decision.plan, board, tools)
    known = "" if plan is not None else board[Approvals].latest_hash
    return Reviewed(
        board.now,
        decision.verdict,
        known or (plan or board.proposal or board.plan).hash,
        decision.by,
        decision.comment,
        question.own_step,
        plan,
        decision.grant,
        decision.budget,
        _result(run, question, decision),
        question.digest,
        question.about,
    )


def _check_subject(board: Board, question: Question, decision: Decision) -> None:
    """Raise `ValueError` if the decision is about another question, or if the subject has changed since it was asked."""
    if decision.of not in ("", question.digest) or decision.run not in ("", question.run):
        raise ValueError(
            f"the decision answers another question; this run waits for {question} (its question {question.number})"
        )
    if (
        question.plan is not None
        and not question.path
        and question.plan.hash != board[Approvals].latest_hash
    ):
        raise ValueError(
            'the plan was changed in place; give what you edited: Decision("approve", plan=…)'
        )


def _check_verdict(question: Question, decision: Decision) -> None:
    if decision.verdict not in question.verdicts:
        known = ", ".join(f'"{verdict}"' for verdict in question.verdicts)
        raise ValueError(
            f'"{decision.verdict}" is no answer to this question: {question}. Answer {known}'
        )
    if question.plan is None and (decision.plan is not None or decision.grant is not None):
        raise ValueError(
            f"an edited plan and a grant answer a question about a plan, and this run waits for {question}"
        )
    if question.path and decision.plan is not None:
        raise ValueError(
            "a plan inside a step can't be edited here; approve it, reject it, or ask for a change"
        )


def _check_budget(question: Question, decision: Decision) -> None:
    granted = {} if decision.budget is None else decision.budget.bounds
    if decision.budget is not None and not question.amounts:
        raise ValueError(
            f"a budget answers a question about a budget, and this run waits for {question}"
        )
    missing = ", ".join(f"{name}=…" for name in question.amounts if not granted.get(name))
    if decision.verdict == "approve" and missing:
        raise ValueError(
            f'this run waits for {question}; say how much: Decision("approve", budget=Budget({missing}))'
        )


def _result(run: Run, question: Question, decision: Decision) -> Any:
    """Return the result of a step that was done, checked against the steps that use it."""
    if decision.verdict != "done":
        return None
    waits = run
    for step_id in question.path:
        try:
            waits = waits.inside(step_id)
        except (ValueError, LookupError):  # its reported events are not a complete run
            break
    return usable(waits.board, question.step or "", decision.result)


def usable(board: Board, step_id: str, result: Any) -> Any:
    """Return a person's result for step `id` as data. Raises `ValueError` if the steps that depend on it can't use
    it.
    """
    step = board.steps.get(step_id)
    if step is None:
        return result
    try:
        result = as_data(result, step.id, step.tool)
    except ToolError as problem:
        raise ValueError(str(problem)) from None
    uses = {f"step {other} uses": board.steps[other].params for other in board.unfinished}
    for who, where in {**uses, "the plan's answer is": board.plan.answer}.items():
        for named in references.find(where):
            if named.step != step_id:
                continue
            try:
                references.resolve(str(named), {step_id: result})
            except references.MissingResultError as problem:
                raise ValueError(
                    f'{who} {named}, and {problem}; say what step {step_id} gave: Decision("done", result=…)'
                ) from None
    return result


def _edited(plan: Plan, board: Board, tools: Toolbox) -> Plan | None:
    """Return the reviewer's plan, checked and without the done steps; None if nothing was edited."""
    plan = without_done(Plan.received(plan, "the reviewer"), board)
    problems = plan.problems(tools, done=board.results.keys())
    if problems := [*problems, *keeps_doubts(plan, board)]:
        raise PlanError(problems, plan.to_json())
    return plan if plan != board.proposal else None
