"""A run that is written down, beside the same plan with bare asyncio; how large its file is, and how soon it is back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from planexec_lite import Inline, Journal, PlannerExecutor, Simulated, ToolExecutor, execute
from planexec_lite.workers import Workers
from tests.bench import ours, peers
from tests.bench.plans import SHAPES, TOOLS, add, text_of
from tests.bench.timing import Row, median, ratio, real, rounds

MOST_BYTES = 0.3e6


def measure(steps: int, times: int) -> list[Row]:
    """Every commit waits for the disk that holds the temporary files: inline, that is once a step."""
    with TemporaryDirectory() as folder:
        return [*_beside(Path(folder), steps, times), *_resumed(Path(folder), steps, times)]


def _beside(folder: Path, steps: int, times: int) -> list[Row]:
    text = text_of(SHAPES["random"], steps)
    plan, bare = ours.fit(text, TOOLS), peers.read(text)
    journal = Journal(folder / "random.db")

    def written(workers: Workers) -> None:
        execute(plan, ToolExecutor(TOOLS), workers=workers, journal=journal)

    taken = rounds(
        {
            "asyncio": lambda: peers.with_asyncio(bare, {"add": add}),
            "Simulated": lambda: written(Simulated()),
            "Inline": lambda: written(Inline()),
        },
        times,
        real,
    )
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
