"""What a crew is given and what it gives back, and how a task is measured where it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
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


def check_slots(slots: int | None) -> None:
    """Raise `ValueError` unless `slots` is None or at least 1."""
    if slots is not None and slots < 1:
        raise ValueError(f"slots={slots}: give at least one slot, or None for no limit")
