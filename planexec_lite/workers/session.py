"""The protocol of workers, and how a task is measured where it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, Protocol

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Report
from planexec_lite.meter import Meter, Waits, current

carried_by: ContextVar[frozenset[int]] = ContextVar("carried_by", default=frozenset())  # executors, by their id


class Workers(Protocol):
    """Run the jobs of runs. `limits` says how many steps can use a resource at once."""

    @property
    def limits(self) -> Mapping[str, int]:
        """How many steps at once, by the name of a tool or of a resource that tools use."""

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a context manager that gives a session and cancels its queued jobs at the end.

        The clock of the session starts at `now`, in seconds.
        """


def described(problem: BaseException) -> str:
    """Return the type of an exception and its text, if it has one."""
    try:
        text = str(problem).encode(errors="backslashreplace").decode()  # file names can contain bytes that are not text
    except BaseException:
        text = ""
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def measure(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    hear: Callable[[Any], bool] | None = None,
    at: float | None = None,
) -> Report:
    """Call ``call(*args)`` under a meter and report; an exception becomes an error, a keyboard interrupt is raised.

    `hear` receives every event at once that the call emits; events for which it returns True are not in the report. `at` is the
    run's time on a virtual clock.
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
    """Measure ``call(*args)`` on a thread or in a process of an executor, and tell the call which executors wait for it.

    If the process that submitted it, `owner`, is dead, the call is not made.
    """
    if os.getpid() != owner and _is_orphan():
        return Report(error="RuntimeError: not called: the process that submitted it is dead")
    token = carried_by.set(executors)
    try:
        return measure(call, args, hear)
    finally:
        carried_by.reset(token)


def _is_orphan() -> bool:
    # the processes of a killed process's pool survive it; the resumed run repeats the jobs in their queue
    from multiprocessing import parent_process

    parent = parent_process()
    return parent is not None and not parent.is_alive()


def check_slots(slots: int | None) -> None:
    """Raise `ValueError` unless `slots` is None or at least 1."""
    if slots is not None and slots < 1:
        raise ValueError(f"slots={slots}: give at least one slot, or None for no limit")
