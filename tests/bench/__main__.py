"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER]``; `make bench` calls it.

Prints Markdown tables with target and verdict. All contenders run in one process, interleaved, so that a slow machine
is slow for all of them. The exit status is 0 even when a target is missed, unless --strict is given.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from tests.bench import imports, mock_calls, speed
from tests.bench.timing import table

LEGIBILITY = (
    "A missed target beside asyncio or threads is what legibility costs: every start and every result is a frozen event, "
    "the board is a fold of them, and one pure function decides what comes next. The peers keep none of that."
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description="microseconds a step, beside plain peers"
    )
    parser.add_argument("--quick", action="store_true", help="smaller plans and fewer rounds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--out", type=Path, help="a folder for report.md")
    options = parser.parse_args()
    sizes = {100: 5, 1_000: 5} if options.quick else {100: 15, 1_000: 9, 10_000: 3}
    beside = speed.beside(sizes)
    growth = [] if options.quick else speed.growth(1_000, 10_000, 3)
    reading = speed.reading(1_000, 10_000, 3) if options.quick else speed.reading(10_000, 100_000, 2)
    started = imports.measure(7 if options.quick else 11)
    asked = mock_calls.measure(20 if options.quick else 50)
    rows = [*beside, *growth, *reading, *started, *asked]
    missed = [row for row in rows if row.verdict == "MISSED"]
    report = "\n".join(
        [
            "# planexec_lite beside plain peers",
            "",
            f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores. "
            f"{sum(row.target is not None for row in rows)} targets, {len(missed)} missed.",
            "",
            *([LEGIBILITY, ""] if missed else []),
            table("A step, beside its peer (ratios: median over interleaved rounds)", beside, "ours", "peer"),
            *([table("Growth of the cost of a step", growth, "10,000 steps", "1,000 steps")] if growth else []),
            table("Parse and validate: growth of the cost of a step", reading, "large", "small"),
            table("Import", started, "planexec_lite", "pydantic, sqlite3, one model"),
            table("The scripted model, a call", asked, "ours", "openai client, in process"),
        ]
    )
    print(report)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.md").write_text(report + "\n", encoding="utf-8")
    return 1 if options.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
