"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER] [--peers FOLDER]``; `make bench` calls it.

Prints a Markdown report with target and verdict, and writes it to a folder. Contenders that stand in
one table run in one process, interleaved, so that a slow machine is slow for all of them. The exit status is 0 even when
a target is missed, unless --strict is given.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench import environment, imports, journalled, makespan, memory, mock_calls, promises, speed, watching
from tests.bench.elsewhere import DASK, PACKAGE_OF, Found, Settings, start
from tests.bench.environment import Environment
from tests.bench.report import Part, Report, frameworks, load, loading
from tests.bench.timing import Row

NOWHERE = "no folder for its environment was given (--peers FOLDER)"


@dataclass(frozen=True)
class Effort:
    """How much is measured. Where there are rounds, 0 of them means: not measured."""

    sizes: dict[int, int]  # rounds by number of steps, beside the plain peers
    there: dict[str, int]  # the same beside the frameworks; keys are texts, as JSON has them
    sleeps: int  # rounds of the barrier cases
    scale: float  # how long their sleeps are; targets hold for 1 alone
    checked: tuple[int, int]  # steps and rounds for the parts of the way from JSON to the results
    whole: tuple[int, int]  # steps and rounds for large plans in seconds
    grown: tuple[int, int, int]  # small plan, large plan and rounds for the growth of the cost of a step
    read: tuple[int, int, int]  # the same for parsing and validating
    held: int  # steps for the memory
    imports: tuple[int, int]  # rounds of the imports; here, and in the environment of the frameworks
    calls: int  # calls of the scripted model in a round
    saved: tuple[int, int]  # steps and rounds for runs that are written down, beside LangGraph's
    watched: tuple[int, int]  # steps and rounds for the live board and the player


FULL = Effort({100: 15, 1_000: 15, 10_000: 3}, {"100": 5, "1000": 3}, 5, 1.0, (1_000, 9), (10_000, 3), (1_000, 10_000, 3),
              (10_000, 100_000, 2), 10_000, (11, 5), 50, (1_000, 3), (1_000, 7))  # fmt: skip
QUICK = Effort({100: 5, 1_000: 5}, {"100": 2}, 1, 0.25, (1_000, 3), (10_000, 0), (1_000, 10_000, 0),
               (1_000, 10_000, 3), 1_000, (7, 2), 20, (100, 2), (1_000, 2))  # fmt: skip


def beside_frameworks(made: Environment | None, settings: Settings) -> list[Found]:
    """What was measured in the optional environment; where it could not be, the reason for each framework.

    Dask runs in a process of its own, beside ours: its cluster's threads would be counted to everybody otherwise.
    """
    if made is None:
        return [Found(missing=dict.fromkeys(PACKAGE_OF, NOWHERE))]
    missing = {name: made.missing[package] for name, (package, _) in PACKAGE_OF.items() if package in made.missing}
    wanted, founds = [name for name in PACKAGE_OF if name not in missing], [Found(missing=missing)]
    for group in ([name for name in wanted if name != DASK], [name for name in wanted if name == DASK]):
        if group and made.python is not None:
            try:
                founds.append(start(made.python, replace(settings, frameworks=tuple(group))))
            except RuntimeError as problem:
                founds.append(Found(missing=dict.fromkeys(group, f"the measurement failed: {problem}")))
    return founds


def beside_saver(made: Environment | None, steps: int, times: int) -> tuple[list[Row], dict[str, str]]:
    """A run that is written down beside LangGraph's; or why that could not be measured."""
    if made is None or made.python is None:
        return [], {journalled.SAVER: NOWHERE if made is None else "its environment could not be made"}
    try:
        return journalled.beside_saver(made.python, steps, times), {}
    except RuntimeError as problem:
        return [], {journalled.SAVER: f"the measurement failed: {problem}"}


def together(founds: list[Found]) -> Found:
    """What was measured in several processes; ours as the first of them saw it."""
    whole = Found()
    for measured in founds:
        for case, times in measured.makespan.items():
            whole.makespan[case] = times | whole.makespan.get(case, {})
        whole.imports = measured.imports | whole.imports
        whole.missing |= measured.missing
        whole.versions |= measured.versions
    return whole


def measure(effort: Effort, peers: Path | None) -> Report:
    """Measure everything, and put it into parts."""
    scale, checked, began = effort.scale, effort.checked, load()
    say("a step beside asyncio and threads")
    taken = speed.measure(effort.sizes)
    say("the frameworks")
    made = environment.make(peers) if peers is not None else None
    saved, not_saved = beside_saver(made, *effort.saved)
    founds = beside_frameworks(made, Settings(effort.there, effort.sleeps, effort.imports[1], scale))
    measured = together(founds)
    say("real time")
    real = measured.makespan or makespan.measure(effort.sleeps, scale, {})
    say("validation, memory, imports, the scripted model")
    grown = speed.growth(*effort.grown) if effort.grown[2] else []
    large = speed.whole_plans(*effort.whole) if effort.whole[1] else []
    watched = watching.measure(*effort.watched) if effort.watched[1] else []
    apart = [row for one in founds for row in frameworks(one)]
    loaded = [*imports.measure(effort.imports[0]), *loading(measured.imports)]
    parts = [
        Part("Real time beside the critical path", makespan.rows(real, scale), "makespan", "critical path"),
        Part("Real time: the level barrier", makespan.barrier(real, scale), "LangGraph, graph", "planexec_lite, Pool"),
        Part("A step, beside plain peers", taken, "ours", "peer"),
        Part("A step, beside the frameworks", apart, "framework", "planexec_lite, Inline"),
        Part("Large plans, on the wall", large, "taken", "at most", f"{effort.whole[0]:,} steps."),
        Part("Growth of the cost of a step", grown, "10,000 steps", "1,000 steps"),
        Part("Retries with backoff", speed.retried(2 * checked[0], checked[1]), "with failures", "without"),
        Part("A run that is written down", [*journalled.measure(*checked), *saved], "written down", "beside"),
        Part("What the promises about calls cost", promises.measure(*checked), "with", "without"),
        Part("The cost of validation", speed.validation(*checked), "part", "from JSON to results"),
        Part("Parse and validate: growth of the cost of a step", speed.reading(*effort.read), "large", "small"),
        Part("Memory: the peak of a fresh process", memory.measure(effort.held), "peak", "at most"),
        Part(
            "Import", loaded, "import", "beside", "Beside pydantic, sqlite3 and one model; the frameworks beside ours."
        ),
        Part("A large run that is watched", watched, "taken", "beside", f"{effort.watched[0]:,} steps, virtual clock."),
        Part("The scripted model, a call", mock_calls.measure(effort.calls), "ours", "openai client, in process"),
    ]
    parts = [part for part in parts if part.rows]
    return Report(parts, measured.missing | not_saved, measured.versions, (began, load()))


def say(what: str) -> None:
    """Tell the person who waits what is measured now."""
    print(f"… {what}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="planexec_lite beside its peers")
    parser.add_argument("--quick", action="store_true", help="smaller plans, shorter sleeps and fewer rounds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--out", type=Path, help="a folder for report.md")
    parser.add_argument("--peers", type=Path, help="a folder for an environment with the frameworks, made if need be")
    options = parser.parse_args(arguments)
    report = measure(QUICK if options.quick else FULL, options.peers)
    if options.out:
        report.write(options.out)
    print(report.text())
    return 1 if options.strict and report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
