"""Workers: who carries the jobs out. One by one on this thread, on an executor's threads, or on a virtual clock.

Workers know nothing of plans: a job is a function and its arguments. They are configuration, so one object may serve
many runs; `open` gives a crew for one run. A crew says how many more jobs it takes (`free`), starts a job, and waits
for those that finish next, at the same instant, in the order in which they were started.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor as FutureExecutor
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from heapq import heappop, heappush
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from planexec_lite.meter import Meter, ModelCall


class Task(NamedTuple):
    """What a crew carries out: ``call(*args)`` for the job that `event` started. `here`: it stays on this thread."""

    event: Any
    call: Callable[..., Any]
    args: tuple[Any, ...]
    timeout: float | None = None
    here: bool = False


class Report(NamedTuple):
    """What came of a task: value or error; seconds declared and really taken; model calls; events inside."""

    value: Any = None
    error: str | None = None
    declared: float = 0.0
    took: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    inside: tuple[tuple[float, float, Any], ...] = ()


class Finished(NamedTuple):
    """A task and its report; on the crew's clock: when it finished, how many seconds it worked, what happened inside when."""

    task: Task
    report: Report
    at: float
    seconds: float
    inside: list[tuple[float, Any]]


class Crew(Protocol):
    """The workers of one run."""

    free: float

    def start(self, task: Task) -> None:
        """Take a task; only while `free` is at least 1."""

    def wait(self) -> list[Finished]:
        """Return the tasks that finish next; only while some are in flight."""


class Workers(Protocol):
    """Opens a crew whose clock starts at `now`, in seconds."""

    def open(self, now: float = 0.0) -> AbstractContextManager[Crew]:
        """Return a context manager that gives the crew and cancels what has not started when it is left."""


def described(problem: BaseException) -> str:
    """An exception in words: its type, and what it says if it can."""
    try:
        said = str(problem)
    except BaseException:
        said = ""
    return f"{type(problem).__name__}: {said}" if said else type(problem).__name__


def in_real_time(task: Task, report: Report, at: float) -> Finished:
    """What a crew on the real clock says about a task that was measured where it ran."""
    began = at - report.took
    return Finished(task, report, at, report.took, [(began + after, event) for _, after, event in report.inside])


def measure(call: Callable[..., Any], *args: Any) -> Report:
    """Call ``call(*args)`` under a meter and report; an exception becomes an error, a keyboard interrupt goes on."""
    began = perf_counter()
    value, error = None, None
    with Meter() as meter:
        try:
            value = call(*args)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            error = described(problem)
    return Report(value, error, meter.seconds, perf_counter() - began, tuple(meter.calls), tuple(meter.events))


@dataclass(frozen=True)
class Inline:
    """One step after the other, on this thread, on the real clock."""

    def open(self, now: float = 0.0) -> AbstractContextManager[Crew]:
        """Return the crew: this thread."""
        return nullcontext(_InlineCrew(perf_counter() - now))


class _InlineCrew:
    def __init__(self, epoch: float) -> None:
        self.epoch = epoch
        self.free: float = 1
        self.task: Task | None = None

    def start(self, task: Task) -> None:
        self.free, self.task = 0, task

    def wait(self) -> list[Finished]:
        task = self.task
        assert task is not None, "nothing is in flight"
        report = measure(task.call, *task.args)
        self.free, self.task = 1, None
        return [in_real_time(task, report, perf_counter() - self.epoch)]


@dataclass(frozen=True)
class Simulated:
    """A virtual clock with `slots` places (None: no limit): a job takes the seconds that its tools and models declare.

    Nothing sleeps. A job's effect happens when it starts; its completion is placed on the clock.
    """

    slots: int | None = None

    def __post_init__(self) -> None:
        _check(self.slots)

    def open(self, now: float = 0.0) -> AbstractContextManager[Crew]:
        """Return a crew on a clock of its own."""
        return nullcontext(_SimulatedCrew(now, math.inf if self.slots is None else self.slots))


class _SimulatedCrew:
    def __init__(self, now: float, free: float) -> None:
        self.now, self.free = now, free
        self.started = 0
        self.due: list[tuple[float, int, Finished]] = []

    def start(self, task: Task) -> None:
        report = measure(task.call, *task.args)
        seconds = min(report.declared, task.timeout or math.inf)
        self.free -= 1
        self.started += 1
        at = round(self.now + seconds, 9)
        inside = [(round(self.now + min(after, seconds), 9), event) for after, _, event in report.inside]
        heappush(self.due, (at, self.started, Finished(task, report, at, report.declared, inside)))

    def wait(self) -> list[Finished]:
        self.now = self.due[0][0]
        finished = []
        while self.due and self.due[0][0] == self.now:
            finished.append(heappop(self.due)[2])
        self.free += len(finished)
        return finished


@dataclass(frozen=True)
class Pool:
    """Any `concurrent.futures.Executor`: threads, processes, a cluster. `slots` limits what is handed over at once.

    Each job is measured where it runs. Jobs marked `here` (planning) run on this thread. The executor is not shut down.
    """

    executor: FutureExecutor
    slots: int | None = None

    def __post_init__(self) -> None:
        _check(self.slots)

    def open(self, now: float = 0.0) -> AbstractContextManager[Crew]:
        """Return a crew that hands its jobs to the executor."""
        return _PoolCrew(self.executor, perf_counter() - now, math.inf if self.slots is None else self.slots)


@dataclass
class _PoolCrew:
    executor: FutureExecutor
    epoch: float
    free: float
    started: int = 0
    futures: dict[int, Future[Report]] = field(default_factory=dict)
    finished: SimpleQueue[tuple[int, Task, Report]] = field(default_factory=SimpleQueue)

    def __enter__(self) -> _PoolCrew:
        return self

    def __exit__(self, *exc: object) -> None:
        for future in self.futures.values():
            future.cancel()

    def start(self, task: Task) -> None:
        self.free -= 1
        self.started += 1
        number = self.started
        if task.here:
            self.finished.put((number, task, measure(task.call, *task.args)))
            return
        try:
            future = self.executor.submit(measure, task.call, *task.args)
        except Exception as problem:
            self.finished.put((number, task, Report(error=described(problem))))
            return
        self.futures[number] = future
        future.add_done_callback(lambda future: self.finished.put((number, task, _report(future))))

    def wait(self) -> list[Finished]:
        batch = [self.finished.get()]
        while True:
            try:
                batch.append(self.finished.get_nowait())
            except Empty:
                break
        at = perf_counter() - self.epoch
        self.free += len(batch)
        for number, _, _ in batch:
            self.futures.pop(number, None)
        return [in_real_time(task, report, at) for _, task, report in sorted(batch, key=lambda item: item[0])]


def _report(future: Future[Report]) -> Report:
    if future.cancelled():
        return Report(error="CancelledError: the executor cancelled it")
    problem = future.exception()
    return Report(error=described(problem)) if problem else future.result()


def _check(slots: int | None) -> None:
    if slots is not None and slots < 1:
        raise ValueError(f"slots={slots}: give at least one slot, or None for no limit")
