"""A plan as a graph: its levels, its longest chain and its cycles.

Pure functions over ``{step id: ids that it depends on}``, linear in the number of ids and edges. Dependencies that are
not in the graph count as done. The order is Kahn's (1962).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Graph = Mapping[str, Iterable[str]]


def levels(graph: Graph) -> list[list[str]]:
    """Return the ids level by level: a level contains the ids that can start when the levels before it are done.

    Ids on a cycle, and ids that depend on a cycle, are in no level.
    """
    blockers, dependents = edges(graph)
    order = {step: place for place, step in enumerate(graph)}
    level = [step for step, count in blockers.items() if count == 0]
    by_level = []
    while level:
        by_level.append(level)
        after = []
        for step in level:
            for dependent in dependents[step]:
                blockers[dependent] -= 1
                if blockers[dependent] == 0:
                    after.append(dependent)
        level = sorted(after, key=order.__getitem__)
    return by_level


def edges(graph: Graph) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Return how many ids in the graph each id waits for, and which ids wait for each."""
    blockers = dict.fromkeys(graph, 0)
    dependents: dict[str, list[str]] = {step: [] for step in graph}
    for step, waits_for in graph.items():
        for other in waits_for:
            if other in dependents:
                blockers[step] += 1
                dependents[other].append(step)
    return blockers, dependents


def is_sorted(graph: Graph) -> bool:
    """Whether each id depends only on ids before it. Such a graph has no cycle."""
    before: set[str] = set()
    for step, waits_for in graph.items():
        if not before.issuperset(waits_for):
            return False
        before.add(step)
    return True


def cycles(graph: Graph) -> list[list[str]]:
    """Return cycles, each as the ids in the order in which they wait: ``["2", "4"]`` if 2 waits for 4 and 4 for 2.

    Every id that can never start is on a reported cycle or depends on it, and each cycle is reported once.
    """
    stuck = set(graph).difference(*levels(graph))
    # from each stuck id follow a dependency that is stuck too: such a walk must end in a cycle
    follow: dict[str, str] = {}
    for step in filter(stuck.__contains__, graph):
        follow[step] = next(filter(stuck.__contains__, graph[step]))
    seen: set[str] = set()
    all_cycles = []
    for start in follow:
        path: dict[str, int] = {}
        step = start
        while step not in seen:
            seen.add(step)
            path[step] = len(path)
            step = follow[step]
        if step in path:
            all_cycles.append(list(path)[path[step] :])
    return all_cycles


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
    finish: dict[str, float] = {}
    before: dict[str, str] = {}
    for level in levels(graph):
        for step in level:
            waits_for = [other for other in graph[step] if other in finish]
            start: float = 0
            if waits_for:
                before[step] = max(waits_for, key=finish.__getitem__)
                start = finish[before[step]]
            finish[step] = round(start + durations[step], 9)
    if not finish:
        return [], 0
    end = max((step for step in graph if step in finish), key=finish.__getitem__)
    path = [end]
    while path[-1] in before:
        path.append(before[path[-1]])
    return path[::-1], finish[end]
