"""Two planners on the same goals: the mean difference of a metric, and its interval.

The interval is the percentile bootstrap of Efron, "Bootstrap methods: another look at the jackknife" (1979): the
differences are drawn again and again, with replacement, and the means of the draws are put in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

FEWEST = 6
"""Pairs from which a difference can be told: that five coins fall alike happens once in sixteen times."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired comparison.

    Args:
        pairs: number of goals with a measurement of both planners.
        mean: mean difference, the first planner's number minus the second's.
        low: lower end of the interval.
        high: upper end of the interval.
    """

    pairs: int
    mean: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        """Whether a difference can be told: there are pairs enough, and the interval leaves 0 out."""
        return self.pairs >= FEWEST and not self.low <= 0 <= self.high

    def __str__(self) -> str:
        pairs = "1 pair" if self.pairs == 1 else f"{self.pairs} pairs"
        interval = f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}] over {pairs}"
        return interval if self.told else f"{interval}: no difference can be told"


def paired(
    one: Sequence[float | None],
    other: Sequence[float | None],
    *,
    seed: int = 0,
    resamples: int = 2_000,
    level: float = 0.95,
) -> Paired:
    """Compare two planners by their numbers for the same goals, in the same order.

    Args:
        one: the first planner's number for each goal; None: not measured. A pair counts where both have one.
        other: the second's.
        seed: chance is drawn from this: the same numbers give the same interval.
        resamples: how often the differences are drawn.
        level: the share of the draws that lies in the interval.

    Raises `ValueError` for lists of different lengths, and where no goal was measured for both.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} numbers against {len(other)}: compare two planners on the same goals")
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"resamples={resamples}, level={level}: draw once at least, for a level between 0 and 1")
    differences = [
        first - second for first, second in zip(one, other, strict=True) if first is not None and second is not None
    ]
    if not differences:
        raise ValueError("no goal was measured for both planners, so there is nothing to compare")
    random = Random(seed)
    means = sorted(fmean(random.choices(differences, k=len(differences))) for _ in range(resamples))
    outside = int(resamples * (1 - level) / 2)
    mean, low, high = (round(number, 9) for number in (fmean(differences), means[outside], means[-1 - outside]))
    return Paired(len(differences), mean, low, high)
