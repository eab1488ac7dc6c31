"""The ready queue: an index of the unfinished steps that can start. The cost of an update depends on what changes, not
on the size of the plan.

It adds no information to the board and can be rebuilt from the steps and their states. Ready steps that share the same
set of limits are in one heap, in plan order. The next step is the first in plan order among the heads of those heaps
whose limits all have a free slot. A heap without a free slot is skipped, and within a heap no step overtakes another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import takewhile

from planexec_lite.core.part import Part
from planexec_lite.plan import Step
from planexec_lite.tools import Limit

Kind = tuple[int, ...]  # which of the limits a step falls under


class ReadyQueue(Part):
    """Tracks the unfinished dependencies of each step and the free slots of each limit.

    `unreachable`: the waiting steps that depend on a lost step. `lost`: the steps that can't be done; a step that is added with
    `run_anyway` does not wait for them.
    """

    def __init__(self, limits: Sequence[Limit] = (), lost: Iterable[str] = ()) -> None:
        self.unreachable: dict[str, None] = {}
        self.lost = {*lost}
        self._limits = limits
        self._free_slots = [limit.slots for limit in limits]
        self._kind: dict[str, Kind] = {}
        self._ids: list[str] = []  # in plan order; the heaps contain the places in it
        self._place: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        self._dependents: defaultdict[str, list[str]] = defaultdict(list)
        self._run_anyway: set[str] = set()
        self._ready: dict[Kind, list[int]] = {(): []}

    def first(self) -> str | None:
        """Return the id of the first ready step in plan order that has a free slot, or None."""
        if not self._limits:
            ready = self._ready[()]
            return self._ids[ready[0]] if ready else None
        heads = [heap[0] for kind, heap in self._ready.items() if heap and self._has_slot(kind)]
        return self._ids[min(heads)] if heads else None

    def ready(self) -> Iterator[str]:
        """Yield the ready steps that have a free slot, in plan order."""
        ready = (heap for kind, heap in self._ready.items() if self._has_slot(kind))
        yield from (
            self._ids[place] for place in sorted(place for heap in ready for place in heap)
        )

    def before(self, step_id: str) -> Iterator[str]:
        """Yield the ready steps that precede `step_id` in plan order and have a free slot."""
        return takewhile(lambda other: self._place[other] < self._place[step_id], self.ready())

    def add(self, steps: Iterable[Step], state: Mapping[str, str]) -> None:
        """Append steps to the plan order."""
        missing, dependents = self._missing, self._dependents
        for place, step in enumerate(steps, len(self._ids)):
            step_id = step.id
            self._ids.append(step_id)
            self._place[step_id] = place
            if self._limits:
                self._kind[step_id] = tuple(
                    n for n, limit in enumerate(self._limits) if (step.tool or "") in limit.tools
                )
            waits_for = [other for other in step.depends_on if state.get(other) != "done"]
            if step.run_anyway:
                self._run_anyway.add(step_id)
                waits_for = [other for other in waits_for if other not in self.lost]
            elif state[step_id] == "waiting" and not self.lost.isdisjoint(waits_for):
                self.unreachable[step_id] = None
            missing[step_id] = len(waits_for)
            for other in waits_for:
                dependents[other].append(step_id)
            if state[step_id] in ("running", "in doubt"):
                self.acquire(step_id)
            elif not waits_for and state[step_id] == "waiting":
                self.put(step_id)

    def put(self, step_id: str) -> None:
        """Add a step to the ready steps."""
        heappush(self._queue(step_id), self._place[step_id])

    def is_ready(self, step_id: str) -> bool:
        """Return whether a waiting step waits for no other step."""
        return not self._missing[step_id]

    def take(self, step_id: str) -> None:
        """Remove a step from the ready steps, because it starts."""
        ready, place = self._queue(step_id), self._place[step_id]
        if ready[0] == place:
            heappop(ready)
        else:  # the event was recorded in another order
            ready.remove(place)
            heapify(ready)

    def has_slot(self, step_id: str) -> bool:
        """Return whether every limit of the step has a free slot."""
        return self._has_slot(self._kind.get(step_id, ()))

    def acquire(self, step_id: str) -> None:
        """Take one slot of each limit of the step."""
        for limit in self._kind.get(step_id, ()):
            self._free_slots[limit] -= 1

    def release(self, step_id: str) -> None:
        """Release the slots of the step."""
        for limit in self._kind.get(step_id, ()):
            self._free_slots[limit] += 1

    def lose(self, step_id: str) -> None:
        """Record that a step can't be done. Dependents with `run_anyway` stop waiting for it; the others are unreachable."""
        self.lost.add(step_id)
        self.unreachable.pop(step_id, None)  # it was skipped
        for other in self._dependents.get(step_id, ()):
            if other in self._run_anyway:
                self._arrive([other])
            elif other not in self.lost:
                self.unreachable[other] = None

    def finish(self, step_id: str) -> None:
        """Record that a step is done. Steps that were waiting only for it become ready."""
        self._arrive(self._dependents.get(step_id, ()))

    def _arrive(self, ids: Iterable[str]) -> None:
        for other in ids:
            missing = self._missing[other] = self._missing[other] - 1
            if not missing:
                self.put(other)

    def _queue(self, step_id: str) -> list[int]:
        return self._ready.setdefault(self._kind.get(step_id, ()), [])

    def _has_slot(self, kind: Kind) -> bool:
        return all(self._free_slots[limit] > 0 for limit in kind)
