"""Timing side by side: every contender once a round, the garbage collected before each, medians over the rounds."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Row:
    """A line of the report: what was measured, in which unit, beside what, and how large the ratio may be."""

    what: str
    ours: float
    theirs: float
    unit: str
    target: float | None = None
    ratio: float | None = None

    @property
    def factor(self) -> float:
        """How many times the other one it takes: the median of the rounds' ratios where there are rounds."""
        return self.ours / self.theirs if self.ratio is None else self.ratio

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if self.target is None:
            return ""
        return "met" if self.factor <= self.target else "MISSED"

    def __str__(self) -> str:
        target = "" if self.target is None else f"≤ {self.target:g}"
        times = f"{self.ours:.1f} {self.unit} | {self.theirs:.1f} {self.unit} | {self.factor:.2f}"
        return f"| {self.what} | {times} | {target} | {self.verdict} |"


def table(title: str, rows: list[Row], ours: str, theirs: str) -> str:
    """The rows as a Markdown table under a title."""
    head = [f"## {title}", "", f"| what | {ours} | {theirs} | ratio | target | verdict |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *map(str, rows), ""])


def rounds(contenders: Mapping[str, Callable[[], Any]], times: int) -> dict[str, list[float]]:
    """Seconds of every contender in every round; in each round all of them run, one after the other."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(times + 1):
        for name, work in contenders.items():
            gc.collect()
            began = perf_counter()
            work()
            seconds = perf_counter() - began
            if turn or times == 1:  # the first round warms up
                taken[name].append(seconds)
    return {name: seconds[-times:] for name, seconds in taken.items()}


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios within the rounds: a slow moment of the machine hits both."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))
