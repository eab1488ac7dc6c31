"""Benchmarks: ``python -m tests.bench [--quick] [--strict] [--out FOLDER] [--peers FOLDER]``; `make bench` calls it.

Prints a Markdown report with target and verdict, and writes it to a folder. Contenders that stand in
one table run in one process, interleaved, so that a slow machine is slow for all of them. The exit status is 0 even when
a target is missed, unless --strict is given.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.bench import (
    environment,
    imports,
    journalled,
    makespan,
    memory,
    mock_calls,
    promises,
    speed,
    validation,
    watching,
)
from tests.bench.effort import FULL, QUICK, Effort
from tests.bench.elsewhere import DASK, PACKAGE_OF, Found, Settings, start
from tests.bench.environment import Environment
from tests.bench.report import Part, Report, frameworks, load, loading
from tests.bench.timing import Row

NOWHERE = "no folder for its environment was given (--peers FOLDER)"


def beside_frameworks(made: Environment | None, settings: Settings) -> list[Found]:
    """What was measured in the optional environment; where it could not be, the reason for each framework.

    Dask runs in a process of its own, beside ours: its cluster's threads would be counted to everybody otherwise.
    """
    if made is None:
        return [Found(missing=dict.fromkeys(PACKAGE_OF, NOWHERE))]
    missing = {name: made.missing[package] for name, (package, _) in PACKAGE_OF.items() if package in made.missing}
    wanted = [name for name in PACKAGE_OF if name not in missing] if made.python is not None else []
    founds = [Found(missing=missing)]
    for group in ([name for name in wanted if name != DASK], [name for name in wanted if name == DASK]):
        if group and made.python is not None:
            try:
                founds.append(start(made.python, Settings(**{**vars(settings), "frameworks": tuple(group)})))
            except RuntimeError as problem:
                founds.append(Found(missing=dict.fromkeys(group, f"the measurement failed: {problem}")))
    return founds


def beside_saver(made: Environment | None, steps: int, times: int) -> tuple[list[Row], dict[str, str]]:
    """A run that is written down beside LangGraph's; or why that could not be measured."""
    if made is None:
        return [], {journalled.SAVER: NOWHERE}
    if (why := made.missing.get(journalled.SAVER_PACKAGE) or made.missing.get("langgraph")) or made.python is None:
        return [], {journalled.SAVER: why or "its environment could not be made"}
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
        for shape, sizes in measured.overhead.items():
            known = whole.overhead.setdefault(shape, {})
            known.update({steps: times | known.get(steps, {}) for steps, times in sizes.items()})
        whole.imports = measured.imports | whole.imports
        whole.missing |= measured.missing
        whole.versions |= measured.versions
    return whole


def measure(effort: Effort, peers: Path | None) -> Report:
    """Measure everything, and put it into parts."""
    scale, (steps, times), began = effort.scale, effort.checked, load()
    say("a step beside asyncio and threads")
    taken = speed.measure(effort.sizes)
    say("the frameworks")
    made = environment.make(peers) if peers is not None else None
    saved, not_saved = beside_saver(made, *effort.saved)
    founds = beside_frameworks(made, Settings(effort.there, effort.sleeps, effort.imports[1], scale))
    measured = together(founds)
    say("real time")
    real = measured.makespan or makespan.measure(effort.sleeps, scale)
    say("validation, memory, imports, the scripted model")
    checked = validation.measure(steps, times)
    whole, held = memory.measure(effort.held)
    grown = speed.growth(*effort.grown) if effort.grown[2] else []
    large = speed.whole_plans(*effort.whole) if effort.whole[1] else []
    watched = watching.measure(*effort.watched) if effort.watched[1] else []
    apart = [row for one in founds for row in frameworks(one)]
    parts = [
        Part("Real time beside the critical path", makespan.rows(real, scale), "makespan", "critical path"),
        Part("Real time: the level barrier", makespan.beside(real, scale), "LangGraph, graph", "planexec_lite, Pool"),
        Part("A step, beside plain peers", speed.beside(taken), "ours", "peer"),
        Part("A step, beside the frameworks", apart, "framework", "planexec_lite, Inline"),
        Part("Large plans, on the wall", large, "taken", "at most", note=f"{effort.whole[0]:,} steps."),
        Part("Growth of the cost of a step", grown, "10,000 steps", "1,000 steps"),
        Part("Retries with backoff", speed.retried(2 * steps, times), "with failures", "without"),
        Part("A run that is written down", [*journalled.measure(steps, times), *saved], "written down", "beside"),
        Part("What the promises about calls cost", promises.measure(steps, times), "with", "without"),
        Part("The cost of validation", validation.rows(checked, steps), "part", "from JSON to results"),
        Part("Parse and validate: growth of the cost of a step", validation.growth(*effort.read), "large", "small"),
        Part("Memory: the peak of a fresh process", whole, "peak", "at most"),
        Part("Memory: what a run allocates at its peak", held, "planexec_lite", "asyncio + graphlib"),
        Part("Import", [*imports.measure(effort.imports[0]), *loading(measured.imports)], "import", "beside",
             note=BESIDE_IMPORT),
        Part("A large run that is watched", watched, "taken", "beside", note=f"{effort.watched[0]:,} steps on a virtual clock."),
        Part("The scripted model, a call", mock_calls.measure(effort.calls), "ours", "openai client, in process"),
    ]  # fmt: skip
    return Report(
        [part for part in parts if part.rows], measured.missing | not_saved, measured.versions, (began, load())
    )


BESIDE_IMPORT = "Beside pydantic, sqlite3 and one model; the frameworks beside planexec_lite, in their own environment."


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
