"""The frontier: which of the unfinished steps are ready. A change costs what it touches, not the plan's size."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush

from planexec_lite.plan import Step


class Frontier:
    """Knows who waits for whom among `steps`; the ids in `done` are waited for by nobody."""

    def __init__(self, steps: Sequence[Step] = (), done: Collection[str] = ()) -> None:
        self._place = {step.id: place for place, step in enumerate(steps)}
        self._blockers: dict[str, int] = {}
        self._behind: dict[str, list[str]] = {step.id: [] for step in steps}
        for step in steps:
            waits_for = [id for id in step.depends_on if id not in done]
            self._blockers[step.id] = len(waits_for)
            for id in waits_for:
                self._behind[id].append(step.id)
        self._ready = [(place, id) for id, place in self._place.items() if not self._blockers[id]]
        heapify(self._ready)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frontier) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def first(self) -> str | None:
        """The first ready step in plan order, None if no step is ready."""
        return self._ready[0][1] if self._ready else None

    def behind(self, id: str) -> list[str]:
        """The steps that wait for `id` directly."""
        return self._behind[id]

    def take(self) -> None:
        """Take the first ready step away: it was started."""
        heappop(self._ready)

    def finish(self, id: str) -> None:
        """A step is done: what waited for it alone becomes ready."""
        for other in self._behind[id]:
            self._blockers[other] -= 1
            if not self._blockers[other]:
                heappush(self._ready, (self._place[other], other))
