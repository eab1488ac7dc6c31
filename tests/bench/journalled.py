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
from tests.bench import elsewhere, peers
from tests.bench.plans import FUNCTIONS, TOOLS, text_of, valid
from tests.bench.timing import Row, Taken, beside, real, rounds, work

MOST_MB = 0.3
SAVER = "LangGraph, SqliteSaver"
LEAST = 25.0  # × ours, at 1,000 steps on the wall


def measure(steps: int, times: int) -> list[Row]:
    """Every commit waits for the disk that holds the temporary files: inline, that is once a step."""
    with TemporaryDirectory() as folder:
        taken = rounds(_contenders(Path(folder), steps), times, real)
        what = f"random, {steps:,} steps: a step, written down"
        rows = [
            beside(f"{what}, {name} : asyncio", taken, name, "asyncio", 1e6 / steps, "µs", most=most)
            for name, most in (("Simulated", 4.0), ("Inline", None))
        ]
        return [*rows, *_resumed(Path(folder), steps, times)]


def _contenders(folder: Path, steps: int) -> dict[str, Callable[[], Any]]:
    text = text_of("random", steps)
    plan, bare, journal = valid(text), peers.read(text), Journal(folder / "random.db")

    def written(workers: Workers) -> None:
        execute(plan, ToolExecutor(TOOLS), workers=workers, journal=journal)

    return {
        "asyncio": lambda: peers.with_asyncio(bare, FUNCTIONS),
        "Simulated": lambda: written(Simulated()),
        "Inline": lambda: written(Inline()),
    }


def beside_saver(python: Path, steps: int, times: int) -> list[Row]:
    """LangGraph with a checkpoint after each superstep beside ours, where `python` has it; both wait for the disk.

    Raises `RuntimeError` with its last words where it fails.
    """
    return saver_rows(elsewhere.answer(python, "tests.bench.journalled", str(steps), str(times)), steps)


def saver_rows(found: dict[str, Taken], steps: int) -> list[Row]:
    """How many times as long LangGraph takes, by the clock."""
    rows = []
    for clock, taken in found.items():
        for name in ("Simulated", "Inline"):
            least = LEAST if (clock, name, steps) == ("on the wall", "Simulated", 1000) else None
            what = f"random, {steps:,} steps, {clock}: a step, {SAVER} : {name}, written down"
            rows.append(beside(what, taken, SAVER, name, 1e6 / steps, "µs", least=least))
    return rows


def _main(steps: int, times: int, file: Path) -> None:
    from tests.bench.frameworks import langgraph_written

    elsewhere.check(langgraph_written)
    bare = peers.read(text_of("random", steps))
    with TemporaryDirectory() as folder:
        contenders = _contenders(Path(folder), steps) | {SAVER: langgraph_written(bare, FUNCTIONS, None)}
        clocks = {"on the wall": real, "processor time": work}
        found = {name: rounds(contenders, times, clock) for name, clock in clocks.items()}
    file.write_text(json.dumps(found), encoding="utf-8")


def _resumed(folder: Path, steps: int, times: int) -> list[Row]:
    plan, executor = valid(text_of("chain", steps)), ToolExecutor(TOOLS)
    journal, again = Journal(folder / "chain.db"), Journal(folder / "again.db")
    run = execute(plan, executor, journal=journal)
    size = journal.path.stat().st_size / 1e6
    works = {
        "run": lambda: execute(plan, executor, journal=again),
        "resume": lambda: PlannerExecutor(None, executor).resume(journal.load(run.id)),
    }
    what = f"chain, {steps:,} steps"
    return [
        beside(f"{what}: resume : the run", rounds(works, times, real), "resume", "run", 1e3, "ms", most=0.1),
        Row(f"{what}: the file", size, MOST_MB, "MB", 1.0),
    ]


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
