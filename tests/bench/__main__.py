"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER]``; `make bench` calls it.

Prints a Markdown report with targets and verdicts. Contenders of one table run in one process, interleaved, so that a
slow machine is slow for all of them. A missed target changes the exit status only with --strict.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench import speed
from tests.bench.report import Part, Report


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    sizes: dict[int, int]  # rounds by number of steps
    retried: tuple[int, int]  # steps and rounds for runs with and without retries
    imports: int  # rounds


FULL = Effort({100: 15, 1_000: 15, 10_000: 3}, (2_000, 9), 11)
QUICK = Effort({100: 5, 1_000: 5}, (2_000, 3), 7)


def measure(effort: Effort) -> Report:
    steps = Part("A step, beside plain peers", speed.measure(effort.sizes), "ours", "peer")
    retries = Part("Retries with backoff", speed.retried(*effort.retried), "with failures", "without")
    return Report([steps, retries, Part("Import", speed.imports(effort.imports), "ours", "pydantic, sqlite3, a model")])


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
