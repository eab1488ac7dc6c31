"""The ready queue: which of the unfinished steps can start. A change costs what it touches, not the plan's size.

It contains nothing that the board does not know: it is an index, which can be built again from the steps and their states.
Ready steps wait in one heap for each set of limits that they share, in plan order. The first ready step is the first of
those heaps whose limits all have a slot left. A full heap is skipped, and no step overtakes another one in its heap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from planexec_lite.plan import Step
from planexec_lite.tools import Limit

Kind = tuple[int, ...]  # which of the limits a step falls under


class ReadyQueue:
    """Knows which of the added steps waits for which other one, and how many slots of each limit are free."""

    def __init__(self, limits: Sequence[Limit] = ()) -> None:
        self._limits = limits
        self._free_slots = [limit.slots for limit in limits]
        self._kind: dict[str, Kind] = {}
        self._ids: list[str] = []  # in plan order; the heaps contain the places in it
        self._place: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        self._dependents: defaultdict[str, list[str]] = defaultdict(list)
        self._run_anyway: set[str] = set()
        self._unlimited: list[int] = []
        self._ready: dict[Kind, list[int]] = {(): self._unlimited}

    def first(self) -> str | None:
        """Return the first ready step in plan order that has a slot, None if there is none."""
        if not self._limits:
            return self._ids[self._unlimited[0]] if self._unlimited else None
        heads = [ready[0] for kind, ready in self._ready.items() if ready and self._has_slot(kind)]
        return self._ids[min(heads)] if heads else None

    def add(self, steps: Iterable[Step], state: Mapping[str, str], lost: Collection[str]) -> None:
        """Add steps at the end of the plan order. A step that runs anyway does not wait for the steps in `lost`."""
        missing, dependents = self._missing, self._dependents
        for place, step in enumerate(steps, len(self._ids)):
            id = step.id
            self._ids.append(id)
            self._place[id] = place
            if self._limits:
                self.sort_in(step)
            waits_for = [other for other in step.depends_on if state.get(other) != "done"]
            if step.run_anyway:
                self._run_anyway.add(id)
                waits_for = [other for other in waits_for if other not in lost]
            missing[id] = len(waits_for)
            for other in waits_for:
                dependents[other].append(id)
            if state[id] in ("running", "in doubt"):
                self.acquire(id)
            elif not waits_for and state[id] == "waiting":
                self.put(id)

    def sort_in(self, step: Step) -> None:
        """Note which limits apply to the step, which must be neither ready nor running."""
        self._kind[step.id] = tuple([n for n, limit in enumerate(self._limits) if (step.tool or "") in limit.tools])

    def put(self, id: str) -> None:
        """A step is ready."""
        heappush(self._queue(id) if self._limits else self._unlimited, self._place[id])

    def is_ready(self, id: str) -> bool:
        """Whether the step is ready."""
        ready, place = self._queue(id) if self._limits else self._unlimited, self._place[id]
        return bool(ready) and (ready[0] == place or place in ready)

    def take(self, id: str) -> None:
        """A ready step starts, and takes its slots."""
        ready, place = self._queue(id) if self._limits else self._unlimited, self._place[id]
        if ready[0] == place:
            heappop(ready)
        else:  # the event was recorded in another order
            ready.remove(place)
            heapify(ready)
        if self._limits:
            self.acquire(id)

    def has_slot(self, id: str) -> bool:
        """Whether every limit that the step falls under has a slot left."""
        return not self._limits or self._has_slot(self._kind[id])

    def acquire(self, id: str) -> None:
        """A step takes a slot of each of its limits."""
        for limit in self._kind[id] if self._limits else ():
            self._free_slots[limit] -= 1

    def release(self, id: str) -> None:
        """A step gives its slots back."""
        for limit in self._kind[id] if self._limits else ():
            self._free_slots[limit] += 1

    def lose(self, id: str) -> list[str]:
        """A step will never be done: what runs anyway waits for it no more, and the others that waited are returned."""
        waiting = self._dependents.get(id, [])
        if not self._run_anyway:
            return waiting
        self._arrive([other for other in waiting if other in self._run_anyway])
        return [other for other in waiting if other not in self._run_anyway]

    def finish(self, id: str) -> None:
        """A step is done: what waited for it alone becomes ready."""
        self._arrive(self._dependents.get(id, ()))

    def _arrive(self, ids: Iterable[str]) -> None:
        for other in ids:
            missing = self._missing[other] = self._missing[other] - 1
            if not missing:
                self.put(other)

    def _queue(self, id: str) -> list[int]:
        return self._ready.setdefault(self._kind[id], [])

    def _has_slot(self, kind: Kind) -> bool:
        return all(self._free_slots[limit] > 0 for limit in kind)
