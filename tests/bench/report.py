"""The report: tables with targets and verdicts, the contenders, and the contenders that are missing with the reason."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.elsewhere import DASK, OURS, PLAIN, Found
from tests.bench.timing import Row, beside

LEAST = {"LangGraph, graph": 25.0, "LangGraph, functional": 25.0}  # × ours, at 1,000 steps
LEGIBILITY = (
    "A missed target beside asyncio or threads is what legibility costs: every start and every result is a frozen event, "
    "the board is a fold of them, and one pure function decides what comes next. The peers keep none of that."
)
FAIRNESS = """## Who is compared, and what each does not do

All contenders get the same plan, call the same plain functions, and resolve references by the same function. All that
stand in one table ran in one process, one after the other in every round; a ratio is the median of the rounds' ratios.
Dask alone ran beside ours in another process, since the threads of its cluster would be counted to everybody.
What a step costs is processor time, of all threads of the process: the steps do nothing, and other processes on the
machine don't count. Real time, large plans and calls of the model are on the wall.
Everybody starts from the steps as read from JSON, unless the row says "from JSON" or "compiled before".

| contender | what it is here | what it does not do, and ours does |
|---|---|---|
| planexec_lite, Inline, Pool, Simulated | `execute` checks the plan, and each call is validated again | |
| asyncio + graphlib, threads + graphlib | a task a step, started when it may | check, record, retry, undo, resume |
| LangGraph, graph | a node a step, built, compiled and run, no checkpointer | start a step before its whole level is done |
| LangGraph, compiled before | the same graph, compiled outside the timed part | the same |
| LangGraph, SqliteSaver | the same graph, a checkpoint on disk after each superstep | keep each result once |
| LangGraph, functional | a task a step in one entrypoint, no checkpointer | know a dependency: graphlib says what may start |
| LlamaIndex workflows | two events a step, one workflow | know a dependency: graphlib says what may start |
| Dask distributed | a task a step, futures as arguments, a cluster in the process | check arguments or references; keep events |

What the frameworks do, and ours does not: LangGraph streams and takes state reducers, LlamaIndex routes events by type,
Dask moves work between machines. None of that is used here.
"""


@dataclass
class Part:
    """A part of the report: a table and a note."""

    title: str
    rows: list[Row]
    ours: str
    theirs: str
    note: str = ""

    def text(self) -> str:
        head = f"| what | {self.ours} | {self.theirs} | ratio | target | verdict |"
        notes = [self.note, ""] if self.note else []
        return "\n".join([f"## {self.title}", "", *notes, head, "|---" * 6 + "|", *map(str, self.rows), ""])


@dataclass
class Report:
    """All parts, and what could not be measured, by name and reason."""

    parts: list[Part] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    load: tuple[float, float] = (0.0, 0.0)

    @property
    def missed(self) -> list[Row]:
        return [row for part in self.parts for row in part.rows if row.verdict == "MISSED"]

    def text(self) -> str:
        """The report as Markdown."""
        targets = sum(bool(row.verdict) for part in self.parts for row in part.rows)
        versions = "".join(f"; {name} {version}" for name, version in self.versions.items())
        began, ended = self.load
        noisy = " Others were using the machine: the figures are noisy." if began > (os.cpu_count() or 1) / 2 else ""
        lines = [
            "# planexec_lite beside its peers",
            "",
            f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores{versions}. {targets} targets, "
            f"{len(self.missed)} missed. Load when it began {began:.1f}, when it ended {ended:.1f}.{noisy}",
            "",
        ]
        if self.missed:
            lines += [f"- MISSED: {row.what}: {row.factor:.2f}, target {row.target}" for row in self.missed]
            lines += ["", LEGIBILITY, ""]
        if self.missing:
            lines += ["Not measured:", "", *(f"- {name}: {why}" for name, why in self.missing.items()), ""]
        return "\n".join([*lines, *(part.text() for part in self.parts), FAIRNESS])

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.md").write_text(self.text(), encoding="utf-8", newline="\n")


def load() -> float:
    """How many processes wanted the processor in the last minute; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def frameworks(measured: Found) -> list[Row]:
    """The frameworks beside ours, for every shape and size: how many times as long they take."""
    rows = []
    for shape, sizes in measured.overhead.items():
        for steps, taken in sizes.items():
            for name in taken:
                if name != OURS and not (name == PLAIN and DASK in taken):  # once is enough
                    least = LEAST.get(name) if steps == "1000" else None
                    what = f"{shape}, {int(steps):,} steps: {name} : ours"
                    rows.append(beside(what, taken, name, OURS, 1e6 / int(steps), "µs", least=least))
    return rows


def loading(taken: Mapping[str, list[float]]) -> list[Row]:
    """The imports of the frameworks beside ours, in the same environment."""
    ours = "planexec_lite"
    return [beside(f"import {name} : {ours}", dict(taken), name, ours, 1e3, "ms") for name in taken if name != ours]
