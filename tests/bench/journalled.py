"""A run that is written down, beside the same plan with bare asyncio; how large its file is, and how soon it is loaded."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from planexec_lite import Inline, Journal, PlannerExecutor, Simulated, ToolExecutor, execute
from planexec_lite.workers import Workers
from tests.bench import peers
from tests.bench.plans import FUNCTIONS, TOOLS, text_of, valid
from tests.bench.timing import Row, beside, real, rounds

MOST_MB = 0.3


def measure(steps: int, times: int) -> list[Row]:
    """Every commit waits for the disk that holds the temporary files: inline, that is once a step."""
    with TemporaryDirectory() as folder:
        taken = rounds(contenders(Path(folder), steps), times, real)
        what = f"random, {steps:,} steps: a step, written down"
        rows = [
            beside(f"{what}, {name} : asyncio", taken, name, "asyncio", 1e6 / steps, "µs", most=most)
            for name, most in (("Simulated", 4.0), ("Inline", None))
        ]
        return [*rows, *_resumed(Path(folder), steps, times)]


def contenders(folder: Path, steps: int) -> dict[str, Callable[[], Any]]:
    text = text_of("random", steps)
    plan, bare, journal = valid(text), peers.read(text), Journal(folder / "random.db")

    def written(workers: Workers) -> None:
        execute(plan, ToolExecutor(TOOLS), workers=workers, journal=journal)

    return {
        "asyncio": lambda: peers.with_asyncio(bare, FUNCTIONS),
        "Simulated": lambda: written(Simulated()),
        "Inline": lambda: written(Inline()),
    }


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
