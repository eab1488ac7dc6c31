"""What workers are given, and what they say about it. Workers know nothing of plans: a task is a function and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from planexec_lite.meter import ModelCall, Waits


@dataclass(slots=True)
class Task:
    """What a session carries out: ``call(*args)`` for the job that `event` started.

    `here`: it stays in this process, and holds none of an executor's threads. `live`: it takes no slot, and what happens
    inside it is handed over as it happens. `rest`: nothing is called; so many seconds later it is over, or when the session
    is told to cancel. It is live. `until`: when it is given up on the session's clock, whether it has begun or not.
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
        """After how many seconds it is given up, if it began at `began` on the session's clock; None: never."""
        if self.until is None:
            return self.timeout
        left = max(0.0, round(self.until - began, 9))
        return left if self.timeout is None else min(self.timeout, left)


@dataclass(slots=True)
class Report:
    """What came of a task: value or error; seconds declared and really taken; model calls; events inside.

    `once`: an at-most-once call was made, whatever became of the task. `final`: the error will not go away by itself.
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
    """A task and its report; on the session's clock: when it finished, how many seconds it worked, what happened inside when."""

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
    """A task that had been given up has ended; what happened inside it when, on the session's clock."""

    task: Task
    report: Report
    at: float
    seconds: float
    inside: Sequence[tuple[float, Any]] = ()


class Progress(NamedTuple):
    """Something happened inside a task that is still running."""

    task: Task
    at: float
    event: Any


class Cancelled(NamedTuple):
    """A task was taken back before it had begun."""

    task: Task
    at: float


Message = Finished | TimedOut | Late | Progress | Cancelled
