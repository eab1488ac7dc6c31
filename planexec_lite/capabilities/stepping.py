"""Stepping (lesson 01): a step that starts becomes a task for the executor, and the outcome of the task an event."""

from __future__ import annotations

from typing import Any

from planexec_lite.capabilities import chosen_calls, doubt
from planexec_lite.core import Capability, Event, Task, Work
from planexec_lite.core.events import StepDone, StepFailed, StepPaused, StepStarted
from planexec_lite.core.executors import perform
from planexec_lite.core.tasks import Finished, Late, TimedOut, too_long
from planexec_lite.plan.data import copied
from planexec_lite.tools import REPEATABLE


def _task(agent: Any, run: Any, job: StepStarted) -> Task:
    step, results = run.board.steps[job.step], run.board.results
    inputs = {
        step_id: copied(results[step_id]) for step_id in step.depends_on if step_id in results
    }
    return Task(
        job,
        perform,
        (agent.executor, step, inputs),
        step.timeout,
        until=agent.policy.deadline,
        repeatable=run.board.effects[job.step] in REPEATABLE,
    )


def _finished(job: StepStarted, message: Finished) -> list[Event]:
    report, at, step_id = message.report, message.at, job.step
    usage, left = (message.seconds, report.calls), (report.leaves, report.chosen)
    if (waits := report.waits) is not None:
        inner = waits.question
        question = (
            chosen_calls.question_about(step_id, waits) if inner is None else inner.inside(step_id)
        )
        return [StepPaused(at, step_id, question, *usage, report.once, waits.made, *left)]
    if report.error is None:
        return [StepDone(at, step_id, report.value, *usage, *left)]
    if report.lost and not message.task.repeatable:
        return [doubt.StepInDoubt(at, step_id, f"{report.error}; {doubt.UNKNOWN}")]
    # after an at-most-once call began, it is unknown how much of the step was done
    return [StepFailed(at, step_id, report.error, *usage, report.once, report.final, *left)]


def _timed_out(job: StepStarted, message: TimedOut) -> list[Event]:
    return [
        StepFailed(
            message.at,
            job.step,
            too_long(message),
            message.seconds,
            in_doubt=True,
            final=not message.task.repeatable,  # a retry could run beside this attempt
            leaves=bool(job.inside),
        )
    ]


def _late(job: StepStarted, message: Late) -> list[Event]:
    report = message.report
    if report.lost:
        return []  # it proves neither that the call was made nor that it was not
    late = (report.value, report.error, message.seconds, report.calls)
    return [doubt.StepLate(message.at, job.step, *late)]


CAPABILITY = Capability(
    work={StepStarted: Work(_task, _finished, _timed_out, _late, doubt.interrupted)}
)
