"""Two planners on the same goals: the mean difference of a metric, and its interval.

The interval is the percentile bootstrap of Efron, "Bootstrap methods: another look at the jackknife" (1979): the
differences are drawn again and again, with replacement, and the means of the draws are put in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

FEWEST = 6
"""Pairs from which a difference can be told: that five coins fall alike happens once in sixteen times."""
_OUTSIDE = 0.025  # the share of the draws on each side of a 95 % interval


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired comparison.

    Args:
        pairs: number of goals.
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


def paired(one: Sequence[float], other: Sequence[float], *, seed: int = 0, resamples: int = 2_000) -> Paired:
    """Compare two planners by their numbers for the same goals, in the same order.

    Args:
        one: the first planner's number for each goal.
        other: the second's.
        seed: chance is drawn from this: the same numbers give the same interval.
        resamples: how often the differences are drawn.

    Raises `ValueError` for lists of different lengths, and without goals.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} numbers against {len(other)}: compare two planners on the same goals")
    if not one:
        raise ValueError("no goal was measured for both planners, so there is nothing to compare")
    differences = [first - second for first, second in zip(one, other, strict=True)]
    random = Random(seed)
    means = sorted(fmean(random.choices(differences, k=len(differences))) for _ in range(resamples))
    outside = int(resamples * _OUTSIDE)
    mean, low, high = (round(number, 9) for number in (fmean(differences), means[outside], means[-1 - outside]))
    return Paired(len(differences), mean, low, high)
