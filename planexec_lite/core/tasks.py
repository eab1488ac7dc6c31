"""Tasks for workers, and the workers' messages about them. Workers know nothing about plans: a task is a function
and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from planexec_lite.meter import MakeKey, ModelCall, Waits


@dataclass(slots=True)
class Task:
    """A call ``call(*args)`` for the job that `event` started.

    Args:
        timeout: seconds of work after which the task times out; None: never.
        here: run the task in this process, outside the executor's threads.
        live: the task takes no slot, and its inner events are reported while it runs.
        rest: the task only waits, for this number of seconds or until the session cancels it. It is also live.
        until: the deadline on the session's clock, which also applies to a task that has not begun.
        repeatable: a repeat does no harm.
        key: makes the idempotency key of the call; None: it has none.
    """

    event: Any
    call: Callable[..., Any]
    args: tuple[Any, ...] = ()
    timeout: float | None = None
    here: bool = False
    live: bool = False
    rest: float | None = None
    until: float | None = None
    repeatable: bool = False
    key: MakeKey | None = None

    def limit(self, began: float) -> float | None:
        """Return the seconds after which a task that began at `began` (session clock) times out; None: never."""
        if self.until is None:
            return self.timeout
        left = max(0.0, round(self.until - began, 9))
        return left if self.timeout is None else min(self.timeout, left)


@dataclass(slots=True)
class Report:
    """The result of a task: its value or error, declared and measured seconds, model calls, and inner events.

    `once`: an at-most-once call was made, even if the task failed. `final`: a retry can't remove the error. `waits`:
    why the step waits for a person, if it does. `leaves`, `chosen`: see `StepDone`. `lost`: the worker was lost after it began,
    so it is unknown how far it came.
    """

    value: Any = None
    error: str | None = None
    declared: float = 0.0
    took: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    events: tuple[tuple[float, float, Any], ...] = ()
    once: bool = False
    final: bool = False
    waits: Waits | None = None
    leaves: bool = False
    chosen: tuple[Any, ...] = ()
    lost: bool = False


@dataclass(slots=True)
class Reported:
    """A task and its report, with times on the session's clock: when it ended, its seconds of work, and its inner
    events.
    """

    task: Task
    report: Report
    at: float
    seconds: float
    inside: Sequence[tuple[float, Any]] = ()


class Finished(Reported):
    """A task has ended in time."""


class Late(Reported):
    """A task ended after its timeout."""


class TimedOut(NamedTuple):
    """A task exceeded its timeout; `at` is when the session noticed it."""

    task: Task
    at: float
    seconds: float


class Progress(NamedTuple):
    """An event happened inside a task that is still running."""

    task: Task
    at: float
    event: Any


class Cancelled(NamedTuple):
    """A task was cancelled before it began."""

    task: Task
    at: float


Message = Finished | TimedOut | Late | Progress | Cancelled
MakeTask = Callable[[Any, Any, Any], Task]
"""Makes the task of a job, given the agent, the run and the job."""


class Work(NamedTuple):
    """How one type of job is carried out, and which events follow from its outcome.

    `timed_out` and `late` are for jobs that can time out. `interrupted` gets the board and a job that was running when the run was
    interrupted, and returns its event. Without an event, the job is requeued, like a job that is cancelled before it begins.
    """

    task: MakeTask
    finished: Callable[[Any, Finished], Sequence[Any]]
    timed_out: Callable[[Any, TimedOut], Sequence[Any]] | None = None
    late: Callable[[Any, Late], Sequence[Any]] | None = None
    interrupted: Callable[[Any, Any], Any] | None = None

    @classmethod
    def asking(cls, task: MakeTask, failed: Callable[[float, Any, str], Any]) -> Work:
        """Return the work of a job that asks a planner or an evaluator.

        The task returns the outcome of the job, which then gets its time, seconds and model calls. `failed` gets the time, the job
        and an error that was raised, and returns the outcome instead.
        """

        def finished(job: Any, message: Finished) -> list[Any]:
            at, report = message.at, message.report
            outcome = report.value if report.error is None else failed(at, job, report.error)
            return [replace(outcome, at=at, seconds=message.seconds, calls=report.calls)]

        return cls(task, finished)

    @classmethod
    def waiting(cls, ended: Callable[[float, Any, float], Any]) -> Work:
        """Return the work of a job that only waits for its `seconds`, and holds no slot.

        `ended` gets the time, the job and the seconds that it has waited, and returns the event. A wait that is interrupted
        has ended.
        """
        return cls(
            task=lambda _agent, _run, job: Task(job, _nothing, live=True, rest=job.seconds),
            finished=lambda job, message: [ended(message.at, job, message.seconds)],
            interrupted=lambda board, job: ended(board.now, job, 0.0),
        )


def _nothing() -> None:
    """Do nothing while a job waits."""
