"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER]``; `make bench` calls it.

Prints a Markdown report of ratios with targets and verdicts. A missed target changes the exit status only with --strict.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench import growth, speed
from tests.bench.report import Part, Report


@dataclass(frozen=True)
class Effort:
    """How much is measured: the steps of a plan, the rounds, and the share of the steps whose growth is measured."""

    steps: int
    rounds: int
    share: float


FULL = Effort(1_000, 15, 1.0)
QUICK = Effort(1_000, 5, 0.5)


def measure(effort: Effort) -> Report:
    steps = speed.measure(effort.steps, effort.rounds)
    grown = growth.measure(effort.share, effort.rounds // 5 or 1)
    imported = speed.imports(effort.rounds)
    return Report(
        [
            Part("A step, beside its peers", steps, "first", "second", note=speed.MISSING),
            Part("Growth, a step", grown, "all steps", "half of them", "exponent"),
            Part("Import", imported, "ours", "pydantic, sqlite3, a model"),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="planexec_lite and its peers")
    parser.add_argument("--quick", action="store_true", help="smaller plans and fewer rounds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--out", type=Path, help="a folder for report.md")
    options = parser.parse_args(arguments)
    report = measure(QUICK if options.quick else FULL)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.md").write_text(report.text(), encoding="utf-8", newline="\n")
    print(report.text())
    return 1 if options.strict and report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
