"""Decisions: what a person says about a plan, a gate, a step in doubt, an undo or a budget, checked before it counts."""

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
    """What a reviewer says about a plan, a gate, a step in doubt, or a budget that is used up.

    Args:
        verdict: "approve", "reject", or "change", which asks the planner for another plan. About a step in doubt: it was "done",
            or "not done" and is to be carried out, or what was done is to be undone, "roll back". About a budget: "approve",
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

    @classmethod
    def passed_on(cls, event: Reviewed) -> Decision:
        """Return the decision about the run inside a step that was recorded in the run around it."""
        return cls(event.verdict, event.by, event.comment, grant=event.grant, budget=event.budget, result=event.result)


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

    Raises `ValueError` if it does not fit that, `TypeError` if it is no `Decision`, and `PlanError` if the plan that
    the reviewer edited is invalid.
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
    """The run that waits: the one inside a step that pauses the one around it, however deep; else `run` itself."""
    paused = run.board.paused
    if paused is None or paused.inside is None or paused.step is None:
        return run
    try:
        inside = run.inside(paused.step)
    except (ValueError, LookupError):  # what was told of it is no run
        return run
    return innermost(inside) if inside.status == "paused" else run


def _refusals(run: Run, waits: Run, decision: Decision, has_planner: bool) -> Iterator[str]:
    """Yield why `decision` is no answer to the question that `run` asks: the question of `waits`, itself or the run inside."""
    board, asked, question = run.board, cast(Paused, run.board.paused), cast(Paused, waits.board.paused)
    verdict, reason, short = decision.verdict, question.reason, question.short
    hashes = {_stands(waits.board).hash, waits.board.plan.hash}
    if reason in (
        "budget",
        "doubt",
    ):  # these are not about the plan inside: the person might have looked at the run around it
        hashes.add(_stands(board).hash)
    # about what
    of_plan = asked.reason in ("approval", "gate") and board.has_reviewer
    if of_plan and _stands(board).hash != board[Approvals].latest_hash:
        yield 'the plan was changed in place; give what you edited: Decision("approve", plan=…)'
    if decision.of and decision.of not in hashes:
        yield "the decision is about another plan than the one that waits; review that one"
    if decision.gate is not None and decision.gate != asked.gate:
        about = f"the gate of step {decision.gate}" if decision.gate in board.steps else gate_in_words(decision.gate)
        yield f"the decision is about {about}, and this run {run.reason}"
    about_plan = decision.of and decision.gate is None and verdict == "approve"
    if about_plan and asked.reason != "approval" and waits is run:
        yield 'a yes to the plan opens no gate; look at the board and say Decision("approve", by=…)'
    # the verdict
    if reason == "undo" and (verdict == "change" or decision.plan or decision.grant):
        yield "what was done is taken back, and nothing is planned any more; approve this call, or reject it"
    if verdict not in ANSWERS[reason]:
        known = ", ".join(f'"{one}"' for one in ANSWERS[reason])
        yield f'"{verdict}" is no answer here, since this run {run.reason}; answer {known}'
    if waits is not run and decision.plan is not None:
        yield "the plan of the run inside can't be edited from here; say yes or no to it, or ask for a change"
    if verdict == "change" and not has_planner:
        yield "there is no planner to change the plan; approve it, reject it, or edit it yourself"
    # the budget
    if decision.budget is not None and not short:
        yield f"more budget is granted to a run that waits for it, and this one {waits.reason}"
    if short and verdict == "approve":
        if decision.plan is not None or decision.grant is not None:
            yield "a budget is granted by itself; the plan is decided about when it is asked for"
        amounts = decision.budget.bounds if decision.budget else {}
        if missing := [f"{name}=…" for name in short if not amounts.get(name)]:
            yield f'this run {waits.reason}; say how much: Decision("approve", budget=Budget({", ".join(missing)}))'


def usable(board: Board, id: str, result: Any) -> Any:
    """Return what somebody says that a step gave, as data. Raises `ValueError` if the steps behind it can't use it."""
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
    """The plan that is decided about: of a planner that broke off, what had arrived stands."""
    return board.proposal or board.plan


def _edited(plan: Plan, board: Board, tools: Toolbox) -> Plan | None:
    """What the reviewer made of the plan, checked, without the steps that are done; None if it is still the same."""
    plan = without_done(Plan.received(plan, "the reviewer"), board)
    if problems := plan.problems(tools, done=board.results.keys()):
        raise PlanError(problems, plan.to_json())
    return plan if plan != board.proposal else None
