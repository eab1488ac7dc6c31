"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER] [--langgraph PYTHON]``; `make bench` calls it.

Prints a Markdown report with targets and verdicts. Contenders of one table run in one process, interleaved, so that a
slow machine is slow for all of them. A missed target changes the exit status only with --strict.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench import imports, langgraph, mock_calls, speed
from tests.bench.langgraph import Measured
from tests.bench.report import Part, Report, load


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    sizes: dict[int, int]  # rounds by number of steps, beside the plain peers
    there: dict[str, int]  # the same beside LangGraph; keys are strings, as JSON has them
    retried: tuple[int, int]  # steps and rounds for runs with and without retries
    imports: int  # rounds
    calls: int  # calls of the scripted model in a round


FULL = Effort({100: 15, 1_000: 15, 10_000: 3}, {"100": 5, "1000": 3}, (2_000, 9), 11, 50)
QUICK = Effort({100: 5, 1_000: 5}, {"100": 2}, (2_000, 3), 7, 20)


def beside_langgraph(python: Path, sizes: dict[str, int]) -> tuple[Measured, str]:
    """The measurements in the environment with LangGraph; or an empty result, and the reason."""
    if not python.exists():
        return {}, "run elsewhere/environments.sh langgraph first"
    try:
        return langgraph.start(python, sizes), ""
    except RuntimeError as problem:
        return {}, f"the measurement failed: {problem}"


def measure(effort: Effort, python: Path) -> Report:
    """Measure everything, and put it into parts."""
    began = load()
    taken = speed.measure(effort.sizes)
    measured, missing = beside_langgraph(python, effort.there)
    parts = [
        Part("A step, beside plain peers", taken, "ours", "peer"),
        Part("A step, beside LangGraph", langgraph.rows(measured), "LangGraph", "planexec_lite, Inline"),
        Part("Retries with backoff", speed.retried(*effort.retried), "with failures", "without"),
        Part("Import", imports.measure(effort.imports), "ours", "pydantic, sqlite3 and one model"),
        Part("The scripted model, a call", mock_calls.measure(effort.calls), "ours", "openai client, in process"),
    ]
    return Report([part for part in parts if part.rows], missing, (began, load()))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="planexec_lite beside its peers")
    parser.add_argument("--quick", action="store_true", help="smaller plans and fewer rounds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--out", type=Path, help="a folder for report.md")
    parser.add_argument("--langgraph", type=Path, default=langgraph.PYTHON, help="the Python that has LangGraph")
    options = parser.parse_args(arguments)
    report = measure(QUICK if options.quick else FULL, options.langgraph)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.md").write_text(report.text(), encoding="utf-8", newline="\n")
    print(report.text())
    return 1 if options.strict and report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
