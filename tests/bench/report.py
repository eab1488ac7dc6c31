"""The report: tables with the medians of the rounds, targets and verdicts.

All contenders get the same plan, call the same plain functions, and resolve references by the same function. Those of a table
run in one process, one after the other in every round. The peers check, record, retry, undo and resume nothing.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

Taken = Mapping[str, list[float]]  # the seconds of each contender in each round


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
