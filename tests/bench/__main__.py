"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER] [--langgraph PYTHON]``; `make bench` calls it.

Prints a Markdown report with target and verdict, and writes it to a folder. Contenders that stand in
one table run in one process, interleaved, so that a slow machine is slow for all of them. The exit status is 0 even when
a target is missed, unless --strict is given.
"""

import argparse
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench import imports, journalled, langgraph, makespan, mock_calls, speed
from tests.bench.langgraph import Measured
from tests.bench.report import Part, Report, load


@dataclass(frozen=True)
class Effort:
    """How much is measured. Where there are rounds, 0 of them means: not measured."""

    sizes: dict[int, int]  # rounds by number of steps, beside the plain peers
    there: dict[str, int]  # the same beside LangGraph; keys are texts, as JSON has them
    sleeps: int  # rounds of the barrier cases
    scale: float  # how long their sleeps are; targets hold for 1 alone
    whole: tuple[int, int]  # steps and rounds for large plans in seconds
    grown: tuple[int, int, int]  # small plan, large plan and rounds for the growth of the cost of a step
    saved: tuple[int, int]  # steps and rounds for runs that are written down, beside LangGraph's checkpoints
    retried: tuple[int, int]  # steps and rounds for runs with and without retries
    imports: int  # rounds
    calls: int  # calls of the scripted model in a round


FULL = Effort(
    {100: 15, 1_000: 15, 10_000: 3},
    {"100": 5, "1000": 3},
    5,
    1.0,
    (10_000, 3),
    (1_000, 10_000, 3),
    (1_000, 3),
    (2_000, 9),
    11,
    50,
)
QUICK = Effort({100: 5, 1_000: 5}, {"100": 2}, 1, 0.25, (10_000, 0), (1_000, 10_000, 0), (100, 2), (2_000, 3), 7, 20)


def beside_langgraph(python: Path, effort: Effort) -> tuple[Measured, str]:
    """What was measured in the environment with LangGraph; or nothing, and the reason."""
    if not python.exists():
        return Measured(), "run elsewhere/environments.sh langgraph first"
    try:
        return langgraph.start(python, asdict(effort)), ""
    except RuntimeError as problem:
        return Measured(), f"the measurement failed: {problem}"


def measure(effort: Effort, python: Path) -> Report:
    """Measure everything, and put it into parts."""
    scale, began = effort.scale, load()
    say("a step beside asyncio and threads")
    taken = speed.measure(effort.sizes)
    say("LangGraph")
    measured, missing = beside_langgraph(python, effort)
    say("real time")
    real = measured.makespan or makespan.measure(effort.sleeps, scale, {})
    grown = speed.growth(*effort.grown) if effort.grown[2] else []
    large = speed.whole_plans(*effort.whole) if effort.whole[1] else []
    saved = measured.written_rows(effort.saved[0])
    parts = [
        Part("Real time beside the critical path", makespan.rows(real, scale), "makespan", "critical path"),
        Part("Real time: the level barrier", makespan.barrier(real, scale), "LangGraph, graph", "planexec_lite, Pool"),
        Part("A step, beside plain peers", taken, "ours", "peer"),
        Part("A step, beside LangGraph", measured.overhead_rows(), "LangGraph", "planexec_lite, Inline"),
        Part("Large plans, on the wall", large, "taken", "at most", f"{effort.whole[0]:,} steps."),
        Part("Growth of the cost of a step", grown, "10,000 steps", "1,000 steps"),
        Part("Retries with backoff", speed.retried(*effort.retried), "with failures", "without"),
        Part("Import", imports.measure(effort.imports), "ours", "pydantic, sqlite3 and one model"),
        Part("The scripted model, a call", mock_calls.measure(effort.calls), "ours", "openai client, in process"),
        Part("A run that is written down", [*journalled.measure(*effort.saved), *saved], "written down", "beside"),
    ]
    parts = [part for part in parts if part.rows]
    return Report(parts, missing, (began, load()))


def say(what: str) -> None:
    """Tell the person who waits what is measured now."""
    print(f"… {what}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="planexec_lite beside its peers")
    parser.add_argument("--quick", action="store_true", help="smaller plans, shorter sleeps and fewer rounds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--out", type=Path, help="a folder for report.md")
    parser.add_argument("--langgraph", type=Path, default=langgraph.PYTHON, help="the Python that has LangGraph")
    options = parser.parse_args(arguments)
    report = measure(QUICK if options.quick else FULL, options.langgraph)
    if options.out:
        report.write(options.out)
    print(report.text())
    return 1 if options.strict and report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
