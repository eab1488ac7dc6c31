"""What a crew is given and what it gives back, and how a task is measured where it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from planexec_lite.meter import Meter, ModelCall, current


@dataclass(slots=True)
class Task:
    """What a crew carries out: ``call(*args)`` for the job that `event` started.

    `here`: it stays in this process, and holds none of an executor's threads. `live`: it takes no slot, and what happens
    inside it is handed over as it happens.
    """

    event: Any
    call: Callable[..., Any]
    args: tuple[Any, ...]
    timeout: float | None = None
    here: bool = False
    live: bool = False


@dataclass(slots=True)
class Report:
    """What came of a task: value or error; seconds declared and really taken; model calls; events inside."""

    value: Any = None
    error: str | None = None
    declared: float = 0.0
    took: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    events: tuple[tuple[float, float, Any], ...] = ()


@dataclass(slots=True)
class Finished:
    """A task and its report; on the crew's clock: when it finished, how many seconds it worked, what happened inside when."""

    task: Task
    report: Report
    at: float
    seconds: float
    inside: Sequence[tuple[float, Any]] = ()


class GivenUp(NamedTuple):
    """A task that took longer than its timeout, at the instant when that was noticed."""

    task: Task
    at: float
    seconds: float


class Late(NamedTuple):
    """A task that had been given up has come to its end."""

    task: Task
    report: Report
    at: float
    seconds: float


class Heard(NamedTuple):
    """Something happened inside a live task."""

    task: Task
    at: float
    event: Any


class Cancelled(NamedTuple):
    """A task was taken back before it had begun."""

    task: Task
    at: float


Said = Finished | GivenUp | Late | Heard | Cancelled


class Crew(Protocol):
    """The workers of one run."""

    free: float

    @property
    def queued(self) -> bool:
        """Whether tasks may have been handed over that have not begun."""

    def start(self, task: Task) -> None:
        """Take a task; only while `free` is at least 1."""

    def wait(self) -> Sequence[Said]:
        """Return what the crew has to say next, the tasks that finish first of all; only while some are in flight."""

    def cancel(self) -> None:
        """Take back every task that has not begun."""


class Workers(Protocol):
    """Opens a crew whose clock starts at `now`, in seconds.

    `limits` says of what there is how much: names that tools use, or names of tools, and how many steps at once.
    """

    @property
    def limits(self) -> Mapping[str, int]:
        """How many steps at once may use what, by name."""

    def open(self, now: float = 0.0) -> AbstractContextManager[Crew]:
        """Return a context manager that gives the crew and cancels what has not started when it is left."""


def described(problem: BaseException) -> str:
    """An exception in words: its type, and what it says if it can."""
    try:
        said = str(problem)
    except BaseException:
        said = ""
    return f"{type(problem).__name__}: {said}" if said else type(problem).__name__


def in_real_time(task: Task, report: Report, at: float) -> tuple[Said, ...]:
    """What a crew on the real clock says about a task that was measured where it ran, and has ended."""
    if task.timeout is not None and report.took > task.timeout:
        return GivenUp(task, at, task.timeout), Late(task, report, at, report.took)
    if not report.events:
        return (Finished(task, report, at, report.took),)
    if task.live:
        return *[Heard(task, at, event) for _, _, event in report.events], Finished(task, report, at, report.took)
    began = at - report.took
    return (Finished(task, report, at, report.took, [(began + after, event) for _, after, event in report.events]),)


def measure(call: Callable[..., Any], args: tuple[Any, ...], hear: Callable[[Any], None] | None = None) -> Report:
    """Call ``call(*args)`` under a meter and report; an exception becomes an error, a keyboard interrupt goes on.

    `hear` is told at once about every event that the call emits; those are not in the report.
    """
    value, error, meter = None, None, Meter(hear)
    token = current.set(meter)
    try:
        value = call(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        error = described(problem)
    finally:
        current.reset(token)
    took, calls, events = perf_counter() - meter.began, meter.calls, meter.events
    return Report(value, error, meter.seconds, took, tuple(calls) if calls else (), tuple(events) if events else ())


def check_slots(slots: int | None) -> None:
    """Raise `ValueError` unless `slots` is None or at least 1."""
    if slots is not None and slots < 1:
        raise ValueError(f"slots={slots}: give at least one slot, or None for no limit")
