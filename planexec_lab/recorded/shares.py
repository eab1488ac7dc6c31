"""A share, and the difference of two shares, with 95 % intervals.

Thirty answers are few. The interval of a share is Wilson's (1927), that of a difference is Newcombe's (1998, "Interval
estimation for the difference between independent proportions", method 10). A difference whose interval contains zero shows
nothing. Of twenty comparisons of equals, one looks different by chance.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

Z = 1.959964  # of the normal distribution: 95 % lie within


class Interval(NamedTuple):
    """An estimate, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def tells(self) -> bool:
        """Whether zero lies outside."""
        return self.low > 0 or self.high < 0


class Share(NamedTuple):
    """How many of how many."""

    hits: int
    of: int

    @property
    def interval(self) -> Interval:
        """The share with its interval. Raises `ValueError` for a share of nothing."""
        if self.of < 1:
            raise ValueError("a share of nothing has no interval")
        share, spread = self.hits / self.of, Z * Z / self.of
        middle = (share + spread / 2) / (1 + spread)
        half = Z / (1 + spread) * sqrt(share * (1 - share) / self.of + spread / (4 * self.of))
        low = middle - half if self.hits else 0.0  # exactly: what is left there is rounding
        high = middle + half if self.hits < self.of else 1.0
        return Interval(share, low, high)

    def minus(self, other: Share) -> Interval:
        """The difference of two shares with its interval."""
        here, there = self.interval, other.interval
        value = here.value - there.value
        below = sqrt((here.value - here.low) ** 2 + (there.high - there.value) ** 2)
        above = sqrt((here.high - here.value) ** 2 + (there.value - there.low) ** 2)
        return Interval(value, value - below, value + above)
