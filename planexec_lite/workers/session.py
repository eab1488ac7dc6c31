"""What a session is given and what it gives back, and how a task is measured where it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, Protocol

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Finished, Late, Message, Progress, Report, Task, TimedOut
from planexec_lite.meter import Meter, Waits, current

carried_by: ContextVar[frozenset[int]] = ContextVar("carried_by", default=frozenset())  # executors, by their id


class Workers(Protocol):
    """Opens a session whose clock starts at `now`, in seconds.

    `limits` says of what there is how much: names that tools use, or names of tools, and how many steps at once.
    """

    @property
    def limits(self) -> Mapping[str, int]:
        """How many steps at once may use what, by name."""

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a context manager that gives the session and cancels what has not started when it is left."""


def described(problem: BaseException) -> str:
    """An exception in words: its type, and what it says if it can."""
    try:
        text = str(problem).encode(errors="backslashreplace").decode()  # the name of a file may hold what no text may
    except BaseException:
        text = ""
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def in_real_time(task: Task, report: Report, at: float, ended: float | None = None) -> tuple[Message, ...]:
    """What a session on the real clock says at `at` about a task that was measured where it ran, and ended then or before."""
    limit = task.limit((at if ended is None else ended) - report.took)
    if limit is not None and report.took > limit:
        return TimedOut(task, at, limit), Late(task, report, at, report.took, happened_inside(report, at))
    if not report.events:
        return (Finished(task, report, at, report.took),)
    if task.live:
        return *[Progress(task, at, event) for _, _, event in report.events], Finished(task, report, at, report.took)
    return (Finished(task, report, at, report.took, happened_inside(report, at)),)


def happened_inside(report: Report, at: float) -> list[tuple[float, Any]]:
    """What happened inside a task that ended at `at` on the real clock, and when."""
    began = at - report.took
    return [(began + after, event) for _, after, event in report.events]


def measure(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    hear: Callable[[Any], bool] | None = None,
    at: float | None = None,
) -> Report:
    """Call ``call(*args)`` under a meter and report; an exception becomes an error, a keyboard interrupt goes on.

    `hear` is told at once about every event that the call emits; those for which it returns True are not in the report. `at` is
    the run's time on a virtual clock.
    """
    value, error, final, meter = None, None, False, Meter(hear, at)
    token = current.set(meter)
    try:
        value = call(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        error, final = described(problem), getattr(problem, "no_retry", False) is True
    finally:
        current.reset(token)
    took, calls, events = round(perf_counter() - meter.began, 9), meter.calls, meter.events
    inside = tuple(calls) if calls else (), tuple(events) if events else ()
    report = Report(value, error, meter.seconds, took, *inside, meter.once, final)
    if (log := meter.calls_log) is not None and log.waits:
        report.waits = Waits(f"a model chose {log.waits}", log.waits, tuple(log.made))
    elif meter.waits is not None:
        report.waits = meter.waits
    report.leaves = meter.leaves
    return report


def carry_out(
    executors: frozenset[int],
    owner: int,
    hear: Callable[[Any], bool] | None,
    call: Callable[..., Any],
    args: tuple[Any, ...],
) -> Report:
    """Measure ``call(*args)`` on a thread or in a process of an executor, and let what it calls know which executors wait
    for it. Where the process that started this one is dead, nothing is called. `owner` is the process that handed it over.
    """
    if os.getpid() != owner and _is_orphan():
        return Report(error="RuntimeError: not called: the process that handed it over is dead")
    token = carried_by.set(executors)
    try:
        return measure(call, args, hear)
    finally:
        carried_by.reset(token)


def _is_orphan() -> bool:
    # a killed process leaves its pool's processes behind, and in their queue what whoever resumes the run does again
    from multiprocessing import parent_process

    parent = parent_process()
    return parent is not None and not parent.is_alive()


def check_slots(slots: int | None) -> None:
    """Raise `ValueError` unless `slots` is None or at least 1."""
    if slots is not None and slots < 1:
        raise ValueError(f"slots={slots}: give at least one slot, or None for no limit")
