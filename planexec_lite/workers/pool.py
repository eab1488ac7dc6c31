"""Any `concurrent.futures.Executor`: threads, processes, a cluster."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from queue import Empty, SimpleQueue
from threading import Thread, Timer
from time import perf_counter
from typing import TYPE_CHECKING

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Cancelled, Late, Message, Progress, Report, Task, TimedOut
from planexec_lite.workers.inline import Inline
from planexec_lite.workers.session import (
    carried_by,
    carry_out,
    check_slots,
    described,
    happened_inside,
    in_real_time,
    measure,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor as FutureExecutor
    from concurrent.futures import Future

_LOOK = 0.02  # seconds between two looks at whether a job with a timeout has begun
# which task, in the order of starting; what is to be said about it; when it came
_Word = tuple[int, Task, Report | Progress, float]


@dataclass(frozen=True, slots=True)
class Pool:
    """Any `concurrent.futures.Executor`: threads, processes, a cluster. The executor is not shut down.

    Each job is measured where it runs; planning and judging stay in this process. A timeout counts from when the
    executor begins with the step. The step is then given up and its slot is free, but a thread can't be stopped: the step
    is in doubt, and keeps the executor's thread until it ends. What it used, such as an oven, counts as free: the run
    could wait for ever otherwise. At the run's deadline, steps that the executor has not begun with are taken back.

    When this process is killed, a pool's own processes stay: a step that one of them is at goes on to its end, and what
    waits for one is not begun any more.

    A step that runs a plan on the executor that carries it out holds one of its threads: that plan runs inline, on this
    thread, since it could wait for ever for another.

    Args:
        executor: where the steps run.
        slots: how many are handed over at once; None: all that are ready.
        limits: how many steps at once may use what, such as ``{"oven": 1}``.

    Raises `TypeError` for anything but an executor, and `RuntimeError` in a browser tab, where there are no threads.
    """

    executor: FutureExecutor
    slots: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_slots(self.slots)
        if sys.platform == "emscripten":
            raise RuntimeError("threads are not to be had in a browser tab; use Inline or Simulated")
        from concurrent.futures import Executor

        given: object = self.executor
        if not isinstance(given, Executor):
            threads = given if type(given) is int and given > 0 else 2
            raise TypeError(
                f"Pool takes a concurrent.futures.Executor, not {given!r};"
                f" write Pool(ThreadPoolExecutor({threads})) for threads"
            )

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session that hands its jobs to the executor; on one of the executor's own threads, an inline session."""
        if id(self.executor) in carried_by.get():
            return Inline().open(now)
        return _PoolSession(self.executor, perf_counter() - now, math.inf if self.slots is None else self.slots)


@dataclass
class _PoolSession:
    executor: FutureExecutor
    epoch: float
    free: float
    started: int = 0
    futures: dict[int, Future[Report]] = field(default_factory=dict)
    timed: dict[int, tuple[Task, float | None]] = field(default_factory=dict)
    given_up: set[int] = field(default_factory=set)
    cancelled: set[int] = field(default_factory=set)
    resting: dict[int, tuple[Task, Timer, float]] = field(default_factory=dict)
    words: SimpleQueue[_Word] = field(default_factory=SimpleQueue)

    def __enter__(self) -> WorkerSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.cancel()

    @property
    def queued(self) -> bool:
        return bool(self.futures or self.resting)

    def start(self, task: Task) -> None:
        self.free -= not task.live
        self.started += 1
        number, words = self.started, self.words
        if task.rest is not None:
            timer = Timer(task.rest, self._rested, [number])
            timer.daemon = True
            self.resting[number] = (task, timer, perf_counter())
            timer.start()
        elif task.live:
            Thread(target=_live, args=(number, task, words), name="planner", daemon=True).start()
        elif task.here:
            _put(words, number, task, measure(task.call, task.args))
        else:
            waiting = carried_by.get() | {id(self.executor)}
            try:
                from concurrent.futures import ThreadPoolExecutor

                in_process = isinstance(
                    self.executor, ThreadPoolExecutor
                )  # from another process nothing is heard meanwhile
                hear = partial(_heard, words, number, task) if in_process else None
                future = self.executor.submit(carry_out, waiting, os.getpid(), hear, task.call, task.args)
            except Exception as problem:
                _put(words, number, task, Report(error=described(problem)))
                return
            self.futures[number] = future
            if task.timeout is not None or task.until is not None:
                self.timed[number] = (task, None)
            future.add_done_callback(partial(_told, words, number, task))

    def wait(self) -> Sequence[Message]:
        while True:
            messages = self._overdue()
            words = self._words(0 if messages else self._patience())
            at = round(perf_counter() - self.epoch, 9)
            # what came together is told in the order of starting, whichever thread was quicker
            for number, task, word, came in sorted(words, key=itemgetter(0)):
                messages += self._progressed(number, task, word, at, came - self.epoch)
            if messages:
                return messages

    def cancel(self) -> None:
        for number, (_, timer, _) in list(self.resting.items()):
            timer.cancel()
            self._rested(number)
        self.cancelled |= {number for number, future in list(self.futures.items()) if future.cancel()}

    def _rested(self, number: int) -> None:
        """A rest is over; its timer and a cancel may both say so."""
        if (rest := self.resting.pop(number, None)) is not None:
            task, _, since = rest
            _put(self.words, number, task, Report(took=perf_counter() - since))

    def _words(self, patience: float | None) -> list[_Word]:
        """What has come, waiting for the first, but not for longer than `patience` seconds; None: as long as it takes."""
        try:
            words = [self.words.get(timeout=patience)]
        except Empty:
            return []
        words += [self.words.get() for _ in range(self.words.qsize())]
        return words

    def _progressed(
        self, number: int, task: Task, word: Report | Progress, at: float, came: float
    ) -> Sequence[Message]:
        if isinstance(word, Progress):
            return [word._replace(at=at)]
        self.futures.pop(number, None)
        if self.timed:
            self.timed.pop(number, None)
        if number in self.given_up:
            self.given_up.discard(number)
            return [Late(task, word, at, word.took, happened_inside(word, at))]
        self.free += not task.live
        if number in self.cancelled:
            return [Cancelled(task, at)]
        return in_real_time(task, word, at, came)

    def _patience(self) -> float | None:
        """Seconds until somebody can be given up, or somebody can have begun; None: nobody has a timeout or a deadline."""
        if not self.timed:
            return None
        now = perf_counter()
        left = [self._end(task, began) - now for task, began in self.timed.values()]
        waiting = any(began is None for _, began in self.timed.values())
        return max(0.0, min([*left, _LOOK] if waiting else left))

    def _end(self, task: Task, began: float | None) -> float:
        """When a task is given up, by the computer's clock; infinite while it has not begun, and no deadline is set."""
        if began is None:
            return math.inf if task.until is None else self.epoch + task.until
        return began + (task.limit(began - self.epoch) or 0.0)

    def _overdue(self) -> list[Message]:
        if not self.timed:
            return []
        now, begun = perf_counter(), self._begun()
        messages: list[Message] = []
        for number, (task, began) in list(self.timed.items()):
            if began is None and number in begun:
                began = now
                self.timed[number] = (task, began)
            if now < self._end(task, began) or (future := self.futures[number]).done():
                continue
            del self.timed[number]
            if began is None and future.cancel():  # its word is that it was cancelled
                self.cancelled.add(number)
                continue
            self.given_up.add(number)
            self.free += 1
            seconds = 0.0 if began is None else task.limit(began - self.epoch) or 0.0
            messages.append(TimedOut(task, now - self.epoch, seconds))
        return messages

    def _begun(self) -> list[int]:
        """The tasks that the executor is at. One of processes calls some running that still wait for a process."""
        running = [number for number, future in list(self.futures.items()) if future.running()]
        return running[: getattr(self.executor, "_max_workers", None)]


def _put(words: SimpleQueue[_Word], number: int, task: Task, word: Report | Progress) -> None:
    words.put((number, task, word, perf_counter()))


def _live(number: int, task: Task, words: SimpleQueue[_Word]) -> None:
    def hear(event: object) -> bool:
        _put(words, number, task, Progress(task, 0.0, event))
        return True

    try:
        report = measure(task.call, task.args, hear)
    except BaseException as problem:  # an interrupt inside: nobody else would hear of it in this thread
        report = Report(error=described(problem))
    _put(words, number, task, report)


def _heard(words: SimpleQueue[_Word], number: int, task: Task, event: object) -> bool:
    """Tell at once what is to be heard while the task runs."""
    if live := getattr(event, "live", False):
        _put(words, number, task, Progress(task, 0.0, event))
    return bool(live)


def _told(words: SimpleQueue[_Word], number: int, task: Task, future: Future[Report]) -> None:
    _put(words, number, task, _report(future))


def _report(future: Future[Report]) -> Report:
    if future.cancelled():
        return Report(error="CancelledError: the executor cancelled it")
    problem = future.exception()
    # a worker that died may have made the call
    return Report(error=described(problem), once=True) if problem else future.result()
