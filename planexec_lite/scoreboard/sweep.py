"""Faults by a seeded chance, from rare to frequent: how often does each variation still reach the goal, and what does that cost?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from planexec_lite.scoreboard.faults import KINDS, Faults, Kind
from planexec_lite.scoreboard.rows import Row, row
from planexec_lite.variations import VARIATIONS

RATES = (0.1, 0.2, 0.4)
SEEDS = 10


@dataclass(frozen=True, slots=True)
class Share:
    """How often a variation reached the goal under faults of one kind and rate, and what a run used at the mean."""

    variation: str
    kind: Kind
    rate: float
    runs: int
    reached: int
    calls: float
    wasted: float
    replans: float


def sweep(
    task: str,
    of: Iterable[str] = VARIATIONS,
    kinds: Sequence[Kind] = KINDS,
    rates: Sequence[float] = RATES,
    seeds: int = SEEDS,
) -> Iterator[Share]:
    """Carry out a task with each variation, under each kind of fault at each rate, once a seed."""
    for variation in of:
        for kind in kinds:
            for rate in rates:
                runs = [row(variation, task, Faults(kind, rate, seed)) for seed in range(seeds)]
                yield share(kind, rate, runs)


def share(kind: Kind, rate: float, runs: Sequence[Row]) -> Share:
    """Count some runs of one variation."""
    return Share(
        runs[0].variation,
        kind,
        rate,
        len(runs),
        sum(one.reached for one in runs),
        sum(one.figures.calls for one in runs) / len(runs),
        sum(one.figures.wasted for one in runs) / len(runs),
        sum(one.figures.replans for one in runs) / len(runs),
    )
