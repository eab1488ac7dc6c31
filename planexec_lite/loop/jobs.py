"""Jobs: what becomes of a task in events, and how a planner's answer is checked before it counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from planexec_lite.board import Board, signature
from planexec_lite.events import (
    BackoffEnded,
    BackoffStarted,
    Event,
    Inside,
    Interrupted,
    Job,
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
    StepPaused,
    StepProposed,
    StepStarted,
    UndoDone,
    UndoFailed,
    UndoStarted,
)
from planexec_lite.executors import Executor, chooses_calls
from planexec_lite.loop.nested import why_paused
from planexec_lite.loop.undo_inside import without_undo
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.plan.data import copied
from planexec_lite.planning.new_effects import added_effects
from planexec_lite.planning.planners import Planner, StreamingPlanner
from planexec_lite.planning.stream_buffer import StepReady, StreamBuffer
from planexec_lite.policy import Policy
from planexec_lite.references import find
from planexec_lite.review.evaluators import Evaluator, Verdict
from planexec_lite.review.grants import granting_reviewer
from planexec_lite.review.repeats import repeated, text_of
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Cancelled, Finished, Late, Progress, Report, Task, TimedOut, WorkerMessage


def outcomes(message: WorkerMessage) -> list[Event]:
    """Turn a worker message about a task into events: what happened inside it, then its outcome."""
    match message:
        case Finished():
            job, report = message.task.event, message.report
            if isinstance(job, BackoffStarted):
                return [BackoffEnded(message.at, job.step, message.seconds)]
            if not isinstance(job, StepStarted | UndoStarted):
                return [_answer(job, report, message.at, message.seconds)]
            events = _inside(job.step, message.inside)
            if isinstance(job, UndoStarted):
                return [*events, _undone(job, report, message.at, message.seconds)]
            if report.waits:
                why, made = f"a model chose {report.waits}", report.made
                told = (message.seconds, report.calls, report.once)
                events.append(StepPaused(message.at, job.step, why, *told, call=report.waits, made=made))
            elif (waits := why_paused(report.error, events)) is not None:
                paused = StepPaused(message.at, job.step, waits, message.seconds, report.calls, in_doubt=report.once)
                events.append(paused)
            elif report.error is None:
                events.append(StepDone(message.at, job.step, report.value, message.seconds, report.calls))
            else:
                # where a call that may be made once was made, nobody knows how much of the step was done
                failure = (report.error, message.seconds, report.calls, report.once, report.final)
                events.append(StepFailed(message.at, job.step, *failure))
            return events
        case Progress(at=at, event=event):
            return [StepProposed(at, event.step)] if isinstance(event, StepReady) else []
        case Cancelled(task=task, at=at):
            return [StepCancelled(at, task.event.step)]
        case TimedOut(task=task, at=at, seconds=seconds):
            own = task.timeout is not None and seconds >= task.timeout
            words = f"took longer than its timeout of {task.timeout:g} s" if own else _too_late(task)
            error = f"TimeoutError: {words}"
            if isinstance(task.event, UndoStarted):
                return [UndoFailed(at, task.event.step, error, seconds, in_doubt=True)]
            return [StepFailed(at, task.event.step, error, seconds, in_doubt=True)]
        case Late(task=Task(event=UndoStarted())):
            return []  # it is told as an undo that failed, and nothing waits for it
        case Late(task=task, report=report, at=at, seconds=seconds, inside=inside):
            step = task.event.step
            return [*_inside(step, inside), StepLate(at, step, report.value, report.error, seconds, report.calls)]


def _too_late(task: Task) -> str:
    return f"not over when the run's deadline of {task.until:g} s passed"


def _inside(step: str, happened: Sequence[tuple[float, Any]]) -> list[Event]:
    return [Inside(at, step, event) for at, event in happened] if happened else []


def nothing() -> None:
    """What is done while a step backs off."""


def _undone(job: UndoStarted, report: Report, at: float, seconds: float) -> Outcome:
    if report.error is None:
        return UndoDone(at, job.step, report.value, seconds, report.calls)
    return UndoFailed(at, job.step, report.error, seconds, report.calls, report.once)


def _answer(job: Any, report: Report, at: float, seconds: float) -> Outcome:
    """What the planner or the evaluator came to."""
    value, error, calls = report.value, report.error, report.calls
    if isinstance(job, PlanStarted):
        if error is not None:
            return PlanFailed(at, error, seconds, calls)
        plan, problems, text, granted_by, model_chooses = value
        return PlanProposed(at, plan, problems, text, seconds, calls, granted_by, model_chooses)
    if error is not None:
        return JudgeFailed(at, job.step, error, seconds, calls)
    return Judged(at, job.step, value.verdict, value.reason, value.changed, value.rejects, seconds, calls)


def cancelled(jobs: Iterable[Job], at: float) -> Iterator[Event]:
    """Say that `jobs` have not begun: whoever goes on with the run need have no doubt about them."""
    for job in jobs:
        yield (
            StepCancelled(at, job.step)
            if isinstance(job, StepStarted | UndoStarted)
            else Interrupted(at, getattr(job, "step", None))
        )


def key_of(board: Board, step: str, tools: Toolbox) -> str:
    """What identifies the call of a step that starts within the run: the call, and the occurrence of that call in the run.

    The occurrence is the lowest number of such a call that is not known to be done and does not run. So a retry has the key
    of the attempt before, under whatever id a later plan makes the call; and a call that is meant twice has two keys.
    """
    known = board.once.keys.get(step)
    if known and not board.once.is_done(known) and (step in board.approvals.held or step in board.cut_off):
        return known  # what it began goes on
    return board.key_for(digest_of(text_of(board.steps[step], board, tools)))


def digest_of(*parts: Any) -> str:
    """Return 32 characters that depend on `parts`, which JSON can hold, and on nothing else."""
    return sha256(json.dumps(parts).encode(errors="replace")).hexdigest()[:32]


class CheckedPlan(NamedTuple):
    """A planner's answer, checked: the plan, or None with the text that was no plan, and the problems."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    text: str = ""
    granted_by: str = ""
    model_chooses: tuple[str, ...] = ()


def judge(evaluator: Evaluator, step: Step, result: Any, board: Board, tools: Toolbox, policy: Policy) -> Verdict:
    """Ask the evaluator, and check what it says: a changed step must be valid, and approved work is not exchanged.

    Where a reviewer approves plans, or the step has a gate, only the step's words may change. A changed step that is
    invalid has the rest planned again. Raises `TypeError` when the answer is no `Verdict`.
    """
    verdict = evaluator.evaluate(step, copied(result), board.copy())
    if not isinstance(verdict, Verdict):
        raise TypeError(f"the evaluator returned a {type(verdict).__name__}; a verdict is wanted")
    changed = verdict.changed
    if changed is None:
        return Verdict(verdict.verdict, verdict.reason, None, verdict.rejects)
    (changed,) = Plan.received(Plan.model_construct(steps=(changed,)), "the evaluator").steps
    free: dict[str, Any] = {"description": step.description}
    if not (board.has_reviewer or step.gate):
        free |= {"tool": step.tool, "params": step.params}
    same, plan = changed.model_copy(update=free) == step, Plan(steps=(changed,))
    problems = plan.problems(tools, done=board.results.keys())
    if policy.no_new_effects and not board.has_reviewer:
        problems += added_effects(plan, board, tools)
    if same and not problems:
        return Verdict(verdict.verdict, verdict.reason, changed, verdict.rejects)
    return Verdict("replan", f"{verdict.reason}; the changed step is invalid or not approved", rejects=verdict.rejects)


def without_done(plan: Plan, board: Board) -> Plan:
    """The plan without the steps that are done already, where it repeats them word for word."""
    steps = tuple(step for step in plan.steps if not (step.id in board.results and step == board.steps[step.id]))
    return plan if len(steps) == len(plan.steps) else plan.changed(steps=steps)


def _repeats(plan: Plan, board: Board, tools: Toolbox) -> Iterator[Problem]:
    for step in plan.steps:
        if board.goes_on_inside(step) or (spent := repeated(step, board.table.plans + 1, board, tools)) is None:
            continue
        other = spent.step.id
        if other in board.results:
            message = f"step {other} has done the same; it may be done once"
            yield Problem("done_once", step.id, message, f"leave it out; use {{step_{other}_result}} where you need it")
        else:
            hint = "find out first whether it was done, or leave it out"
            message = f"the same call, step {other}, may have been made, or be under way still; it may be done once"
            yield Problem("in_doubt", step.id, message, hint)


def _unanswered(plan: Plan, board: Board) -> Iterator[Problem]:
    """The failed steps that a complete plan passes over."""
    for id in board.table.left_unanswered(plan) if plan.complete else ():
        hint = f'add a step that does it otherwise or checks it; or name it, "supersedes": ["{id}"], if you give it up'
        yield Problem("unanswered_failure", id, "it failed, and the plan brings no new step", hint)


def _dropped(plan: Plan, board: Board) -> Iterator[Problem]:
    """The done steps that the rollback so far takes back, and that of `plan` would not."""
    before, now = (
        {named.step for named in find([call.params for call in calls])}
        for calls in (board.rollback.listed_calls, plan.rollback)
    )
    for id in board.results:
        if id in before - now and board.steps[id].undo is None:
            hint = f"keep the call in rollback that uses {{step_{id}_result}}"
            yield Problem("no_undo", id, "it is done, and the plan drops the call that takes it back", hint)


def _writable(problem: Problem) -> Problem:
    """The problem with words that a file can hold: a model may quote half a character."""
    words = (text.encode(errors="backslashreplace").decode() for text in (problem.message, problem.hint))
    return Problem(problem.code, problem.step, *words)


def propose(planner: Planner, board: Board, executor: Executor, policy: Policy) -> CheckedPlan:
    """Ask the planner, and check what it says. Done steps that it repeats word for word are dropped.

    A plan that does the same as one that has failed before is invalid: a replan must change something. `board` is a copy,
    since the run may go on while a planner streams; and the planner is shown another, which it may scribble on.
    """
    shown, tools = board.copy(), executor.tools
    # the same steps again may be right after news; after a failure they are not
    tried = set(board.table.tried) if board.failed or board.problems else set()
    tried |= {signature(board.steps[id] for id in board.table.unfinished)} if board.failed else set()
    written = StreamBuffer(board, tools, policy)
    try:
        if isinstance(planner, StreamingPlanner) and planner.stream:
            plan = written.all(planner.parts(board.goal, shown, tools))
        else:
            plan = planner.plan(board.goal, shown, tools)
        plan = Plan.received(plan, "the planner")
    except PlanError as error:
        text = error.text.encode(errors="backslashreplace").decode()  # a model may say what no file can hold
        return CheckedPlan(None, tuple(map(_writable, (*error.problems, *written.dangling()))), text)
    plan = without_done(plan, board)
    problems = plan.problems(tools, done=board.results.keys(), max_steps=policy.max_steps)
    problems += [*without_undo(plan, executor), *_dropped(plan, board)] if policy.require_undo else []
    problems += written.missing_in(plan)
    problems += _unanswered(plan, board)
    # a reviewer sees the repeat, and may want it
    if not board.has_reviewer:
        problems += _repeats(plan, board, tools)
        problems += added_effects(plan, board, tools) if policy.no_new_effects else []
    if signature(plan.steps) in tried:
        hint = "do something else about the failed step, or leave it out"
        problems.append(Problem("tried_before", None, "the steps are those that have failed before", hint))
    chosen = tuple(step.id for step in plan.steps if chooses_calls(executor, step))
    return CheckedPlan(plan, tuple(problems), "", granting_reviewer(board, plan), chosen)
