"""The loop: decide, record, start, wait, record. Everything that a job is, and what becomes of it, comes from the agent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from planexec_lite.core.board import Board
from planexec_lite.core.decide import HOLD, Answer
from planexec_lite.core.events import Event, Job, Requeued
from planexec_lite.core.tasks import Cancelled, Finished, Late, Message, Task, TimedOut


class Work(NamedTuple):
    """How one type of job is carried out: the task of a job, and what is recorded when it has finished.

    `timed_out` and `late` are for jobs that can be given up. `interrupted` says what becomes of a job that was in flight when
    the run was left, and whether the run has a journal; None: it is requeued, as is a job that is taken back before it began.
    """

    task: Callable[[Any, Any, Any], Task]
    finished: Callable[[Any, Finished], Sequence[Event]]
    timed_out: Callable[[Any, TimedOut], Sequence[Event]] | None = None
    late: Callable[[Any, Late], Sequence[Event]] | None = None
    interrupted: Callable[[Board, Any, bool], Event] | None = None


class RunRecord(Protocol):
    """The run that the loop fills."""

    @property
    def board(self) -> Board:
        """Where it stands."""

    def record(self, event: Event) -> None:
        """Show an event on the board, and keep it."""

    def commit(self) -> None:
        """Write down what was recorded."""

    def take_news(self) -> None:
        """Record what the run was told from outside."""


class Agent(Protocol):
    """What the loop asks: the task of a job, and the events of a message."""

    watch: Callable[[Any], None] | None

    def task(self, run: Any, job: Job) -> Task:
        """Return what the workers carry out for a job."""

    def outcomes(self, message: Message) -> Sequence[Event]:
        """Return what a message of the workers means."""


class WorkerSession(Protocol):
    """The workers of one run."""

    free: float

    @property
    def queued(self) -> bool:
        """Whether tasks may have been handed over that have not begun, or only rest."""

    def start(self, task: Task) -> None:
        """Take a task; only while `free` is at least 1."""

    def wait(self) -> Sequence[Message]:
        """Return what the session has to say next; only while tasks are in flight."""

    def cancel(self) -> None:
        """Take back every task that has not begun; what only rests is over at once."""


def drive(run: RunRecord, decide: Callable[[Board], Answer], agent: Agent, session: WorkerSession) -> None:
    """Carry `run` on until it has ended or paused. This is the loop of the whole pattern."""
    while True:
        run.take_news()
        jobs: deque[Job] = deque()
        tasks: deque[Task] = deque()
        slots = session.free
        try:
            # all that may start together is decided and shown before any of it begins
            while slots >= 1 and isinstance(event := decide(run.board), Event):
                run.record(event)
                if isinstance(event, Job):
                    jobs.append(event)
                    tasks.append(agent.task(run, event))
                    slots -= not tasks[-1].live
            run.commit()  # what is done is on disk before what follows from it begins
            if agent.watch:
                agent.watch(run)
            while tasks:
                jobs.popleft()
                session.start(tasks.popleft())
        except BaseException:
            for job in jobs:  # they have not begun: whoever goes on with the run need have no doubt about them
                run.record(Requeued(run.board.now, job.id, "cancelled"))
            raise
        if not run.board.in_flight:
            return
        if session.queued and decide(run.board) is HOLD:
            session.cancel()
        for message in session.wait():
            if isinstance(message, Cancelled):
                run.record(Requeued(message.at, message.task.event.id, "cancelled"))
            else:
                for event in agent.outcomes(message):
                    run.record(event)
