"""A plan as a graph: its levels, its longest chain and its cycles.

Pure functions over ``{id: ids that it depends on}``, linear in the number of ids and edges. Dependencies that are not
in the graph count as done. The order is Kahn's (1962).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Graph = Mapping[str, Iterable[str]]


def levels(graph: Graph) -> list[list[str]]:
    """Return the ids level by level: a level contains the ids that can start when the levels before it are done.

    Ids on a cycle, and ids that depend on a cycle, are in no level.
    """
    blockers, dependents = edges(graph)
    level = [id for id, count in blockers.items() if count == 0]
    order = {id: place for place, id in enumerate(graph)}
    by_level = []
    while level:
        by_level.append(level)
        after = []
        for id in level:
            for dependent in dependents[id]:
                blockers[dependent] -= 1
                if blockers[dependent] == 0:
                    after.append(dependent)
        level = sorted(after, key=order.__getitem__)
    return by_level


def edges(graph: Graph) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Return how many ids in the graph each id waits for, and which ids wait for each."""
    blockers = dict.fromkeys(graph, 0)
    dependents: dict[str, list[str]] = {id: [] for id in graph}
    for id, waits_for in graph.items():
        for other in waits_for:
            if other in dependents:
                blockers[id] += 1
                dependents[other].append(id)
    return blockers, dependents


def cycles(graph: Graph) -> list[list[str]]:
    """Return cycles, each as the ids in the order in which they wait: ``["2", "4"]`` if 2 waits for 4 and 4 for 2.

    Every id that can never start is on a reported cycle or depends on it, and each cycle is reported once.
    """
    started = {id for level in levels(graph) for id in level}
    # from each stuck id follow a dependency that is stuck too: such a walk must end in a cycle
    stuck = {id: next(other for other in graph[id] if other in graph and other not in started)
             for id in graph if id not in started}  # fmt: skip
    seen: set[str] = set()
    all_cycles = []
    for start in stuck:
        path: dict[str, int] = {}
        id = start
        while id not in seen:
            seen.add(id)
            path[id] = len(path)
            id = stuck[id]
        if id in path:
            all_cycles.append(list(path)[path[id] :])
    return all_cycles


def longest_path(graph: Graph, durations: Mapping[str, float] | None = None) -> tuple[list[str], float]:
    """Return the chain of ids that takes longest, and its length; without `durations` every id takes 1.

    Of several longest chains, the first in the order of the graph is returned. Raises `KeyError` for an id without a
    duration.
    """
    finish: dict[str, float] = {}
    before: dict[str, str | None] = {}
    for level in levels(graph):
        for id in level:
            last = max((other for other in graph[id] if other in finish), key=finish.__getitem__, default=None)
            before[id] = last
            finish[id] = round(
                (finish[last] if last is not None else 0) + (durations[id] if durations is not None else 1), 9
            )
    end = max((id for id in graph if id in finish), key=finish.__getitem__, default=None)
    path = []
    link = end
    while link is not None:
        path.append(link)
        link = before[link]
    return path[::-1], finish[end] if end is not None else 0
