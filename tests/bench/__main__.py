"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER] [--peers FOLDER]``; `make bench` calls it.

Prints a Markdown report with target and verdict, and writes it with its pictures to a folder. Contenders that stand in
one table run in one process, interleaved, so that a slow machine is slow for all of them. The exit status is 0 even when
a target is missed, unless --strict is given.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.bench import environment, imports, makespan, memory, mock_calls, pictures, speed, validation
from tests.bench.elsewhere import PACKAGE_OF, Found, Settings, start
from tests.bench.report import Part, Report, frameworks, loading, measured


def beside_frameworks(folder: Path | None, settings: Settings) -> Found:
    """What was measured in the optional environment; where it could not be, the reason for each framework."""
    if folder is None:
        return Found(missing=dict.fromkeys(PACKAGE_OF, "no folder for its environment was given (--peers FOLDER)"))
    made = environment.make(folder)
    missing = {name: made.missing[package] for name, (package, _) in PACKAGE_OF.items() if package in made.missing}
    if made.python is None:
        return Found(missing=missing)
    wanted = tuple(name for name in PACKAGE_OF if name not in missing)
    try:
        found = start(made.python, Settings(**{**vars(settings), "frameworks": wanted}))
    except RuntimeError as problem:
        return Found(missing=missing | dict.fromkeys(wanted, f"the measurement failed: {problem}"))
    found.missing = {**missing, **found.missing}
    return found


def measure(quick: bool, peers: Path | None) -> Report:
    """Measure everything; `quick` with smaller plans, shorter sleeps and fewer rounds."""
    sizes = {100: 5, 1_000: 5} if quick else {100: 15, 1_000: 15, 10_000: 3}
    steps, scale, times = 1_000, (0.25 if quick else 1.0), (1 if quick else 5)
    there = Settings({"100": 2} if quick else {"100": 5, "1000": 3}, times, 2 if quick else 5, scale)
    say("a step beside asyncio and threads")
    taken = speed.measure(sizes)
    say("the frameworks")
    found = beside_frameworks(peers, there)
    say("real time")
    real = found.makespan or makespan.measure(times, scale)
    say("validation, memory, imports, the scripted model")
    checked = validation.measure(steps, 3 if quick else 9)
    large = 1_000 if quick else speed.LARGE
    whole, held = memory.measure(large)
    grown = [] if quick else speed.growth(1_000, speed.LARGE, 3)
    reading = validation.growth(1_000, 10_000, 3) if quick else validation.growth(10_000, 100_000, 2)
    started = [*imports.measure(7 if quick else 11), *loading(found.imports)]
    asked = mock_calls.measure(20 if quick else 50)
    svg = pictures.overhead(found, 100 if quick else steps)
    peers_picture = ("overhead.svg", svg) if svg else None
    parts = [
        Part("Real time beside the critical path", makespan.rows(real, scale), "makespan", "critical path",
             ("makespan.svg", pictures.barriers(real, scale))),
        Part("Real time: the level barrier", makespan.beside(real), "LangGraph, graph", "planexec_lite, Pool"),
        Part("A step, beside plain peers", speed.beside(taken), "ours", "peer", ("growth.svg", pictures.growth(taken))),
        Part("A step, beside the frameworks", frameworks(found), "framework", "planexec_lite, Inline", peers_picture),
        Part("Ten thousand steps", speed.whole_plans(taken), "taken", "at most"),
        Part("Growth of the cost of a step", grown, "10,000 steps", "1,000 steps"),
        Part("The cost of validation", validation.rows(checked, steps), "part", "from JSON to results",
             ("validation.svg", pictures.validation(checked, steps))),
        Part("Parse and validate: growth of the cost of a step", reading, "large", "small"),
        Part("Memory: the peak of a fresh process", whole, "peak", "at most"),
        Part("Memory: what a run allocates at its peak", held, "planexec_lite", "asyncio + graphlib"),
        Part("Import", started, "import", "beside", note=BESIDE_IMPORT),
        Part("The scripted model, a call", asked, "ours", "openai client, in process"),
    ]  # fmt: skip
    ran = measured(found)
    missing = {name: why for name, why in found.missing.items() if name not in ran}
    return Report([part for part in parts if part.rows], missing, found.versions)


BESIDE_IMPORT = "Beside pydantic, sqlite3 and one model; the frameworks beside planexec_lite, in their own environment."


def say(what: str) -> None:
    """Tell the person who waits what is measured now."""
    print(f"… {what}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="planexec_lite beside its peers")
    parser.add_argument("--quick", action="store_true", help="smaller plans, shorter sleeps and fewer rounds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--out", type=Path, help="a folder for report.md and its pictures")
    parser.add_argument("--peers", type=Path, help="a folder for an environment with the frameworks, made if need be")
    options = parser.parse_args(arguments)
    report = measure(options.quick, options.peers)
    if options.out:
        report.write(options.out)
    print(report.text())
    return 1 if options.strict and report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
