"""The protocol of workers, and how a task is measured where it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, Protocol

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Report
from planexec_lite.meter import Meter

carried_by: ContextVar[frozenset[int]] = ContextVar(
    "carried_by", default=frozenset()
)  # executors, by their id


class Workers(Protocol):
    """Run the jobs of runs. `limits` says how many steps can use a resource at once."""

    @property
    def limits(self) -> Mapping[str, int]:
        """How many steps at once, by the name of a tool or of a resource that tools use."""

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a context manager that gives a session and cancels its queued jobs at the end.

        The clock of the session starts at `now`, in seconds.
        """


def carry_out_pickled(data: bytes) -> Report:
    """Measure a pickled call with its arguments in a process of a pool, unless the process that submitted it is dead.

    The processes of a killed process's pool survive it, and the resumed run repeats the jobs in their queue.
    """
    import pickle
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None and not parent.is_alive():
        return Report(error="RuntimeError: not called: the process that submitted it is dead")
    try:
        call, args, waiting = pickle.loads(data)
    except Exception as problem:  # this process can't import what the step needs
        return Report(error=described(problem))
    carried_by.set(waiting)  # a forked copy of the executor has the same id
    return measure(call, args)


def measure(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    hear: Callable[[Any], bool] | None = None,
    at: float | None = None,
) -> Report:
    """Call ``call(*args)`` under a meter and report; an exception becomes an error, a keyboard interrupt is raised.

    `hear` receives every event at once that the call emits; events for which it returns True are not in the report.
    `at` is the run's time on a virtual clock.
    """
    value, error, final = None, None, False
    with Meter(hear, at) as meter:
        try:
            value = call(*args)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            error = described(problem)
            final = getattr(problem, "no_retry", False) is True
    report = Report(
        value,
        error,
        meter.seconds,
        round(perf_counter() - meter.began, 9),
        tuple(meter.calls),
        tuple(meter.events),
        meter.once,
        final,
        meter.waits,
        meter.leaves,
        tuple(meter.chosen),
    )
    if (log := meter.calls_log) is not None:
        report.chosen += tuple(log.chosen.values())
        if log.waits is not None:
            report.waits = log.waits._replace(made=tuple(log.made))
    return report


def described(problem: BaseException) -> str:
    """Return the type of an exception and its text, if it has one."""
    try:
        text = (
            str(problem).encode(errors="backslashreplace").decode()
        )  # file names can contain bytes that are not text
    except BaseException:
        text = ""
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def check_slots(slots: int | None) -> None:
    """Raise `ValueError` unless `slots` is None or at least 1."""
    if slots is not None and slots < 1:
        raise ValueError(f"slots={slots}: give at least one slot, or None for no limit")
