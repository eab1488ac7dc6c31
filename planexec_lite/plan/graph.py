"""A plan as a graph: its levels, its longest chain, its cycles, and what comes before a step.

Pure functions over ``{step id: ids that it depends on}``, linear in the number of ids and edges. Dependencies that are
not in the graph count as done. The levels come from the standard library's `graphlib`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from itertools import chain

Graph = Mapping[str, Iterable[str]]


def levels(graph: Graph) -> list[list[str]]:
    """Return the ids level by level: a level contains the ids that can start when the levels before it are done.

    Ids on a cycle, and ids that depend on a cycle, are in no level.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for step, waits_for in graph.items():
        sorter.add(step, *filter(graph.__contains__, waits_for))
    with suppress(CycleError):
        sorter.prepare()
    order = {step: place for place, step in enumerate(graph)}
    by_level = []
    while level := sorter.get_ready():
        by_level.append(sorted(level, key=order.__getitem__))
        sorter.done(*level)
    return by_level


def cycles(graph: Graph) -> list[list[str]]:
    """Return cycles, each as the ids in the order in which they wait: ``["2", "4"]`` if 2 waits for 4 and 4 for 2.

    Every id that can never start is on a reported cycle or depends on it, and each cycle is reported once.
    """
    if _is_sorted(graph):
        return []
    stuck = set(graph).difference(*levels(graph))
    # from each stuck id follow a dependency that is stuck too: such a walk must end in a cycle
    seen: set[str] = set()
    all_cycles = []
    for step in filter(stuck.__contains__, graph):
        path: list[str] = []
        while step not in seen:
            seen.add(step)
            path.append(step)
            step = next(filter(stuck.__contains__, graph[step]))
        if step in path:
            all_cycles.append(path[path.index(step) :])
    return all_cycles


def _is_sorted(graph: Graph) -> bool:
    """Whether every id comes after the ids that it depends on, as in most plans."""
    later = set(graph)
    for step, waits_for in graph.items():
        if not later.isdisjoint(waits_for):
            return False
        later.remove(step)
    return True


def longest_path(
    graph: Graph,
    durations: Mapping[str, float] | None = None,
) -> tuple[list[str], float]:
    """Return the chain of ids that takes longest, and its length; without `durations` every id takes 1.

    Of several longest chains, the first in the order of the graph is returned. Raises `KeyError` for an id without a
    duration.
    """
    if durations is None:
        durations = dict.fromkeys(graph, 1)
    finish: dict[str | None, float] = {None: 0}
    before: dict[str, str | None] = {}
    for step in chain.from_iterable(levels(graph)):
        waits_for = filter(finish.__contains__, graph[step])
        before[step] = max(waits_for, key=finish.__getitem__, default=None)
        finish[step] = round(finish[before[step]] + durations[step], 9)
    last = max(filter(before.__contains__, graph), key=finish.__getitem__, default=None)
    path = []
    step_id = last
    while step_id is not None:
        path.append(step_id)
        step_id = before[step_id]
    return path[::-1], finish[last]


def all_before(graph: Graph, step: str) -> set[str]:
    """Return the ids that `step` depends on, directly or indirectly. Ids that are not in the graph are left out."""
    before: set[str] = set()
    left = [step]
    while left:
        new = {other for other in graph[left.pop()] if other in graph} - before
        before |= new
        left += new
    return before
