"""Timing side by side, and the report: tables with the medians of the rounds, targets and verdicts.

All contenders get the same plan, call the same plain functions, and resolve references by the same function. Those of a table
run in one process, one after the other in every round. The peers check, record, retry, undo and resume nothing.
"""

import gc
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

Taken = dict[str, list[float]]  # the seconds of each contender in each round


@dataclass(frozen=True)
class Row:
    """A line of the report; `ratio` is the median of the rounds' ratios, and `most` is the target."""

    what: str
    ours: float
    theirs: float
    ratio: float
    most: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the target is met; empty without a target."""
        return "" if self.most is None else "MISSED" if self.ratio > self.most else "met"

    def __str__(self) -> str:
        target = "" if self.most is None else f"≤ {self.most:g}"
        return f"| {self.what} | {self.ours:,.1f} µs | {self.theirs:,.1f} µs | {self.ratio:.2f} | {target} | {self.verdict} |"


def beside(what: str, taken: Taken, ours: str, theirs: str, scale: float, most: float | None = None) -> Row:
    """The row of two contenders that ran in the same rounds; `scale` turns seconds into microseconds of a step."""
    mine, other = (median(taken[name]) * scale for name in (ours, theirs))
    return Row(what, mine, other, median(a / b for a, b in zip(taken[ours], taken[theirs], strict=True)), most)


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


@dataclass
class Part:
    title: str
    rows: list[Row]
    ours: str
    theirs: str

    def text(self) -> str:
        head = f"| what | {self.ours} | {self.theirs} | ratio | target | verdict |"
        return "\n".join([f"## {self.title}", "", head, "|---" * 6 + "|", *map(str, self.rows), ""])


@dataclass
class Report:
    parts: list[Part]

    @property
    def missed(self) -> list[Row]:
        return [row for part in self.parts for row in part.rows if row.verdict == "MISSED"]

    def text(self) -> str:
        targets = sum(bool(row.verdict) for part in self.parts for row in part.rows)
        lines = ["# planexec_lite beside its peers", ""]
        lines += [f"Python {platform.python_version()}. {targets} targets, {len(self.missed)} missed.", ""]
        lines += [f"- MISSED: {row.what}: {row.ratio:.2f}, target ≤ {row.most:g}" for row in self.missed]
        return "\n".join([*lines, "", *(part.text() for part in self.parts)])
