"""Timing side by side: every contender once a round, the garbage collected before each, medians over the rounds."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

Taken = dict[str, list[float]]


@dataclass(frozen=True)
class Row:
    """A line of the report; `ratio` is the median of the rounds' ratios, and `most` is the target."""

    what: str
    ours: float
    theirs: float
    unit: str
    most: float | None = None
    ratio: float | None = None

    @property
    def factor(self) -> float:
        return self.ours / self.theirs if self.ratio is None else self.ratio

    @property
    def target(self) -> str:
        return "" if self.most is None else f"≤ {self.most:g}"

    @property
    def verdict(self) -> str:
        """Whether the target is met; empty without a target."""
        return "" if self.most is None else "MISSED" if self.factor > self.most else "met"

    def __str__(self) -> str:
        times = f"{number(self.ours)} {self.unit} | {number(self.theirs)} {self.unit} | {number(self.factor, 2)}"
        return f"| {self.what} | {times} | {self.target} | {self.verdict} |"


def beside(what: str, taken: Taken, ours: str, theirs: str, scale: float, unit: str, **target: Any) -> Row:
    """The row of two contenders that ran in the same rounds; `scale` turns seconds into the unit."""
    mine, other = (median(taken[name]) * scale for name in (ours, theirs))
    return Row(what, mine, other, unit, ratio=ratio(taken[ours], taken[theirs]), **target)


def number(value: float, places: int = 1) -> str:
    """A number as the report shows it: whole from 1,000 on, and small ones with as many places as they need."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{places}f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def rounds(contenders: Mapping[str, Callable[[], Any]], times: int) -> Taken:
    """Seconds of every contender in every round; in each round all of them run, one after the other.

    What was in memory before is left out of the garbage collections, so that each costs the same.
    """
    taken: Taken = {name: [] for name in contenders}
    gc.collect()
    gc.freeze()
    try:
        for turn in range(times + 1):
            for name, contender in contenders.items():
                gc.collect()
                began = process_time()
                contender()
                seconds = process_time() - began
                if turn or times == 1:  # the first round warms up
                    taken[name].append(seconds)
    finally:
        gc.unfreeze()
    return {name: seconds[-times:] for name, seconds in taken.items()}


def ratio(ours: list[float], theirs: list[float]) -> float:
    return median(a / b for a, b in zip(ours, theirs, strict=True))
