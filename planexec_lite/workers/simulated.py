"""A virtual clock: nothing sleeps, no thread runs, and the same jobs always end in the same order."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from heapq import heappop, heappush

from planexec_lite.workers.crew import Crew, Finished, Task, check_slots, measure


@dataclass(frozen=True)
class Simulated:
    """A virtual clock with `slots` places (None: no limit): a job takes the seconds that its tools and models declare.

    Nothing sleeps. A job's effect happens when it starts; its completion is placed on the clock.
    """

    slots: int | None = None

    def __post_init__(self) -> None:
        check_slots(self.slots)

    def open(self, now: float = 0.0) -> AbstractContextManager[Crew]:
        """Return a crew on a clock of its own."""
        return nullcontext(_SimulatedCrew(now, math.inf if self.slots is None else self.slots))


class _SimulatedCrew:
    def __init__(self, now: float, free: float) -> None:
        self.now, self.free = now, free
        self.started = 0
        self.due: list[tuple[float, int, Finished]] = []

    def start(self, task: Task) -> None:
        report = measure(task.call, *task.args)
        seconds = min(report.declared, task.timeout or math.inf)
        self.free -= 1
        self.started += 1
        at = round(self.now + seconds, 9)
        inside = [(round(self.now + min(after, seconds), 9), event) for after, _, event in report.inside]
        heappush(self.due, (at, self.started, Finished(task, report, at, report.declared, inside)))

    def wait(self) -> list[Finished]:
        self.now = self.due[0][0]
        finished = []
        while self.due and self.due[0][0] == self.now:
            finished.append(heappop(self.due)[2])
        self.free += len(finished)
        return finished
