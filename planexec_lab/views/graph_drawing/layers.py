"""The shape of a drawing: the column of each step and the route of its edges, without coordinates.

A step's column comes after the columns of its dependencies (longest-path layering; Sugiyama et al., 1981). An edge that
passes a column gets a place there, so it never runs behind a step; edges of one step share their route. A plan with too many
columns is broken into bands, one below the other: an edge between bands leaves through a port "to 9" and enters through a
port "from 7". An edge that closes a cycle is left out of the layering and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from planexec_lite.plan.graph import levels

Pair = tuple[str, str]


class Spot(NamedTuple):
    """One place in a column: a step, an unknown step, a passing edge, or the port of a band."""

    kind: Literal["step", "unknown", "via", "to", "from", "circle to", "circle from"]
    id: str
    column: int


@dataclass
class Band:
    """One row of columns. `links` join spots in neighbouring columns and say which edges run there."""

    columns: list[list[Spot]]
    links: dict[tuple[Spot, Spot], list[Pair]] = field(default_factory=dict)
    ports: dict[Spot, list[str]] = field(default_factory=dict)
    circles: list[Pair] = field(default_factory=list)


class Shape(NamedTuple):
    """The bands of a drawing, and the edges (from, to) that close a cycle."""

    bands: list[Band]
    circles: list[Pair]


def shape(graph: Mapping[str, Iterable[str]], most_columns: int, most_in_bands: int) -> Shape:
    """Return the shape of a plan's graph, ``{id: ids of its dependencies}``.

    One band has at most `most_columns` columns. A plan that needs more gets several bands of at most `most_in_bands` columns.
    """
    waits_for = {id: list(dict.fromkeys(others)) for id, others in graph.items()}
    unknown = dict.fromkeys(other for others in waits_for.values() for other in others if other not in waits_for)
    circles = _circles(waits_for)
    forward: dict[str, list[str]] = {id: [] for id in unknown}
    for id, others in waits_for.items():
        forward[id] = [other for other in others if (other, id) not in circles]
    layer = {id: number for number, level in enumerate(levels(forward)) for id in level}
    for id in unknown:
        layer[id] = min(layer[other] for other, others in forward.items() if id in others) - 1
    depth = max(layer.values(), default=-1) + 1
    count = 1 if depth <= most_columns else -(-depth // most_in_bands)
    each = -(-depth // count) if depth else 1
    bands = [Band([[] for _ in range(each + 2)]) for _ in range(count)]
    spots = {}
    for id in [*waits_for, *unknown]:
        band, column = divmod(layer[id], each)
        spots[id] = Spot("unknown" if id in unknown else "step", id, column + 1)
        bands[band].columns[column + 1].append(spots[id])
    for id in waits_for:
        for other in waits_for[id]:
            _draw(bands, (other, id), spots, layer[other] // each, layer[id] // each, (other, id) in circles)
    for one in bands:
        one.columns = [column for column in one.columns if column]
    return Shape(bands, list(circles))


def _circles(waits_for: Mapping[str, list[str]]) -> dict[Pair, None]:
    """The edges that lead back to a step on the current path; without them the graph has no cycle."""
    dependents: dict[str, list[str]] = {id: [] for id in waits_for}
    for id, others in waits_for.items():
        for before in filter(dependents.__contains__, others):
            dependents[before].append(id)
    circles: dict[Pair, None] = {}
    seen: set[str] = set()
    for start in waits_for:
        if start in seen:
            continue
        seen.add(start)
        path = {start: iter(dependents[start])}
        while path:
            id, ahead = next(reversed(path.items()))
            other = next(ahead, None)
            if other is None:
                del path[id]
            elif other in path:
                circles[id, other] = None
            elif other not in seen:
                seen.add(other)
                path[other] = iter(dependents[other])
    return circles


def _draw(bands: list[Band], pair: Pair, spots: Mapping[str, Spot], start: int, end: int, circle: bool) -> None:
    one, other = spots[pair[0]], spots[pair[1]]
    if start == end and circle:
        bands[start].circles.append(pair)
    elif start == end:
        _chain(bands[start], one, other, pair)
    else:
        out = Spot("circle to" if circle else "to", one.id, len(bands[start].columns) - 1)
        into = Spot("circle from" if circle else "from", one.id, 0)
        for band, port, words in ((bands[start], out, other.id), (bands[end], into, one.id)):
            if port not in band.ports:
                band.columns[port.column].append(port)
            if words not in band.ports.setdefault(port, []):
                band.ports[port].append(words)
        _chain(bands[start], one, out, pair)
        _chain(bands[end], into, other, pair)


def _chain(band: Band, one: Spot, other: Spot, pair: Pair) -> None:
    here = one
    for column in range(one.column + 1, other.column + 1):
        there = other if column == other.column else Spot("via", one.id, column)
        if there.kind == "via" and there not in band.columns[column]:
            band.columns[column].append(there)
        band.links.setdefault((here, there), []).append(pair)
        here = there
