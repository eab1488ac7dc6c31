"""Positions: an order in each column with few edge crossings, then heights that make edges straight.

The order comes from barycentre sweeps (Sugiyama et al., 1981). The heights are as close to the mean of the neighbours as order
and distance allow, column by column (isotonic regression, by pooling adjacent violators).
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import fsum

from planexec_lab.views.graph_drawing.layers import Band, Spot

SWEEPS = 40
STIFF = (8.0, 1000.0)  # how hard an only edge pulls: first to find its place, then to run straight
Neighbours = Mapping[Spot, Sequence[Spot]]


def arrange(band: Band, height: Callable[[Spot], float], gap: float) -> dict[Spot, float]:
    """Order the columns of `band`, and return the middle of each spot, in pixels from the top of the band.

    `height` gives the height of a spot; `gap` is the least distance between two spots of a column.
    """
    before, after = _neighbours(band)
    _order(band, before, after)
    middle: dict[Spot, float] = {}
    for column in band.columns:
        top = -(fsum(map(height, column)) + gap * (len(column) - 1)) / 2
        for spot in column:
            middle[spot] = top + height(spot) / 2
            top += height(spot) + gap
    for stiff in STIFF:
        pulls = _pulls(band, before, after, stiff)
        for sweep in range(SWEEPS):
            for column in band.columns if sweep % 2 == 0 else band.columns[::-1]:
                _settle(column, middle, pulls, height, gap)
    top = min((middle[spot] - height(spot) / 2 for spot in middle), default=0.0)
    return {spot: round(at - top, 1) for spot, at in middle.items()}


def crossings(band: Band) -> int:
    """Return how many pairs of edges cross."""
    total = 0
    place = {spot: number for column in band.columns for number, spot in enumerate(column)}
    _, after = _neighbours(band)
    for column in band.columns:
        passed: list[int] = []
        for spot in column:
            ends = sorted(place[other] for other in after[spot])
            total += sum(len(passed) - bisect(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _neighbours(band: Band) -> tuple[dict[Spot, list[Spot]], dict[Spot, list[Spot]]]:
    before: dict[Spot, list[Spot]] = {spot: [] for column in band.columns for spot in column}
    after: dict[Spot, list[Spot]] = {spot: [] for spot in before}
    for one, other in band.links:
        before[other].append(one)
        after[one].append(other)
    return before, after


def _pulls(band: Band, before: Neighbours, after: Neighbours, stiff: float) -> dict[Spot, list[tuple[Spot, float]]]:
    """How hard the neighbours of each spot pull: an only edge most, of many edges each a little."""
    pulls: dict[Spot, list[tuple[Spot, float]]] = {spot: [] for spot in before}
    for one, other in band.links:
        most = max(len(after[one]), len(before[other]))
        pull = stiff if most == 1 else 1 / most
        pulls[one].append((other, pull))
        pulls[other].append((one, pull))
    return pulls


def _order(band: Band, before: Neighbours, after: Neighbours) -> None:
    """Sweep forward and back, with ties in both orders, and keep the best order."""
    first = {spot: number for column in band.columns for number, spot in enumerate(column)}
    best, fewest = [column[:] for column in band.columns], crossings(band)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        forth, turn = sweep % 2 == 0, 1 if sweep % 8 < 4 else -1
        near = before if forth else after
        columns = band.columns if forth else band.columns[::-1]
        for fixed, column in pairwise(columns):
            place = {spot: number for number, spot in enumerate(fixed)}
            keys = {
                spot: (_mean([place[other] for other in near[spot]], number), turn * number)
                for number, spot in enumerate(column)
            }
            column.sort(key=keys.__getitem__)
        if (number := crossings(band)) < fewest:
            best, fewest = [column[:] for column in band.columns], number
    falls = sum((first[one] > first[other]) - (first[one] < first[other]) for c in best for one, other in pairwise(c))
    band.columns = [column[::-1] for column in best] if falls > 0 else best


def _mean(numbers: Sequence[float], otherwise: float) -> float:
    return fsum(numbers) / len(numbers) if numbers else otherwise


def _settle(
    column: Sequence[Spot],
    middle: dict[Spot, float],
    pulls: Mapping[Spot, Sequence[tuple[Spot, float]]],
    height: Callable[[Spot], float],
    gap: float,
) -> None:
    """Move a column's spots towards their neighbours, weighted by the strength of each."""
    offset, offsets, blocks = 0.0, [], []
    for number, spot in enumerate(column):
        offset += (height(column[number - 1]) + height(spot)) / 2 + gap if number else 0.0
        offsets.append(offset)
        near = pulls[spot]
        weight = fsum(pull for _, pull in near)
        wanted = fsum(middle[other] * pull for other, pull in near) / weight if weight else middle[spot]
        blocks.append((wanted - offset, max(weight, 0.01), 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (low, w1, n1), (high, w2, n2) = blocks[-2:]
            blocks[-2:] = [((low * w1 + high * w2) / (w1 + w2), w1 + w2, n1 + n2)]
    settled = [at for at, _, size in blocks for _ in range(size)]
    for spot, at, shift in zip(column, settled, offsets, strict=True):
        middle[spot] = at + shift
