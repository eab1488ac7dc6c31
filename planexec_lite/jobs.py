"""Jobs: what becomes of a task in events, and how a planner's answer is checked before it counts."""

from __future__ import annotations

from typing import Any, NamedTuple

from planexec_lite.board import Board
from planexec_lite.evaluators import Evaluator, Verdict
from planexec_lite.events import (
    Event,
    Inside,
    Judged,
    JudgeFailed,
    JudgeStarted,
    PlanFailed,
    PlanProposed,
    PlanStarted,
    StepDone,
    StepFailed,
    StepStarted,
)
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.planners import Planner
from planexec_lite.standing import signature
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Finished


def outcomes(finished: Finished) -> list[Event]:
    """Turn the report of a finished task into events: what happened inside it, then its outcome."""
    task, report, at, seconds, happened = finished
    match task.event:
        case StepStarted(step=id):
            inside: list[Event] = [Inside(when, id, event) for when, event in happened]
            if task.timeout is not None and seconds > task.timeout:
                error = f"TimeoutError: took longer than its timeout of {task.timeout:g} s"
                return [*inside, StepFailed(at, id, error, min(seconds, task.timeout), report.calls)]
            if report.error is not None:
                return [*inside, StepFailed(at, id, report.error, seconds, report.calls)]
            return [*inside, StepDone(at, id, report.value, seconds, report.calls)]
        case PlanStarted():
            if report.error is not None:
                return [PlanFailed(at, report.error, seconds, report.calls)]
            proposal: Proposal = report.value
            return [PlanProposed(at, proposal.plan, proposal.problems, proposal.text, seconds, report.calls)]
        case JudgeStarted(step=id):
            if report.error is not None:
                return [JudgeFailed(at, id, report.error, seconds, report.calls)]
            said: Verdict = report.value
            changed, wanting = said.changed, said.wanting
            return [Judged(at, id, said.verdict, said.reason, changed, wanting, seconds, report.calls)]
        case other:
            raise TypeError(f"no outcome is known for {other!r}")


class Proposal(NamedTuple):
    """A planner's answer, checked: the plan, or None with the text that was no plan, and the problems."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    text: str = ""


def judge(evaluator: Evaluator, step: Step, result: Any, board: Board, tools: Toolbox) -> Verdict:
    """Ask the evaluator, and check what it says: a changed step must be fit, and approved work is not exchanged.

    Where a reviewer approves plans, or the step has a gate, only the step's words may change. A changed step that is
    unfit has the rest planned again. Raises `TypeError` when the answer is no `Verdict`.
    """
    said = evaluator.evaluate(step, result, board)
    if not isinstance(said, Verdict):
        raise TypeError(f"the evaluator returned a {type(said).__name__}; a verdict is wanted")
    if said.changed is None:
        return said
    free: dict[str, Any] = {"description": step.description}
    if not (board.has_reviewer or step.gate):
        free |= {"tool": step.tool, "params": step.params}
    same = said.changed.model_copy(update=free) == step
    if same and not Plan(steps=(said.changed,)).problems(tools, done=board.results.keys()):
        return said
    return Verdict("replan", f"{said.reason}; the changed step is unfit or not approved", wanting=said.wanting)


def propose(planner: Planner, board: Board, tools: Toolbox, max_steps: int) -> Proposal:
    """Ask the planner, and check what it says. Done steps that it repeats word for word are dropped.

    A plan that does the same as one that has failed before is refused: a replan must change something.
    """
    try:
        plan = planner.plan(board.goal, board, tools)
    except PlanError as error:
        return Proposal(None, error.problems, error.text)
    steps = tuple(step for step in plan.steps if not (step.id in board.results and step == board.steps[step.id]))
    plan = plan if len(steps) == len(plan.steps) else plan.changed(steps=steps)
    problems = plan.problems(tools, done=board.results.keys(), max_steps=max_steps)
    if board.failed and signature(plan.steps) in {*board.tried, signature(board.steps[id] for id in board.unfinished)}:
        hint = "do something else about the failed step, or leave it out"
        problems.append(Problem("tried_before", None, "the steps are those that have failed before", hint))
    return Proposal(plan, tuple(problems))
