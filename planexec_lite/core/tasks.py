"""Tasks for workers, and their messages about them. Workers know nothing of plans: a task is a function and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from planexec_lite.meter import ModelCall, Waits


@dataclass(slots=True)
class Task:
    """A call that a session makes: ``call(*args)`` for the job that `event` started.

    `here`: it stays in this process, and uses none of an executor's threads. `live`: it takes no slot, and the events inside it
    are reported while it runs. `rest`: it only waits, this many seconds or until the session is cancelled; it is live. `until`:
    the deadline on the session's clock, also for a task that has not begun.
    """

    event: Any
    call: Callable[..., Any]
    args: tuple[Any, ...] = ()
    timeout: float | None = None
    here: bool = False
    live: bool = False
    rest: float | None = None
    until: float | None = None

    def limit(self, began: float) -> float | None:
        """Return after how many seconds it times out, if it began at `began` on the session's clock; None: never."""
        if self.until is None:
            return self.timeout
        left = max(0.0, round(self.until - began, 9))
        return left if self.timeout is None else min(self.timeout, left)


@dataclass(slots=True)
class Report:
    """The result of a task: value or error; seconds declared and really taken; model calls; events inside.

    `once`: an at-most-once call was made, even if the task failed. `final`: a retry can't remove the error.
    `waits`: what the step waits for, if it waits for a person. `leaves`: see `StepDone`.
    """

    value: Any = None
    error: str | None = None
    declared: float = 0.0
    took: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    events: tuple[tuple[float, float, Any], ...] = ()
    once: bool = False
    final: bool = False
    waits: Waits | None = None
    leaves: bool = False


@dataclass(slots=True)
class Finished:
    """A task and its report; on the session's clock: when it finished, its seconds of work, the events inside and their times."""

    task: Task
    report: Report
    at: float
    seconds: float
    inside: Sequence[tuple[float, Any]] = ()


class TimedOut(NamedTuple):
    """A task that took longer than its timeout, at the instant when that was noticed."""

    task: Task
    at: float
    seconds: float


class Late(NamedTuple):
    """A task ended after its timeout; the events inside it, with their times on the session's clock."""

    task: Task
    report: Report
    at: float
    seconds: float
    inside: Sequence[tuple[float, Any]] = ()


class Progress(NamedTuple):
    """An event happened inside a task that is still running."""

    task: Task
    at: float
    event: Any


class Cancelled(NamedTuple):
    """A task was cancelled before it began."""

    task: Task
    at: float


Message = Finished | TimedOut | Late | Progress | Cancelled
