"""One job after the other, on this thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter

from planexec_lite.workers.session import Task, WorkerMessage, WorkerSession, in_real_time, measure


@dataclass(frozen=True, slots=True)
class Inline:
    """One step after the other, on this thread, on the real clock.

    A timeout is noticed when the step has ended. A planner that streams is heard to its end before its steps start.
    """

    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return the session: this thread."""
        return nullcontext(_InlineSession(perf_counter() - now))


class _InlineSession:
    queued = False

    def __init__(self, epoch: float) -> None:
        self.epoch = epoch
        self.free: float = 1
        self.task: Task | None = None

    def start(self, task: Task) -> None:
        self.free, self.task = 0, task

    def wait(self) -> Sequence[WorkerMessage]:
        task = self.task
        assert task is not None, "nothing is in flight"
        report = measure(task.call, task.args)
        self.free, self.task = 1, None
        return in_real_time(task, report, perf_counter() - self.epoch)

    def cancel(self) -> None:
        pass
