"""The loop: decide, record, start jobs, wait, record the outcomes. The agent defines what a job does and what its
outcome means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from planexec_lite.core.board import Board
from planexec_lite.core.decide import HOLD, Choice
from planexec_lite.core.events import Event, Job, Requeued
from planexec_lite.core.tasks import Cancelled, Message, Task


class RunRecord(Protocol):
    """The run that the loop drives."""

    @property
    def board(self) -> Board:
        """The state of the run."""

    def record(self, event: Event) -> None:
        """Apply an event to the board and append it."""

    def commit(self) -> None:
        """Save the events recorded so far."""

    def take_news(self) -> None:
        """Record the news that was sent to the run."""


class Agent(Protocol):
    """The agent turns jobs into tasks, and messages into events."""

    watch: Callable[[Any], None] | None

    def task(self, run: Any, job: Job) -> Task:
        """Return the task that the workers run for a job."""

    def outcomes(self, message: Message) -> Sequence[Event]:
        """Return the events that result from a message of the workers."""


class WorkerSession(Protocol):
    """The workers of a run while it is driven."""

    free: float

    @property
    def queued(self) -> bool:
        """Whether a task might still be queued or only waiting, so that `cancel` could release it."""

    def start(self, task: Task) -> None:
        """Accept a task. Call it only while `free` is at least 1."""

    def wait(self) -> Sequence[Message]:
        """Wait for the next messages and return them. Call it only while tasks are in flight."""

    def cancel(self) -> None:
        """Cancel every task that has not begun, and end pure waiting times at once."""


def drive(
    run: RunRecord, choose: Callable[[Board], Choice], agent: Agent, session: WorkerSession
) -> None:
    """Drive `run` until it has ended or paused. This is the loop of the whole pattern.

    Raises `RuntimeError` if a rule or a guard waits although no job is running.
    """
    while True:
        run.take_news()
        jobs: list[Job] = []
        tasks: list[Task] = []
        slots = session.free
        try:
            # all jobs that can start together are recorded before the first one begins
            while slots >= 1 and isinstance(event := choose(run.board), Event):
                run.record(event)
                if isinstance(event, Job):
                    jobs.append(event)
                    tasks.append(agent.task(run, event))
                    slots -= not tasks[-1].live
            run.commit()  # results are on disk before the steps that depend on them start
            if agent.watch:
                agent.watch(run)
            for task in tasks:
                del jobs[0]  # it has begun
                session.start(task)
        except BaseException:
            for job in jobs:  # they have not begun, so a resumed run can simply start them again
                run.record(Requeued(run.board.now, job.id, "cancelled"))
            raise
        if not run.board.in_flight:
            if not (run.board.ended or run.board.paused):
                raise RuntimeError("no job runs or can start: a rule or a guard waits for nothing")
            return
        if session.queued and choose(run.board) is HOLD:
            session.cancel()
        for message in session.wait():
            if isinstance(message, Cancelled):
                run.record(Requeued(message.at, message.task.event.id, "cancelled"))
            else:
                for event in agent.outcomes(message):
                    run.record(event)
