"""Jobs: what becomes of a task in events, and how a planner's answer is checked before it counts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from planexec_lite.board import Board
from planexec_lite.evaluators import Evaluator, Verdict
from planexec_lite.events import (
    Event,
    Inside,
    Judged,
    JudgeFailed,
    Outcome,
    PlanFailed,
    PlanProposed,
    PlanStarted,
    StepCancelled,
    StepDone,
    StepFailed,
    StepLate,
    StepProposed,
    StepStarted,
)
from planexec_lite.grants import granted_by
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.planners import Planner, StreamingPlanner
from planexec_lite.standing import signature
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Cancelled, Finished, GivenUp, Heard, Late, Report, Said
from planexec_lite.written import MayStart, Written


def outcomes(said: Said) -> list[Event]:
    """Turn what a crew says about a task into events: what happened inside it, then its outcome."""
    match said:
        case Finished():
            job, report = said.task.event, said.report
            if not isinstance(job, StepStarted):
                return [_answer(job, report, said.at, said.seconds)]
            events: list[Event] = [Inside(when, job.step, event) for when, event in said.inside] if said.inside else []
            if report.error is None:
                events.append(StepDone(said.at, job.step, report.value, said.seconds, report.calls))
            else:
                events.append(StepFailed(said.at, job.step, report.error, said.seconds, report.calls))
            return events
        case Heard(at=at, event=event):
            return [StepProposed(at, event.step)] if isinstance(event, MayStart) else []
        case Cancelled(task=task, at=at):
            return [StepCancelled(at, task.event.step)]
        case GivenUp(task=task, at=at, seconds=seconds):
            error = f"TimeoutError: took longer than its timeout of {task.timeout:g} s"
            return [StepFailed(at, task.event.step, error, seconds, in_doubt=True)]
        case Late(task=task, report=report, at=at, seconds=seconds):
            return [StepLate(at, task.event.step, report.value, report.error, seconds, report.calls)]


def _answer(job: Any, report: Report, at: float, seconds: float) -> Outcome:
    """What the planner or the evaluator came to."""
    value, error, calls = report.value, report.error, report.calls
    if isinstance(job, PlanStarted):
        if error is not None:
            return PlanFailed(at, error, seconds, calls)
        plan, problems, text, granted = value
        return PlanProposed(at, plan, problems, text, seconds, calls, granted)
    if error is not None:
        return JudgeFailed(at, job.step, error, seconds, calls)
    return Judged(at, job.step, value.verdict, value.reason, value.changed, value.wanting, seconds, calls)


class Proposal(NamedTuple):
    """A planner's answer, checked: the plan, or None with the text that was no plan, and the problems."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    text: str = ""
    granted: str = ""


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


def without_done(plan: Plan, board: Board, done: Collection[str] | None = None) -> Plan:
    """The plan without the steps that are done already, where it repeats them word for word."""
    done = board.results if done is None else done
    steps = tuple(step for step in plan.steps if not (step.id in done and step == board.steps[step.id]))
    return plan if len(steps) == len(plan.steps) else plan.changed(steps=steps)


def propose(planner: Planner, board: Board, tools: Toolbox, max_steps: int) -> Proposal:
    """Ask the planner, and check what it says. Done steps that it repeats word for word are dropped.

    A plan that does the same as one that has failed before is refused: a replan must change something. The board may go
    on while a planner streams: what has to be known about it is read before the planner is asked.
    """
    done = frozenset(board.results)
    tried = set(board.tried) if board.failed or board.problems else set()
    tried |= {signature(board.steps[id] for id in board.unfinished)} if board.failed else set()
    doubtful = {str(board.steps[id]) for id in board.in_doubt}
    written = Written(board, tools, max_steps)
    try:
        if isinstance(planner, StreamingPlanner) and planner.stream:
            plan = written.all(planner.parts(board.goal, board, tools))
        else:
            plan = planner.plan(board.goal, board, tools)
    except PlanError as error:
        return Proposal(None, (*error.problems, *written.dangling()), error.text)
    plan = without_done(plan, board, done)
    problems = plan.problems(tools, done=done, max_steps=max_steps)
    problems += written.missing_in(plan)
    if not board.has_reviewer:
        again = [step for step in plan.steps if str(step) in doubtful and step.effects_with(tools.effects) == "once"]
        hint = "find out first whether it was done, or leave it out"
        message = "the same call was given up and may still be under way; it may be done once"
        problems += [Problem("in_doubt", step.id, message, hint) for step in again]
    if signature(plan.steps) in tried:
        hint = "do something else about the failed step, or leave it out"
        problems.append(Problem("tried_before", None, "the steps are those that have failed before", hint))
    return Proposal(plan, tuple(problems), granted=granted_by(board, plan, tools))
