"""Undoing (lesson 09): an undo that starts becomes a task, and the outcome of the task an event."""

from __future__ import annotations

from functools import partial
from typing import Any

from planexec_lite.capabilities.rollback import (
    Rollback,
    UndoDone,
    UndoFailed,
    UndoPaused,
    UndoStarted,
)
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board, Capability, Task, Work
from planexec_lite.core import events as e
from planexec_lite.core.executors import ToolExecutor, agent_inside, perform
from planexec_lite.core.tasks import Finished, TimedOut, too_long
from planexec_lite.plan import Call, Step
from planexec_lite.plan.data import copied
from planexec_lite.tools import digest_of


def _task(agent: Any, run: Any, job: UndoStarted) -> Task:
    """Return the task that undoes the step: a tool call with the timeout of that step, or the rollback of its nested
    run.
    """
    board = run.board
    if job.call is None:
        inside = agent_inside(agent.executor, board.steps[job.step])
        return Task(job, inside.undo_inside if inside is not None else _no_agent)
    step = Step(id=job.step.replace(" ", "-"), tool=job.call.tool, params=job.call.params)
    args = (ToolExecutor(agent.tools), step, _inputs(board, job.call))
    return Task(job, perform, args, _timeout(board), repeatable=_repeatable(board, job))


def _context(_agent: Any, run: Any, job: UndoStarted) -> dict[str, Any]:
    """Return the timeout and the idempotency key of an undo that is a call."""
    call, undo = job.call, run.board[Rollback].calling
    if call is None or undo is None:
        return {}
    made_from = (run.uid, "undo", undo.number, call.tool, call.params, _inputs(run.board, call))
    return {"limit": _timeout(run.board), "key": partial(digest_of, *made_from)}


def _inputs(board: Board, call: Call) -> dict[str, Any]:
    """The results that the running undo refers to, by step id."""
    undo = board[Rollback].calling
    results = board[WorkDone].results_at(undo.number if undo is not None else 0, call.params)
    return {step_id: copied(result) for step_id, result in results.items()}


def _timeout(board: Board) -> float | None:
    """The timeout of the step that is being undone."""
    undo = board[Rollback].calling
    return (
        board[WorkDone].completed[undo.number].step.timeout
        if undo is not None and undo.number
        else None
    )


def _repeatable(board: Board, job: UndoStarted) -> bool:
    return job.call is not None and board.started.effects.get(job.call.tool, "none") in (
        "none",
        "idempotent",
    )


def _no_agent() -> None:
    raise RuntimeError("the agent that carried out this step is no longer available")


def _finished(job: UndoStarted, message: Finished) -> list[e.Event]:
    report, at, step_id = message.report, message.at, job.step
    usage = (message.seconds, report.calls)
    if report.waits is not None:
        return [UndoPaused(at, step_id, report.waits.question.inside(step_id), *usage)]
    if report.error is None:
        return [UndoDone(at, step_id, report.value, *usage)]
    return [UndoFailed(at, step_id, report.error, *usage, report.once or report.lost)]


def _timed_out(job: UndoStarted, message: TimedOut) -> list[e.Event]:
    return [UndoFailed(message.at, job.step, too_long(message), message.seconds, in_doubt=True)]


def _interrupted(board: Board, job: UndoStarted, *, has_journal: bool) -> e.Event:
    nested = job.call is None and (has_journal or board.repeatable(board.steps[job.step]))
    if nested or _repeatable(board, job):
        return e.Requeued(board.now, job.step, "interrupted")
    return UndoFailed(
        board.now, job.step, "interrupted; it is unknown whether it was undone", in_doubt=True
    )


CAPABILITY = Capability(
    work={UndoStarted: Work(_task, _finished, _timed_out, None, _interrupted)},
    context={UndoStarted: _context},
)
