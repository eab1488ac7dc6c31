"""A virtual clock: nothing sleeps, no thread runs, and the same jobs always end in the same order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from heapq import heapify, heappop, heappush

from planexec_lite import meter
from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import (
    Finished,
    Late,
    Message,
    Progress,
    Report,
    Task,
    TimedOut,
)
from planexec_lite.frozen import frozen
from planexec_lite.workers.session import check_slots, measure


@frozen
class Simulated:
    """A virtual clock with `slots` places (None: no limit): a job takes the seconds that its tools and models charge.

    Nothing sleeps. A job's effect happens when it starts; its completion is placed on the clock. `limits` says how many
    steps can use a resource at once, such as ``{"oven": 1}``.
    """

    slots: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_slots(self.slots)

    def open(self, now: float = 0.0) -> AbstractContextManager[WorkerSession]:
        """Return a session whose clock starts at `now`."""
        return nullcontext(_SimulatedSession(now, self.slots or math.inf))


class _SimulatedSession:
    def __init__(self, now: float, free: float) -> None:
        self.now, self.free = now, free
        # a nested run begins in the middle of a step of the outer one
        self.since = (meter.now() or 0.0) - now
        self.placed = self.resting = 0
        self.due: list[tuple[float, int, Message]] = []

    def start(self, task: Task) -> None:
        if not task.live:
            self.free -= 1
        if task.rest is None:
            report = measure(task.call, task.args, at=self.since + self.now)
        else:
            self.resting += 1
            report = Report(declared=min(task.rest, meter.FOREVER))
        declared = report.declared
        limit = task.limit(self.now)
        inside = []
        for after, _, event in report.events:
            if not (task.live or getattr(event, "live", False)):
                inside.append((self._at(after), event))
            elif limit is None or after <= limit:
                self._place(Progress(task, self._at(after), event))
        if limit is not None and declared > limit:
            self._place(TimedOut(task, self._at(limit), limit))
            self._place(Late(task, report, self._at(declared), declared, inside))
        else:
            self._place(Finished(task, report, self._at(declared), declared, inside))

    def wait(self) -> Sequence[Message]:
        self.now = self.due[0][0]
        messages = []
        # jobs that end at the same instant are reported together, before the next decision
        while self.due and self.due[0][0] == self.now:
            message = heappop(self.due)[2]
            if isinstance(message, Finished | TimedOut) and not message.task.live:
                self.free += 1
            if message.task.rest is not None:
                self.resting -= 1
            messages.append(message)
        return messages

    @property
    def queued(self) -> bool:
        return self.resting > 0

    def cancel(self) -> None:
        for place, (end, number, message) in enumerate(self.due):
            if isinstance(message, Finished) and message.task.rest is not None:
                message.seconds = round(message.seconds - (end - self.now), 9)
                message.at = self.now
                self.due[place] = (self.now, number, message)
        heapify(self.due)

    def _at(self, seconds: float) -> float:
        # 0.1 + 0.2 and 0.3 are the same instant
        return round(self.now + seconds, 9)

    def _place(self, message: Message) -> None:
        self.placed += 1
        heappush(self.due, (message.at, self.placed, message))
