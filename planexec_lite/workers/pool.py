"""Any `concurrent.futures.Executor`: threads, processes, a cluster."""

from __future__ import annotations

import math
from concurrent.futures import Executor as FutureExecutor
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import perf_counter

from planexec_lite.workers.crew import Crew, Finished, Report, Task, check_slots, described, in_real_time, measure


@dataclass(frozen=True)
class Pool:
    """Any `concurrent.futures.Executor`: threads, processes, a cluster. `slots` limits what is handed over at once.

    Each job is measured where it runs. Jobs marked `here` (planning) run on this thread. The executor is not shut down.
    """

    executor: FutureExecutor
    slots: int | None = None

    def __post_init__(self) -> None:
        check_slots(self.slots)

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
