"""Timing side by side, and the report: tables with the medians of the rounds, targets and verdicts.

All contenders get the same plan, call the same plain functions, and resolve references by the same function. Those of a
table run one after the other in every round, so a slow machine is slow for all of them. The peers check, record, retry,
undo and resume nothing.
"""

import gc
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

Contenders = dict[str, Callable[[], float]]  # each runs once and returns its seconds of CPU
Taken = dict[str, list[float]]  # the seconds of each contender in each round


@dataclass(frozen=True)
class Row:
    """A line of the report: two times in microseconds, the median of the rounds' ratios, and `most`, its target."""

    what: str
    first: float
    second: float
    ratio: float
    most: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the target is met; empty without a target."""
        if self.most is None:
            return ""
        return "MISSED" if self.ratio > self.most else "met"

    def __str__(self) -> str:
        target = "" if self.most is None else f"≤ {self.most:g}"
        times = f"{self.first:,.1f} µs | {self.second:,.1f} µs"
        return f"| {self.what} | {times} | {self.ratio:.2f} | {target} | {self.verdict} |"


def beside(what: str, taken: Taken, first: str, second: str, scale: float, most: float | None = None) -> Row:
    """The row of two contenders that ran in the same rounds; `scale` turns seconds into microseconds of a step."""
    mine, other = (median(taken[name]) * scale for name in (first, second))
    return Row(what, mine, other, median(a / b for a, b in zip(taken[first], taken[second], strict=True)), most)


def timed(work: Callable[[], Any]) -> Callable[[], float]:
    """A function that carries out `work` in this process and returns its seconds of CPU.

    What was in memory before is left out of the garbage collections, so that each costs the same.
    """

    def seconds() -> float:
        gc.collect()
        gc.freeze()
        began = process_time()
        work()
        taken = process_time() - began
        gc.unfreeze()
        return taken

    return seconds


def rounds(contenders: Mapping[str, Callable[[], float]], times: int) -> Taken:
    """Seconds of every contender in every round; in each round all of them run, one after the other."""
    for contender in contenders.values():  # this round warms up
        contender()
    taken: Taken = {name: [] for name in contenders}
    for _ in range(times):
        for name, contender in contenders.items():
            taken[name].append(contender())
    return taken


@dataclass
class Part:
    title: str
    rows: list[Row]
    first: str
    second: str
    ratio: str = "ratio"
    note: str = ""

    def text(self) -> str:
        head = f"| what | {self.first} | {self.second} | {self.ratio} | target | verdict |"
        note = [self.note, ""] if self.note else []
        return "\n".join([f"## {self.title}", "", *note, head, "|---" * 6 + "|", *map(str, self.rows), ""])


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
