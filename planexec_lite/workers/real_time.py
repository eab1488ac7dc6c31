"""The real clock: one job after the other on this thread, or any `concurrent.futures.Executor`: threads, processes, a cluster.

Few executors say truly which calls have begun. Executors of processes call queued ones running. Those of clusters call none
running, and let you cancel one that is; if a worker dies, some repeat what it had begun. So each call needs a permit, which either
a worker takes or the session withdraws. The permit answers: has the call begun, can it be cancelled, did another worker begin it?
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from queue import Empty, SimpleQueue
from shutil import rmtree
from tempfile import mkdtemp
from threading import Thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Cancelled, Finished, Late, Message, Progress, Report, Task, TimedOut
from planexec_lite.meter import FOREVER
from planexec_lite.workers.session import (
    Submission,
    carried_by,
    carry_out,
    check_slots,
    described,
    is_taken,
    measure,
    withdraw_permit,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor as FutureExecutor
    from concurrent.futures import Future

_LOOK = 0.02  # seconds between two checks whether a job with a timeout has begun
_NO_THREAD = "can't start new thread"  # a pool of threads queues the call before it raises this error
_SUBMISSIONS = 4  # of one call, if an executor loses it again and again


@dataclass(frozen=True, slots=True)
class Inline:
    """One step after the other, on this thread, on the real clock.

    A timeout is noticed when the step has ended. The steps of a streaming planner start when its answer is complete. The run waits
    for a backoff only when no other step is ready. `limits` says how many steps can use a resource at once.
    """

    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session that runs its jobs on this thread."""
        return _Session(None, perf_counter() - now, 1)


@dataclass(frozen=True, slots=True)
class Pool:
    """Any `concurrent.futures.Executor`: threads, processes, a cluster. The executor is not shut down.

    If the executor loses a worker, calls that have not begun, or that can be repeated, are submitted again, four times at most.
    Another call that has begun is in doubt: the run pauses until a person has said whether it was done.

    Each job is measured where it runs; planning and judging stay in this process. Threads see the context variables of the program
    that starts the run; other processes don't. A timeout counts from the moment when the
    executor starts the step. After a timeout the step's slot is free, but a thread can't be stopped: the step is in doubt, and
    occupies the executor's thread until it ends. A resource that it used, such as an oven, counts as free: otherwise the run could
    wait forever. At the run's deadline, steps that the executor has not started are cancelled.

    When this process is killed, the processes of a pool survive it: a step that one of them is running continues to its end, and
    queued steps no longer start.

    If a step on this executor runs a plan on the same executor, that plan runs inline, on the step's thread: otherwise it could
    wait forever for another thread.

    Args:
        executor: where the steps run; or a function that returns it, which each run calls once, and again if it breaks.
        slots: how many are submitted at once; None: all that are ready.
        limits: how many steps can use a resource at once, such as ``{"oven": 1}``.
        permits: a folder that this process and the workers share, if they are on several machines; None: a temporary one.

    Raises `TypeError` for anything but an executor, and `RuntimeError` for threads and processes in a browser tab, which has none.
    """

    executor: FutureExecutor | Callable[[], FutureExecutor]
    slots: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)
    permits: str | Path | None = None

    def __post_init__(self) -> None:
        check_slots(self.slots)
        given: object = self.executor
        if sys.platform == "emscripten" and type(given).__module__.startswith("concurrent."):
            raise RuntimeError("a browser tab has no threads; use Inline or Simulated")
        from concurrent.futures import Executor

        if not isinstance(given, Executor) and (isinstance(given, type) or not callable(given)):
            threads = given if type(given) is int and given > 0 else 2
            raise TypeError(
                f"Pool takes a concurrent.futures.Executor, not {given!r};"
                f" write Pool(ThreadPoolExecutor({threads})) for threads"
            )

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session that submits its jobs to the executor; on one of the executor's own threads, an inline session."""
        if id(self.executor) in carried_by.get():
            return Inline().open(now)
        return _Session(self, perf_counter() - now, math.inf if self.slots is None else self.slots)

    def holds(self, key: str) -> bool:
        """Return whether the executor outlives this process and still has the call of this idempotency key, or its result."""
        return key in getattr(self.executor, "keys", ())


@dataclass
class _Submitted:
    """A job that the executor has, with its permit, if it needs one, and the number of its submissions."""

    task: Task
    future: Future[Report]
    permit: str | None
    times: int

    def has_begun(self) -> bool:
        return self.future.running() if self.permit is None else is_taken(self.permit)


def _is_cancelled(future: Future[Report]) -> bool:
    """Cancel a future. Return whether it is cancelled; a future whose `cancel` raises is not."""
    with suppress(Exception):
        return future.cancel()
    return False


@dataclass
class _Session:
    """The jobs of one run, by their number in the order of starting. Without a pool, a job runs when it is started.

    `limited` has the jobs with a timeout or deadline, and when the executor began with each. `resting` says since when a job rests.
    `threads`: the executor is a pool of threads, so a job can report while it runs.
    """

    pool: Pool | None
    epoch: float
    free: float
    started: int = 0
    executor: FutureExecutor | None = None
    threads: bool = False
    permits: str | None = None
    submitted: dict[int, _Submitted] = field(default_factory=dict)
    limited: dict[int, tuple[Task, float | None]] = field(default_factory=dict)
    given_up: set[int] = field(default_factory=set)
    cancelled: set[int] = field(default_factory=set)
    resting: dict[int, tuple[Task, float]] = field(default_factory=dict)
    streaming: set[int] = field(default_factory=set)
    news: SimpleQueue[tuple[int, Task, Report | Progress, float]] = field(default_factory=SimpleQueue)

    def __enter__(self) -> WorkerSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.cancel()
        if self.permits is not None:
            # renamed first: no permit can be taken while the folder is being removed
            with suppress(OSError):
                rmtree(Path(self.permits).rename(f"{self.permits}-over"), ignore_errors=True)

    @property
    def queued(self) -> bool:
        return bool(self.submitted or self.resting)

    def start(self, task: Task) -> None:
        self.free -= not task.live
        self.started += 1
        number = self.started
        if task.rest is not None:
            self.resting[number] = (task, perf_counter())
        elif self.pool is None:
            self._put(number, task, measure(task.call, task.args))
        elif task.live:
            self.streaming.add(number)
            stream = (self._stream, number, task)
            Thread(target=copy_context().run, args=stream, name="planner", daemon=True).start()
        elif task.here:
            self._put(number, task, measure(task.call, task.args))
        else:
            self._submit(self.pool, number, task)

    def wait(self) -> Sequence[Message]:
        while True:
            if self.resting:
                self._end_rests(perf_counter())
            messages = self._overdue() if self.limited else []
            news = self._news(0 if messages else self._patience())
            at = round(perf_counter() - self.epoch, 9)
            # messages that came together are sorted by the start of their jobs, not by the speed of threads
            for number, task, what, came in sorted(news, key=itemgetter(0)):
                messages += self._messages(number, task, what, at, came - self.epoch)
            if messages:
                return messages

    def cancel(self) -> None:
        self._end_rests(math.inf)
        for number in list(self.submitted):
            self._withdraw(number)

    def _put(self, number: int, task: Task, what: Report | Progress) -> None:
        self.news.put((number, task, what, perf_counter()))

    def _submit(self, pool: Pool, number: int, task: Task, times: int = 1) -> None:
        work = None
        try:
            executor = self._executor_of(pool)
            if id(executor) in carried_by.get():  # this thread is one of its threads, perhaps the last free one
                self._put(number, task, measure(task.call, task.args))
                return
            work = self._work(pool, executor, number, task, times)
            try:
                future = self._submitted_to(executor, work)
            except RuntimeError as problem:  # it is broken or shut down; perhaps a new one can be made
                if _NO_THREAD in str(problem):
                    raise
                self.executor = None
                future = self._submitted_to(self._executor_of(pool), work)
            future.add_done_callback(partial(self._ended, number, task))
        except Exception as problem:
            self.limited.pop(number, None)  # of an earlier submission
            lost = work is not None and not (
                withdraw_permit(work.permit) if work.permit else _NO_THREAD not in str(problem)
            )
            self._put(number, task, Report(error=described(problem), lost=lost))
            return
        self.submitted[number] = _Submitted(task, future, work.permit, times)
        if task.timeout is not None or task.until is not None:
            self.limited[number] = (task, None)

    def _submitted_to(self, executor: FutureExecutor, work: Submission) -> Future[Report]:
        # a thread gets the context variables of this one; another process can't
        return (
            executor.submit(copy_context().run, carry_out, work) if self.threads else executor.submit(carry_out, work)
        )

    def _executor_of(self, pool: Pool) -> FutureExecutor:
        from concurrent.futures import Executor, ThreadPoolExecutor

        if self.executor is None:
            self.executor = pool.executor if isinstance(pool.executor, Executor) else pool.executor()
            self.threads = isinstance(self.executor, ThreadPoolExecutor)
        return self.executor

    def _work(self, pool: Pool, executor: FutureExecutor, number: int, task: Task, times: int) -> Submission:
        hear, permit, waiting = None, None, carried_by.get() | {id(pool.executor), id(executor)}
        if self.threads:  # another process can't report while it runs a step
            hear = partial(self._hear, number, task, only_live=True)
        elif not hasattr(executor, "keys"):
            if self.permits is None:
                self.permits = mkdtemp(prefix="planexec-", dir=pool.permits)
            permit = f"{self.permits}/{number}-{times}"
        return Submission(
            permit or str(number), waiting, os.getpid(), task.call, task.args, permit, task.key, task.repeatable, hear
        )

    def _ended(self, number: int, task: Task, future: Future[Any]) -> None:
        if future.cancelled():
            report = Report(error="CancelledError: the executor cancelled it", lost=True)
        elif (problem := future.exception()) is not None:
            report = Report(error=described(problem), lost=True)
        elif not isinstance(value := future.result(), Report):
            report = Report(
                error=f"TypeError: the executor returned {type(value).__name__}, not the call's report", lost=True
            )
        else:
            report = value
        self._put(number, task, report)

    def _withdraw(self, number: int) -> bool:
        """Cancel a job unless it has begun. Return whether it is cancelled."""
        job = self.submitted[number]
        if job.permit is None:
            if not _is_cancelled(job.future):  # otherwise its callback reports it
                return False
        elif withdraw_permit(job.permit):
            self._put(number, job.task, Report())  # the executor might say nothing of it for a long time
            _is_cancelled(job.future)
        else:
            return False
        self.cancelled.add(number)
        return True

    def _stream(self, number: int, task: Task) -> None:
        try:
            report = measure(task.call, task.args, partial(self._hear, number, task))
        except BaseException as problem:  # an interrupt inside: in this thread it would be lost
            report = Report(error=described(problem))
        self._put(number, task, report)

    def _hear(self, number: int, task: Task, event: object, only_live: bool = False) -> bool:
        """Report at once an event inside a running job. Return whether it was reported."""
        if only_live and not getattr(event, "live", False):
            return False
        self._put(number, task, Progress(task, 0.0, event))
        return True

    def _end_rests(self, now: float) -> None:
        for number, (task, since) in list(self.resting.items()):
            if since + (task.rest or 0) <= now:
                del self.resting[number]
                self._put(number, task, Report(took=perf_counter() - since))

    def _news(self, patience: float | None) -> list[tuple[int, Task, Report | Progress, float]]:
        """Return what has come. Wait for the first, but at most `patience` seconds; None: without a limit."""
        if self.news.empty() and patience and not self.submitted and not self.streaming:
            sleep(patience)  # jobs only rest; a browser tab can't wait for a queue
            return []
        try:
            news = [self.news.get(timeout=patience)]
        except Empty:
            return []
        return news + [self.news.get() for _ in range(self.news.qsize())]

    def _messages(self, number: int, task: Task, what: Report | Progress, at: float, came: float) -> Sequence[Message]:
        if isinstance(what, Progress):
            return [what._replace(at=at)]
        job = self.submitted.pop(number, None)
        if job is None and number in self.cancelled:
            return []  # the executor reports it, too
        if job is not None and what.lost and self._is_submitted_again(number, job, what):
            return []
        self.limited.pop(number, None)
        self.streaming.discard(number)
        if number in self.given_up:
            self.given_up.discard(number)
            return [Late(task, what, at, what.took, _inside(what, at))]
        self.free += not task.live
        if number in self.cancelled:
            return [Cancelled(task, at)]
        limit = task.limit(came - what.took)
        if limit is not None and what.took > limit:
            return TimedOut(task, at, limit), Late(task, what, at, what.took, _inside(what, at))
        if task.live:
            inside = [Progress(task, at, event) for _, _, event in what.events]
            return *inside, Finished(task, what, at, what.took)
        return [Finished(task, what, at, what.took, _inside(what, at))]

    def _is_submitted_again(self, number: int, job: _Submitted, report: Report) -> bool:
        """Submit a lost job again, if it has not begun or can be repeated. Otherwise it stays lost, if it has begun."""
        has_begun = not (job.future.cancelled() if job.permit is None else withdraw_permit(job.permit))
        report.lost = has_begun and not job.task.repeatable
        wanted = not report.lost and number not in self.given_up and number not in self.cancelled
        if self.pool is None or job.permit is None or not wanted or job.times == _SUBMISSIONS:
            return False
        self._submit(self.pool, number, job.task, job.times + 1)
        return True

    def _patience(self) -> float | None:
        """Return the seconds until a rest or a limit ends, or a job might have begun; None: without a limit."""
        if not self.resting and not self.limited:
            return None
        now = perf_counter()
        left = [since + (task.rest or 0) - now for task, since in self.resting.values()]
        left += [self._end(task, began) - now for task, began in self.limited.values()]
        left += [_LOOK for _, began in self.limited.values() if began is None]
        return max(0.0, min(*left, FOREVER))

    def _end(self, task: Task, began: float | None) -> float:
        """When a job times out, by the computer's clock; infinite while it has not begun, if there is no deadline."""
        if began is None:
            return math.inf if task.until is None else self.epoch + task.until
        return began + (task.limit(began - self.epoch) or 0.0)

    def _overdue(self) -> list[Message]:
        messages: list[Message] = []
        now = perf_counter()
        for number, (task, began) in list(self.limited.items()):
            job = self.submitted[number]
            if began is None and job.has_begun():
                began = now
                self.limited[number] = (task, began)
            if now < self._end(task, began) or job.future.done():
                continue
            del self.limited[number]
            if began is None and self._withdraw(number):
                continue
            self.given_up.add(number)
            self.free += 1
            seconds = 0.0 if began is None else task.limit(began - self.epoch) or 0.0
            messages.append(TimedOut(task, now - self.epoch, seconds))
        return messages


def _inside(report: Report, at: float) -> list[tuple[float, Any]]:
    """Return the events inside a job that ended at `at`, and when each happened."""
    return [(at - report.took + after, event) for _, after, event in report.events]
