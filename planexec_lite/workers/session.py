"""The protocol of workers, and how a task is measured where it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
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
    report.waits, report.leaves, report.chosen = meter.waits, meter.leaves, tuple(meter.chosen)
    if (log := meter.calls_log) is not None:
        report.chosen += tuple(log.chosen.values())
        if log.waits is not None:
            report.waits = Waits(log.why, log.waits.tool, log.waits.params, tuple(log.made))
    return report


@dataclass(frozen=True, slots=True)
class Submission:
    """A call as an executor receives it, with what an executor that keeps its tasks must know about it.

    Args:
        token: differs in every submission, so an executor that remembers results never takes two for the same.
        executors: the executors that wait for the call, by their id.
        owner: the process that submits it.
        permit: the permit to begin (see `take_permit`); None: the executor itself says truly which calls have begun.
        key: the idempotency key, which is the same in every attempt; None: the call has none.
        repeatable: a repeat does no harm.
        hear: receives live events at once; only for an executor of threads.
    """

    token: str
    executors: frozenset[int]
    owner: int
    call: Callable[..., Any]
    args: tuple[Any, ...]
    permit: str | None = None
    key: str | None = None
    repeatable: bool = False
    hear: Callable[[Any], bool] | None = None

    def __dask_tokenize__(self) -> str:
        return self.token


def carry_out(work: Submission) -> Report:
    """Measure a call on a thread or in a process of an executor, and tell it which executors wait for it.

    The call is not made if its permit was withdrawn, if a call that is not repeatable has begun before, or if the process that
    submitted it is dead.
    """
    if os.getpid() != work.owner and _is_orphan():
        return Report(error="RuntimeError: not called: the process that submitted it is dead")
    if work.permit is not None:
        try:
            free = take_permit(work.permit)
        except FileNotFoundError:
            why = "its run has ended, or this machine needs a folder that all share: Pool(..., permits=folder)"
            return Report(error=f"RuntimeError: not called: there is no {os.path.dirname(work.permit)}; {why}")
        if not free and not (work.repeatable and is_taken(work.permit)):
            return Report(error="RuntimeError: another worker began it and was lost", lost=True)
    token = carried_by.set(work.executors)
    try:
        return measure(work.call, work.args, work.hear)
    finally:
        carried_by.reset(token)


def take_permit(path: str) -> bool:
    """Take the permit to begin a call: a folder at `path`, which only one process can make. Return whether it was free.

    Raises `FileNotFoundError` if its parent folder does not exist.
    """
    try:
        os.mkdir(path)
    except FileExistsError:
        return False
    return True


def is_taken(path: str) -> bool:
    """Return whether a worker has begun the call."""
    return os.path.isdir(path)


def withdraw_permit(path: str) -> bool:
    """Withdraw the permit: a file in its place, so that no worker can take it. Return False if a worker has begun."""
    try:
        open(path, "x").close()
    except FileExistsError:
        return not is_taken(path)
    except OSError:  # no file can be made now, so a worker might still begin
        return False
    return True


def _is_orphan() -> bool:
    # the processes of a killed process's pool survive it; the resumed run repeats the jobs in their queue
    from multiprocessing import parent_process

    parent = parent_process()
    try:
        return parent is not None and not parent.is_alive()
    except ValueError:  # the processes of loky know their parent, and can't wait for it
        return False


def check_slots(slots: int | None) -> None:
    """Raise `ValueError` unless `slots` is None or at least 1."""
    if slots is not None and slots < 1:
        raise ValueError(f"slots={slots}: give at least one slot, or None for no limit")
