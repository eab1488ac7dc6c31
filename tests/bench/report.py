"""The report: tables with targets and verdicts, and the contenders."""

import os
import platform
from dataclasses import dataclass, field

from tests.bench.timing import Row

LEGIBILITY = (
    "A missed target compared with asyncio or threads is the cost of legibility: every start and every result is a frozen event, "
    "the board is a fold of them, and one pure function decides what comes next. The peers keep none of that."
)
FAIRNESS = """## Who is compared, and what each does not do

All contenders get the same plan, call the same plain functions, and resolve references by the same function. The contenders
of a table ran in one process, one after the other in every round; a ratio is the median of the rounds' ratios.
The cost of a step is processor time, of all threads of the process: the steps do nothing, and other processes on the
machine don't count.
Everybody starts from the steps as read from JSON, unless the row says "from JSON".

| contender | what it is here | what it does not do, and ours does |
|---|---|---|
| planexec_lite, Inline, Pool, Simulated | `execute` checks the plan, and each call is validated again | |
| asyncio + graphlib, threads + graphlib | a task a step, started when it may | check, record, retry, undo, resume |
"""


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
    parts: list[Part] = field(default_factory=list)
    load: tuple[float, float] = (0.0, 0.0)

    @property
    def missed(self) -> list[Row]:
        return [row for part in self.parts for row in part.rows if row.verdict == "MISSED"]

    def text(self) -> str:
        targets = sum(bool(row.verdict) for part in self.parts for row in part.rows)
        began, ended = self.load
        noisy = " Others were using the machine: the figures are noisy." if began > (os.cpu_count() or 1) / 2 else ""
        lines = [
            "# planexec_lite beside its peers",
            "",
            f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores. {targets} targets, "
            f"{len(self.missed)} missed. Load when it began {began:.1f}, when it ended {ended:.1f}.{noisy}",
            "",
        ]
        if self.missed:
            lines += [f"- MISSED: {row.what}: {row.factor:.2f}, target {row.target}" for row in self.missed]
            lines += ["", LEGIBILITY, ""]
        return "\n".join([*lines, *(part.text() for part in self.parts), FAIRNESS])


def load() -> float:
    """How many processes wanted the processor in the last minute; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
