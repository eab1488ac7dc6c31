"""Decisions: a person's answers about a plan, a gate, a step in doubt, an undo or a budget, and their checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from planexec_lite import references
from planexec_lite.assembly import Board
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.planning import without_done
from planexec_lite.capabilities.rollback import RollbackStarted
from planexec_lite.core.events import Approval, Event, Grant, Paused, PauseReason, Reviewed, gate_in_words
from planexec_lite.meter import Budget
from planexec_lite.plan import Plan, PlanError
from planexec_lite.plan.data import as_data, as_words
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox, ToolError

Answer = Literal[Approval, "done", "not done", "roll back"]


@dataclass(frozen=True, slots=True)
class Decision:
    """A reviewer's answer about a plan, a gate, an undo, a step in doubt, or a used-up budget.

    Args:
        verdict: "approve", "reject", or "change", which asks the planner for another plan. For a step in doubt: "done",
            "not done" (the step runs again), or "roll back". For a budget: "approve" with a further budget, "reject",
            which stops the run, or "roll back".
        by: the name of the reviewer.
        comment: the reason for a rejection, or the change that the planner should make.
        plan: with "approve", the reviewer's edited plan. It is checked again, and the approval covers its hash.
        grant: with "approve", bounds within which later plans need no new approval.
        of: the hash of the plan that the reviewer looked at. A run that waits with another plan refuses the decision.
            "": accept any plan. Approving a plan opens no gate.
        gate: the subject of the decision: the step behind a gate, "undo 3" for the undo of step 3, "doubt 3" or
            "budget". None: the plan if `of` is given, otherwise the current question.
        result: with "done", the result of the step.
        budget: with "approve", the amounts to add to the budget.

    Raises `ValueError` for an unknown verdict, for text that can't be saved, for an edited plan, a grant or a budget
    without "approve", and for a result without "done".
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

    @classmethod
    def passed_on(cls, event: Reviewed) -> Decision:
        """Return the decision about a nested run that was recorded in the outer run."""
        return cls(event.verdict, event.by, event.comment, grant=event.grant, budget=event.budget, result=event.result)


ANSWERS: dict[PauseReason, tuple[Answer, ...]] = {
    "approval": ("approve", "reject", "change"),
    "gate": ("approve", "reject", "change"),
    "undo": ("approve", "reject"),
    "doubt": ("done", "not done", "roll back"),
    "budget": ("approve", "reject", "roll back"),
}
"""The possible verdicts, by the reason of the pause."""


def answered(run: Run, decision: Decision, tools: Toolbox, has_planner: bool) -> Event:
    """Return the event that results from `decision` on the question of `run`.

    Raises `ValueError` if the decision does not fit the question, `TypeError` if it is not a `Decision`, and
    `PlanError` if the reviewer's edited plan is invalid.
    """
    board = run.board
    if board.paused is None:
        raise ValueError(f"this run does not wait for a decision: it is {run.status}")
    if not isinstance(decision, Decision):
        raise TypeError(f"a reviewer gives a Decision or None, not a {type(decision).__name__}")
    waits = innermost(run)
    for refusal in _refusals(run, waits, decision, has_planner):
        raise ValueError(refusal)
    asked, who = board.paused, (decision.by, decision.comment)
    if decision.verdict == "roll back":
        return RollbackStarted(
            board.now, f"{decision.by} asked for it" + (f": {decision.comment}" if decision.comment else "")
        )
    if decision.verdict in ("done", "not done"):
        id = cast(Paused, waits.board.paused).step or ""
        result = usable(waits.board, id, decision.result) if decision.verdict == "done" else None
        return Reviewed(board.now, decision.verdict, _stands(board).hash, *who, asked.step, result=result)
    plan = _edited(decision.plan, board, tools) if decision.plan is not None else None
    about = None if asked.reason == "budget" else asked.gate
    hash, verdict = (plan or _stands(board)).hash, cast(Approval, decision.verdict)
    return Reviewed(board.now, verdict, hash, *who, about, plan, decision.grant, decision.budget)


def innermost(run: Run) -> Run:
    """Return the run that asks the question: the deepest nested run that is paused, or `run` itself."""
    paused = run.board.paused
    if paused is None or paused.inside is None or paused.step is None:
        return run
    try:
        inside = run.inside(paused.step)
    except (ValueError, LookupError):  # its reported events are not a complete run
        return run
    return innermost(inside) if inside.status == "paused" else run


def _refusals(run: Run, waits: Run, decision: Decision, has_planner: bool) -> Iterator[str]:
    """Yield the reasons why `decision` does not answer the question of `run`, which `waits` asks (a nested run or
    `run` itself).
    """
    board, asked, question = run.board, cast(Paused, run.board.paused), cast(Paused, waits.board.paused)
    verdict, reason, short = decision.verdict, question.reason, question.short
    hashes = {_stands(waits.board).hash, waits.board.plan.hash}
    if reason in ("budget", "doubt"):  # not about the nested plan: the person might have looked at the outer run
        hashes.add(_stands(board).hash)
    # the subject
    of_plan = asked.reason in ("approval", "gate") and board.has_reviewer
    if of_plan and _stands(board).hash != board[Approvals].latest_hash:
        yield 'the plan was changed in place; give what you edited: Decision("approve", plan=…)'
    if decision.of and decision.of not in hashes:
        yield "the decision is about another plan; review the plan that the run waits with"
    if decision.gate is not None and decision.gate != asked.gate:
        about = f"the gate of step {decision.gate}" if decision.gate in board.steps else gate_in_words(decision.gate)
        yield f"the decision is about {about}, and this run {run.reason}"
    about_plan = decision.of and decision.gate is None and verdict == "approve"
    if about_plan and asked.reason != "approval" and waits is run:
        yield 'approving the plan opens no gate; look at the board and return Decision("approve", by=…)'
    # the verdict
    if reason == "undo" and (verdict == "change" or decision.plan or decision.grant):
        yield "the run is being rolled back, so the plan can't be changed; approve or reject this call"
    if verdict not in ANSWERS[reason]:
        known = ", ".join(f'"{one}"' for one in ANSWERS[reason])
        yield f'"{verdict}" is no answer here, since this run {run.reason}; answer {known}'
    if waits is not run and decision.plan is not None:
        yield "the nested run's plan can't be edited here; approve it, reject it, or ask for a change"
    if verdict == "change" and not has_planner:
        yield "there is no planner to change the plan; approve it, reject it, or edit it yourself"
    # the budget
    if decision.budget is not None and not short:
        yield f"only a run that waits for more budget takes one, and this run {waits.reason}"
    if short and verdict == "approve":
        if decision.plan is not None or decision.grant is not None:
            yield "the run waits for more budget, not for a decision about the plan; leave out the plan and the grant"
        amounts = decision.budget.bounds if decision.budget else {}
        if missing := [f"{name}=…" for name in short if not amounts.get(name)]:
            yield f'this run {waits.reason}; say how much: Decision("approve", budget=Budget({", ".join(missing)}))'


def usable(board: Board, id: str, result: Any) -> Any:
    """Return a person's result for step `id` as data. Raises `ValueError` if the steps that depend on it can't use
    it.
    """
    step = board.steps[id]
    try:
        result = as_data(result, step)
    except ToolError as problem:
        raise ValueError(str(problem)) from None
    behind = [(f"step {id} uses", board.steps[id].params) for id in board.unfinished]
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


def _stands(board: Board) -> Plan:
    """Return the plan to decide about. If the planner broke off, it consists of the streamed steps."""
    return board.proposal or board.plan


def _edited(plan: Plan, board: Board, tools: Toolbox) -> Plan | None:
    """Return the reviewer's plan, checked and without the done steps; None if nothing was edited."""
    plan = without_done(Plan.received(plan, "the reviewer"), board)
    if problems := plan.problems(tools, done=board.results.keys()):
        raise PlanError(problems, plan.to_json())
    return plan if plan != board.proposal else None
