"""One job after the other, on this thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter, sleep

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Finished, Message, Report, Task
from planexec_lite.workers.session import in_real_time, measure


@dataclass(frozen=True, slots=True)
class Inline:
    """One step after the other, on this thread, on the real clock.

    A timeout is noticed when the step has ended. A planner that streams is heard to its end before its steps start. A
    step that backs off is waited for when there is nothing else to do.
    """

    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return the session: this thread."""
        return nullcontext(_InlineSession(perf_counter() - now))


class _InlineSession:
    def __init__(self, epoch: float) -> None:
        self.epoch = epoch
        self.free: float = 1
        self.task: Task | None = None
        self.resting: list[tuple[float, Task]] = []  # since when

    @property
    def queued(self) -> bool:
        return bool(self.resting)

    def start(self, task: Task) -> None:
        if task.rest is not None:
            self.resting.append((perf_counter(), task))
        else:
            self.free, self.task = 0, task

    def wait(self) -> Sequence[Message]:
        task = self.task
        messages: list[Message] = []
        if task is not None:
            report = measure(task.call, task.args)
            self.free, self.task = 1, None
            messages += in_real_time(task, report, round(perf_counter() - self.epoch, 9))
        else:
            assert self.resting, "nothing is in flight"
            until = min(since + (task.rest or 0) for since, task in self.resting)
            sleep(max(0.0, until - perf_counter()))
        return [*messages, *self._rested()] if self.resting else messages

    def cancel(self) -> None:
        for _, task in self.resting:
            task.rest = 0.0

    def _rested(self) -> Sequence[Message]:
        """Those whose rest is over, the one that began first before the others."""
        now = perf_counter()
        over = [(since, task) for since, task in self.resting if since + (task.rest or 0) <= now]
        self.resting = [one for one in self.resting if one not in over]
        return [Finished(task, Report(), now - self.epoch, now - since) for since, task in over]
