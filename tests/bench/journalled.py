"""A run that is written down, beside the same plan with bare asyncio, and with LangGraph and its checkpoints; how large its
file is, and how soon it is back.

``python -m tests.bench.journalled STEPS ROUNDS FILE`` measures what stands beside LangGraph, in an environment that has it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from planexec_lite import Inline, Journal, PlannerExecutor, Simulated, ToolExecutor, execute
from planexec_lite.workers import Workers
from tests.bench import elsewhere, ours, peers
from tests.bench.plans import SHAPES, TOOLS, add, text_of
from tests.bench.timing import Row, Taken, median, ratio, real, rounds, work

MOST_BYTES = 0.3e6
SAVER = "LangGraph, SqliteSaver"
SAVER_PACKAGE = "langgraph-checkpoint-sqlite"
FUNCTIONS = {"add": add}
CLOCKS = {"on the wall": real, "processor time": work}
LEAST = {"on the wall": 25.0}  # × ours, at 1,000 steps


def measure(steps: int, times: int) -> list[Row]:
    """Every commit waits for the disk that holds the temporary files: inline, that is once a step."""
    with TemporaryDirectory() as folder:
        return [*_beside(Path(folder), steps, times), *_resumed(Path(folder), steps, times)]


def _contenders(folder: Path, steps: int) -> dict[str, Callable[[], Any]]:
    text = text_of(SHAPES["random"], steps)
    plan, bare = ours.fit(text, TOOLS), peers.read(text)
    journal = Journal(folder / "random.db")

    def written(workers: Workers) -> None:
        execute(plan, ToolExecutor(TOOLS), workers=workers, journal=journal)

    return {
        "asyncio": lambda: peers.with_asyncio(bare, FUNCTIONS),
        "Simulated": lambda: written(Simulated()),
        "Inline": lambda: written(Inline()),
    }


def _beside(folder: Path, steps: int, times: int) -> list[Row]:
    taken = rounds(_contenders(folder, steps), times, real)
    each = {name: median(seconds) / steps * 1e6 for name, seconds in taken.items()}
    return [
        Row(
            f"random, {steps:,} steps: a step, {name}, written down : asyncio",
            each[name],
            each["asyncio"],
            "µs",
            most,
            ratio(taken[name], taken["asyncio"]),
        )
        for name, most in (("Simulated", 4.0), ("Inline", None))
    ]


def beside_saver(python: Path, steps: int, times: int) -> list[Row]:
    """The same beside LangGraph with a checkpoint after each superstep, where `python` has it; both wait for the disk.

    Raises `RuntimeError` with its last words where it fails.
    """
    found: dict[str, Taken] = elsewhere.answer(python, "tests.bench.journalled", str(steps), str(times))
    return saver_rows(found, steps)


def saver_rows(found: dict[str, Taken], steps: int) -> list[Row]:
    """LangGraph beside ours, by the clock: how many times as long it takes."""
    return [
        Row(
            f"random, {steps:,} steps, {clock}: a step, {SAVER} : {name}, written down",
            median(taken[SAVER]) / steps * 1e6,
            median(taken[name]) / steps * 1e6,
            "µs",
            ratio=ratio(taken[SAVER], taken[name]),
            least=LEAST.get(clock) if (name, steps) == ("Simulated", 1000) else None,
        )
        for clock, taken in found.items()
        for name in ("Simulated", "Inline")
    ]


def _main(steps: int, times: int, file: Path) -> None:
    from tests.bench.frameworks import langgraph_written

    elsewhere.works(langgraph_written)
    bare = peers.read(text_of(SHAPES["random"], steps))
    with TemporaryDirectory() as folder:
        contenders = _contenders(Path(folder), steps) | {SAVER: langgraph_written(bare, FUNCTIONS, None)}
        found = {name: rounds(contenders, times, clock) for name, clock in CLOCKS.items()}
    file.write_text(json.dumps(found), encoding="utf-8")


def _resumed(folder: Path, steps: int, times: int) -> list[Row]:
    plan = ours.fit(text_of(SHAPES["chain"], steps), TOOLS)
    journal = Journal(folder / "chain.db")
    run = execute(plan, ToolExecutor(TOOLS), journal=journal)
    size = journal.path.stat().st_size
    agent = PlannerExecutor(None, ToolExecutor(TOOLS))
    again = Journal(folder / "again.db")
    taken = rounds(
        {
            "run": lambda: execute(plan, ToolExecutor(TOOLS), journal=again),
            "resume": lambda: agent.resume(journal.load(run.id)),
        },
        times,
        real,
    )
    resume, whole = (median(taken[name]) * 1e3 for name in ("resume", "run"))
    return [
        Row(
            f"chain, {steps:,} steps: resume : the run, written down",
            resume,
            whole,
            "ms",
            0.1,
            ratio(taken["resume"], taken["run"]),
        ),
        Row(f"chain, {steps:,} steps: the file", size / 1e6, MOST_BYTES / 1e6, "MB", 1.0),
    ]


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
