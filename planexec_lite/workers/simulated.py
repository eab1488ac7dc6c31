"""A virtual clock: nothing sleeps, no thread runs, and the same jobs always end in the same order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from heapq import heappop, heappush

from planexec_lite.frozen import frozen
from planexec_lite.workers.crew import Crew, Finished, GivenUp, Heard, Late, Said, Task, check_slots, measure


@frozen
class Simulated:
    """A virtual clock with `slots` places (None: no limit): a job takes the seconds that its tools and models declare.

    Nothing sleeps. A job's effect happens when it starts; its completion is placed on the clock. `limits` says how many
    steps at once may use what, such as ``{"oven": 1}``.
    """

    slots: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_slots(self.slots)

    def open(self, now: float = 0.0) -> AbstractContextManager[Crew]:
        """Return a crew on a clock of its own."""
        return nullcontext(_SimulatedCrew(now, math.inf if self.slots is None else self.slots))


class _SimulatedCrew:
    queued = False

    def __init__(self, now: float, free: float) -> None:
        self.now, self.free = now, free
        self.placed = 0
        self.due: list[tuple[float, int, Said]] = []

    def start(self, task: Task) -> None:
        self.free -= not task.live
        report = measure(task.call, task.args)
        declared = report.declared
        inside = [(self._at(after), event) for after, _, event in report.events]
        if task.timeout is not None and declared > task.timeout:
            self._place(GivenUp(task, self._at(task.timeout), task.timeout))
            self._place(Late(task, report, self._at(declared), declared))
        elif task.live:
            for at, event in inside:
                self._place(Heard(task, at, event))
            self._place(Finished(task, report, self._at(declared), declared))
        else:
            self._place(Finished(task, report, self._at(declared), declared, inside))

    def wait(self) -> Sequence[Said]:
        self.now = self.due[0][0]
        said = []
        while self.due and self.due[0][0] == self.now:
            one = heappop(self.due)[2]
            self.free += isinstance(one, Finished | GivenUp) and not one.task.live
            said.append(one)
        return said

    def cancel(self) -> None:
        pass

    def _at(self, seconds: float) -> float:
        return round(self.now + seconds, 9)

    def _place(self, said: Said) -> None:
        self.placed += 1
        heappush(self.due, (said.at, self.placed, said))
