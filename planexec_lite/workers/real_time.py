"""The real clock: one job after the other on this thread (`Inline`), or jobs on threads and processes (`Pool`)."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
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
from planexec_lite.meter import FOREVER
from planexec_lite.workers.session import (
    Submission,
    carried_by,
    carry_out,
    carry_out_pickled,
    check_slots,
    described,
    measure,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_LOOK = 0.02  # seconds between two checks whether a job with a timeout has begun
_KINDS = {"ThreadPoolExecutor", "ProcessPoolExecutor"}
_NO_THREAD = "can't start new thread"  # a pool queues the call before it raises this error


@dataclass(frozen=True, slots=True)
class Inline:
    """One step after the other, on this thread, on the real clock.

    A timeout is noticed when the step has ended. The steps of a streaming planner start when its answer is complete.
    The run waits for a backoff only when no other step is ready. `limits` says how many steps can use a resource at
    once.
    """

    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session that runs its jobs on this thread."""
        return nullcontext(_InlineSession(now))


@dataclass(frozen=True, slots=True)
class Pool:
    """The threads or processes of a `concurrent.futures.Executor`. The executor is not shut down.

    A cluster can make a call again when a worker dies, so `Pool` does not take it: `planexec_lab.cluster.ClusterPool`
    takes an executor of any kind, and lets each call begin once. `Pool` also takes an executor that promises this
    itself: its ``keys`` are the idempotency keys of the calls that it has, or whose results it has, perhaps from an
    earlier process.

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
        kinds = _kinds_of(self.executor)
        if sys.platform == "emscripten" and kinds & _KINDS:
            raise RuntimeError("a browser tab has no threads; use Inline or Simulated")
        if not kinds & _KINDS and not hasattr(self.executor, "keys"):
            raise TypeError(
                f"Pool takes a concurrent.futures.Executor of threads or processes, not {self.executor!r};"
                " write Pool(ThreadPoolExecutor(4)), or for a cluster planexec_lab.cluster.ClusterPool(executor)"
            )

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session on the executor; on one of the executor's own threads, an inline session."""
        if id(self.executor) in carried_by.get():
            return Inline().open(now)
        return _PoolSession(self.executor, self.slots, now)

    def holds(self, key: str) -> bool:
        """Return whether the executor outlives this process and has the call of this idempotency key, or its result."""
        return key in getattr(self.executor, "keys", ())


def _kinds_of(executor: object) -> frozenset[str]:
    """Return the names of the classes of an executor: to import that of processes is slow, and loky has its own."""
    return frozenset(kind.__name__ for kind in type(executor).__mro__)


class _Rest(NamedTuple):
    """A task that only waits, with its times on the computer's clock."""

    end: float
    since: float
    task: Task


class _InlineSession:
    """A session that runs each job when it is started."""

    def __init__(self, now: float, slots: float = 1) -> None:
        self.epoch = perf_counter() - now
        self.free = slots
        self.resting: list[_Rest] = []
        self.ended: list[tuple[Task, Report, float]] = []  # and when each ended

    @property
    def queued(self) -> bool:
        """Whether a task only waits."""
        return bool(self.resting)

    def now(self) -> float:
        """Return the time on the session's clock."""
        return round(perf_counter() - self.epoch, 9)

    def start(self, task: Task) -> None:
        """Run a task, or let it rest."""
        if task.rest is not None:
            since = perf_counter()
            self.resting.append(_Rest(since + task.rest, since, task))
            return
        if not task.live:
            self.free -= 1
        report = measure(task.call, task.args)
        self.ended.append((task, report, perf_counter()))

    def wait(self) -> Sequence[Message]:
        """Return the messages about tasks that have ended; if there are none, wait for the end of a rest."""
        while not (messages := self.messages()):
            seconds = min(rest.end for rest in self.resting) - perf_counter()
            sleep(min(max(seconds, 0.0), FOREVER))
        return messages

    def messages(self) -> list[Message]:
        """Return the messages about rests and tasks that have ended."""
        messages: list[Message] = []
        now = perf_counter()
        at = round(now - self.epoch, 9)
        if self.resting:
            over = [rest for rest in self.resting if rest.end <= now]
            self.resting = [rest for rest in self.resting if rest.end > now]
            for rest in over:
                took = now - rest.since
                messages.append(Finished(rest.task, Report(took=took), at, took))
        for task, report, ended in self.ended:
            if not task.live:
                self.free += 1
            messages += _outcome(task, report, at, ended - self.epoch)
        self.ended.clear()
        return messages

    def cancel(self) -> None:
        """End all rests."""
        self.resting = [rest._replace(end=0.0) for rest in self.resting]


@dataclass(eq=False, slots=True)
class _Job:
    """A task on an executor, or a planner on a thread. `number` is its place in the order of starting."""

    number: int
    task: Task
    end: float = math.inf  # when it times out, on the computer's clock
    limit: float = 0.0  # seconds from its beginning until it times out; 0 until the session saw that it has begun
    given_up: bool = False  # it exceeded its time
    cancelled: bool = False


class _News(NamedTuple):
    """What happened to a job, and when, on the computer's clock."""

    job: _Job
    what: Report | Progress
    at: float


class _PoolSession(_InlineSession):
    """The jobs of one run on an executor."""

    def __init__(self, executor: Executor, slots: int | None, now: float) -> None:
        super().__init__(now, slots or math.inf)
        self.executor = executor
        self.kinds = _kinds_of(executor)
        self.waiting = carried_by.get() | {
            id(executor)
        }  # the executors that wait for the jobs, by their id
        self.started = 0
        self.submitted: dict[_Job, Future[Report]] = {}
        self.limited: dict[_Job, Future[Report]] = {}  # those with a timeout or deadline
        self.news: SimpleQueue[_News] = SimpleQueue()

    def __enter__(self) -> WorkerSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.cancel()

    @property
    def queued(self) -> bool:
        """Whether a task might be queued, or only waits."""
        return bool(self.submitted or self.resting)

    def start(self, task: Task) -> None:
        """Submit a task; a planner that streams gets a thread of its own."""
        if task.rest is not None or (task.here and not task.live):
            super().start(task)
            return
        self.started += 1
        job = _Job(self.started, task)
        if task.live:
            run = partial(copy_context().run, self._stream, job)
            Thread(target=run, name="planner", daemon=True).start()
            return
        self.free -= 1
        try:
            future = self._submitted(job)
        except Exception as problem:
            # a pool can queue a call before it fails to start a thread or a process for it
            queued = isinstance(problem, OSError) or _NO_THREAD in str(problem)
            self._report(job, Report(error=described(problem), lost=queued))
            return
        self.submitted[job] = future
        if task.timeout is not None or task.until is not None:
            self.limited[job] = future
        if task.until is not None:
            job.end = self.epoch + task.until
        future.add_done_callback(partial(self._ended, job))

    def wait(self) -> Sequence[Message]:
        """Wait for the next messages."""
        while True:
            messages = self.messages()
            if self.limited:
                messages += self._timed_out()
            patience = 0 if messages else self._patience()
            news = self._news(patience)
            at = self.now()
            # messages that came together are sorted by the start of their jobs, not by the speed of threads
            news.sort(key=lambda one: one.job.number)
            for one in news:
                messages += self._messages(one, at)
            if messages:
                return messages

    def cancel(self) -> None:
        """End all rests, and cancel every task that has not begun."""
        super().cancel()
        for job, future in list(self.submitted.items()):
            if not job.given_up:
                _cancel(job, future)

    def _submitted(self, job: _Job) -> Future[Report]:
        """Give the call to the executor and return its future."""
        task = job.task
        if "ThreadPoolExecutor" in self.kinds:  # its threads get the context variables of this one
            work = Submission(task.call, task.args, self.waiting)
            hear = partial(self._hear, job)
            return self.executor.submit(copy_context().run, carry_out, work, hear)
        key = None if task.key is None else task.key()
        work = Submission(task.call, task.args, self.waiting, key, task.repeatable)
        if (
            "ProcessPoolExecutor" in self.kinds
        ):  # pickled here: a call that can't be sent has not begun
            import pickle

            return self.executor.submit(carry_out_pickled, pickle.dumps(work))
        return self.executor.submit(carry_out, work)

    def _ended(self, job: _Job, future: Future[Report]) -> None:
        """Report what the executor says about a job, on any thread."""
        try:
            report = future.result()
        except BaseException as problem:
            report = Report(error=described(problem), lost=not future.cancelled())
        self._report(job, report)

    def _stream(self, job: _Job) -> None:
        try:
            hear = partial(self._hear, job)
            report = measure(job.task.call, job.task.args, hear)
        except BaseException as problem:
            report = Report(error=described(problem))
        self._report(job, report)

    def _hear(self, job: _Job, event: Any) -> bool:
        """Report at once an event inside a running job. Return whether it was reported."""
        heard: bool = job.task.live or getattr(event, "live", False)
        if heard:
            self._report(job, Progress(job.task, 0.0, event))
        return heard

    def _report(self, job: _Job, what: Report | Progress) -> None:
        self.news.put(_News(job, what, perf_counter()))

    def _news(self, patience: float | None) -> list[_News]:
        """Return what was reported. Wait for the first, but at most `patience` seconds; None: without a limit."""
        try:
            news = [self.news.get(timeout=patience)]
        except Empty:
            return []
        for _ in range(self.news.qsize()):
            news.append(self.news.get())
        return news

    def _messages(self, news: _News, at: float) -> list[Message]:
        """Return the messages that a report gives."""
        job, what = news.job, news.what
        task = job.task
        if isinstance(what, Progress):
            return [what._replace(at=at)]
        self.submitted.pop(job, None)
        self.limited.pop(job, None)
        what.lost = what.lost and not task.repeatable
        if job.given_up:
            return [Late(task, what, at, what.took, _inside(what, at))]
        if not task.live:
            self.free += 1
        if job.cancelled:
            return [Cancelled(task, at)]
        return _outcome(task, what, at, news.at - self.epoch)

    def _patience(self) -> float | None:
        """Return the seconds until a rest or a limit ends, or a job might have begun; None: without a limit."""
        if not self.resting and not self.limited:
            return None
        now = perf_counter()
        left = [rest.end - now for rest in self.resting]
        left += [job.end - now for job in self.limited]
        left += [_LOOK for job in self.limited if not job.limit]
        return max(0.0, min(*left, FOREVER))

    def _timed_out(self) -> list[Message]:
        """Give up the jobs that exceeded their time. Those that have not begun are cancelled instead."""
        messages: list[Message] = []
        now = perf_counter()
        for job, future in list(self.limited.items()):
            if not job.limit and future.running():
                job.limit = job.task.limit(now - self.epoch) or 0.0
                job.end = now + job.limit
            if now < job.end or future.done():
                continue
            del self.limited[job]
            if job.limit or not _cancel(job, future):
                job.given_up = True
                self.free += 1
                messages.append(TimedOut(job.task, now - self.epoch, job.limit))
        return messages


def _cancel(job: _Job, future: Future[Report]) -> bool:
    """Cancel a job unless it has begun. Return whether it is cancelled; its future reports that."""
    with suppress(Exception):  # some executors ask a scheduler, which might not answer
        job.cancelled = future.cancel()
    return job.cancelled


def _outcome(task: Task, report: Report, at: float, ended: float) -> list[Message]:
    """Return the messages about a task that ended at `ended`; `at` is now. Both are on the session's clock."""
    limit, inside = task.limit(ended - report.took), _inside(report, at)
    if limit is not None and report.took > limit:
        late = Late(task, report, at, report.took, inside)
        return [TimedOut(task, at, limit), late]
    if task.live:
        return [
            *(Progress(task, at, event) for _, event in inside),
            Finished(task, report, at, report.took),
        ]
    return [Finished(task, report, at, report.took, inside)]


def _inside(report: Report, at: float) -> list[tuple[float, Any]]:
    """Return the events inside a job that ended at `at`, and when each happened."""
    if not report.events:
        return []
    return [(at - report.took + after, event) for _, after, event in report.events]
