"""The real clock: one job after the other on this thread (`Inline`), or jobs on threads and processes (`Pool`)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import (
    Cancelled,
    Finished,
    Late,
    Message,
    Progress,
    Report,
    Task,
    TimedOut,
)
from planexec_lite.frozen import frozen
from planexec_lite.meter import FOREVER
from planexec_lite.workers.session import (
    carried_by,
    carry_out_pickled,
    check_slots,
    described,
    measure,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_LOOK = 0.02  # seconds between two checks whether a job with a timeout has begun


@frozen
class Inline:
    """One step after the other, on this thread, on the real clock.

    A timeout is noticed when the step has ended. The steps of a streaming planner start when its answer is complete.
    The run waits for a backoff only when no other step is ready. `limits` says how many steps can use a resource at
    once.
    """

    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session that runs its jobs on this thread."""
        return _Session(now)


@frozen
class Pool:
    """The threads or processes of a `concurrent.futures.Executor`. The executor is not shut down.

    A cluster can make a call again when a worker dies, so `Pool` does not take it: `planexec_lab.cluster.ClusterPool`
    takes an executor of any kind, and lets each call begin once.

    If a process of a pool dies, the calls that it had are in doubt, unless they can be repeated: the run pauses until a
    person has said whether they were done.

    Each job is measured where it runs; planning and judging stay in this process. Threads see the context variables of
    the program that starts the run; other processes don't. A timeout counts from the moment when the executor starts
    the step. (A pool of processes says so of one queued step, too.) After a timeout the step's slot is free, but a
    thread can't be stopped: the step is in doubt, and occupies the executor's thread until it ends. A resource that it
    used, such as an oven, counts as free: otherwise the run could wait forever. At the run's deadline, steps that the
    executor has not started are cancelled.

    When this process is killed, the processes of a pool survive it: a step that one of them is running continues to its
    end, and queued steps no longer start.

    If a step on this executor runs a plan on the same executor, that plan runs inline, on the step's thread: otherwise
    it could wait forever for another thread.

    Args:
        executor: where the steps run.
        slots: how many are submitted at once; None: all that are ready.
        limits: how many steps can use a resource at once, such as ``{"oven": 1}``.

    Raises `TypeError` for anything but such an executor, and `RuntimeError` for threads and processes in a browser tab,
    which has none.
    """

    executor: Executor
    slots: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_slots(self.slots)
        if sys.platform == "emscripten":
            raise RuntimeError("a browser tab has no threads; use Inline or Simulated")
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

        if not isinstance(self.executor, ThreadPoolExecutor | ProcessPoolExecutor):
            raise TypeError(
                f"Pool takes a concurrent.futures.Executor of threads or processes, not {self.executor!r};"
                " write Pool(ThreadPoolExecutor(4)), or for a cluster planexec_lab.cluster.ClusterPool(executor)"
            )

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session on the executor; on one of the executor's own threads, an inline session."""
        if id(self.executor) in carried_by.get():
            return Inline().open(now)
        return _Session(now, self.slots or math.inf, self)

    def submit(self, task: Task, hear: Callable[[Any], bool]) -> Future[Report]:
        """Give a call to the executor and return its future. `hear` gets its live events, if they can be sent at once."""
        from concurrent.futures import ThreadPoolExecutor

        if isinstance(self.executor, ThreadPoolExecutor):
            context = copy_context()  # the thread gets the context variables of this one
            context.run(carried_by.set, carried_by.get() | {id(self.executor)})
            return self.executor.submit(context.run, measure, task.call, task.args, hear)
        import pickle

        # pickled here: a call that can't be sent has not begun
        sent = (task.call, task.args, carried_by.get() | {id(self.executor)})
        return self.executor.submit(carry_out_pickled, pickle.dumps(sent))


@dataclass(eq=False, slots=True)
class _Job:
    """A task that runs or only waits. `number` is its place in the order of starting; times are on the session's clock."""

    number: int
    task: Task
    started: float = 0.0  # when its rest began
    end: float = math.inf  # when it times out, or has waited
    limit: float = 0.0  # seconds from its beginning until it times out; 0 until the session saw that it has begun
    future: Future[Report] | None = None  # None: it runs here, or only waits
    given_up: bool = False  # it exceeded its time
    cancelled: bool = False

    def cancel(self) -> None:
        """End its rest, or cancel it unless it has begun; its future reports that."""
        if self.future is None:
            self.end = 0.0
        elif not self.given_up:
            with suppress(Exception):  # some executors ask a scheduler, which might not answer
                self.cancelled = self.future.cancel()


class _News(NamedTuple):
    """A job gave its `Report` in the end, or an event inside it; `at` is when."""

    job: _Job
    what: Any
    at: float


class _Session:
    """The jobs of one run: on the executor of a pool, or each one when it is started."""

    def __init__(self, now: float, slots: float = 1, pool: Pool | None = None) -> None:
        self.epoch = perf_counter() - now
        self.free = slots
        self.pool = pool
        self.numbers = count()
        # by number: the jobs that can still be cancelled, and those that rest or can time out
        self.jobs: dict[int, _Job] = {}
        self.timed: dict[int, _Job] = {}
        self.news: SimpleQueue[_News] = SimpleQueue()

    def __enter__(self) -> WorkerSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.cancel()

    @property
    def queued(self) -> bool:
        """Whether a task might be queued, or only waits."""
        return bool(self.jobs)

    def now(self) -> float:
        """Return the time on the session's clock."""
        return round(perf_counter() - self.epoch, 9)

    def start(self, task: Task) -> None:
        """Submit a task, run it here, or let it rest. On a pool, a planner that streams gets a thread of its own."""
        job = _Job(next(self.numbers), task)
        if task.rest is not None:
            job.started = self.now()
            job.end = job.started + task.rest
            self.jobs[job.number] = self.timed[job.number] = job
            return
        if not task.live:
            self.free -= 1
        work = partial(measure, task.call, task.args, partial(self._hear, job))
        if self.pool is None or (task.here and not task.live):
            self._report(job, work())
        elif task.live:
            run = partial(copy_context().run, self._ended, job, work)
            Thread(target=run, name="planner", daemon=True).start()
        else:
            self._submit(job, self.pool)

    def wait(self) -> Sequence[Message]:
        """Wait for the next messages."""
        messages: list[Message] = []
        while not messages:
            messages, patience = self._out_of_time() if self.timed else ([], None)
            news = self._news(0.0 if messages else patience)
            at = self.now()
            # messages that came together are sorted by the start of their jobs, not by the speed of threads
            news.sort(key=lambda one: one.job.number)
            for one in news:
                messages += self._messages(one, at)
        return messages

    def cancel(self) -> None:
        """End all rests, and cancel every task that has not begun."""
        for job in self.jobs.values():
            job.cancel()

    def _submit(self, job: _Job, pool: Pool) -> None:
        task = job.task
        try:
            job.future = pool.submit(task, partial(self._hear, job))
        except Exception as problem:
            # a pool can queue a call before it fails to start a thread or a process for it
            queued = isinstance(problem, OSError) or "can't start new thread" in str(problem)
            self._report(job, Report(error=described(problem), lost=queued))
            return
        self.jobs[job.number] = job
        if task.until is not None:
            job.end = task.until
        if task.limit(job.started) is not None:
            self.timed[job.number] = job
        job.future.add_done_callback(lambda done: self._ended(job, done.result))

    def _ended(self, job: _Job, result: Callable[[], Report]) -> None:
        """Report what `result` returns or raises, on any thread."""
        try:
            report = result()
        except BaseException as problem:
            lost = type(problem).__name__ != "CancelledError"
            report = Report(error=described(problem), lost=lost)
        self._report(job, report)

    def _hear(self, job: _Job, event: Any) -> bool:
        """Report at once an event inside a running job. Return whether it was reported."""
        heard: bool = job.task.live or getattr(event, "live", False)
        if heard:
            self._report(job, event)
        return heard

    def _report(self, job: _Job, what: Any) -> None:
        self.news.put(_News(job, what, self.now()))

    def _news(self, patience: float | None) -> list[_News]:
        """Return what was reported. If nothing was, wait for it, `patience` seconds at most; None: without a limit."""
        news: list[_News] = []
        if self.news.empty():
            if self.pool is None:
                sleep(patience or 0.0)  # a browser tab can't wait for a queue
            else:
                with suppress(Empty):
                    news.append(self.news.get(timeout=patience))
        while not self.news.empty():  # no other thread takes from it
            news.append(self.news.get())
        return news

    def _messages(self, news: _News, at: float) -> list[Message]:
        """Return the messages that a report gives. All of them have the time `at`, which is now."""
        job, report = news.job, news.what
        task = job.task
        if not isinstance(report, Report):
            return [Progress(task, at, report)]
        self.jobs.pop(job.number, None)
        self.timed.pop(job.number, None)
        if not (task.live or job.given_up):
            self.free += 1
        if job.cancelled:
            return [Cancelled(task, at)]
        report.lost = report.lost and not task.repeatable
        took = report.took
        inside = [(at - took + after, event) for _, after, event in report.events]
        limit = task.limit(news.at - took)
        if job.given_up:
            return [Late(task, report, at, took, inside)]
        if limit is not None and took > limit:
            return [TimedOut(task, at, limit), Late(task, report, at, took, inside)]
        return [Finished(task, report, at, took, inside)]

    def _out_of_time(self) -> tuple[list[Message], float | None]:
        """End the rests that are over, and give up the jobs that exceeded their time. A job that has not begun is cancelled
        instead.

        Returns the messages, and the seconds until the next such end, or until a job might have begun; None: without a limit.
        """
        messages: list[Message] = []
        left: list[float] = []
        now = self.now()
        for number, job in [*self.timed.items()]:
            future = job.future
            if future is not None and not job.limit:
                left.append(_LOOK)
                if future.running():
                    job.limit = job.task.limit(now) or 0.0
                    job.end = now + job.limit
            if now < job.end:
                left.append(job.end - now)
            elif future is None:
                self._report(job, Report(took=now - job.started))  # a rest is over
            elif not future.done():
                if not job.limit:
                    job.cancel()
                if not job.cancelled:
                    del self.timed[number]
                    job.given_up = True
                    self.free += 1
                    messages.append(TimedOut(job.task, now, job.limit))
        return messages, min(*left, FOREVER) if left else None
