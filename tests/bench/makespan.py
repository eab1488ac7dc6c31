"""Real time: how long each contender takes for the barrier cases, beside the critical path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

from planexec_lite import Pool
from tests.bench import ours, peers
from tests.bench.barriers import TOOLS, Case, cases, pause
from tests.bench.timing import Row, Taken, ratio, real, rounds

FUNCTIONS = {"pause": pause}
THREADS = 16  # more than any case can use at once
OURS = "planexec_lite, Pool"
PLAIN = ("asyncio + graphlib", "threads + graphlib")
MOST = 1.05  # × the critical path
LEAST = {"travel plan": 1.7, "8 × 8 staircase": 5.0}  # LangGraph's graph : ours

Makers = Mapping[str, Callable[[peers.Steps, peers.Functions, int | None], Callable[[], Any]]]


def contenders(case: Case, threads: ThreadPoolExecutor, frameworks: Makers) -> dict[str, Callable[[], Any]]:
    """Everybody who carries out the case, ours first."""
    plan, steps = ours.fit(case.text, TOOLS), peers.read(case.text)
    return {
        OURS: lambda: ours.alone(plan, TOOLS, Pool(threads)),
        PLAIN[0]: lambda: peers.with_asyncio(steps, FUNCTIONS, threads),
        PLAIN[1]: lambda: peers.with_threads(steps, FUNCTIONS, threads),
        **{name: make(steps, FUNCTIONS, THREADS) for name, make in frameworks.items()},
    }


def measure(times: int, scale: float = 1.0, frameworks: Makers | None = None) -> dict[str, Taken]:
    """Seconds by case and contender, `times` rounds each; `scale` makes the sleeps shorter."""
    with ThreadPoolExecutor(THREADS) as threads:
        return {case.name: rounds(contenders(case, threads, frameworks or {}), times, real) for case in cases(scale)}


def rows(taken: Mapping[str, Taken], scale: float = 1.0) -> list[Row]:
    """A row for every case and contender, beside the critical path. Ours has a target, where sleeps have full length."""
    rows = []
    for case in cases(scale):
        for name, seconds in taken[case.name].items():
            most = MOST if name == OURS and scale == 1 else None
            rows.append(Row(f"{case.name}: {name}", median(seconds) * 1e3, case.shortest * 1e3, "ms", most))
    return rows


def beside(taken: Mapping[str, Taken], scale: float = 1.0) -> list[Row]:
    """LangGraph's graph beside ours, where it ran: at least so many times as long on two of the cases."""
    theirs = "LangGraph, graph"
    return [
        Row(
            f"{case}: {theirs} : ours",
            median(times[theirs]) * 1e3,
            median(times[OURS]) * 1e3,
            "ms",
            ratio=ratio(times[theirs], times[OURS]),
            least=LEAST.get(case) if scale == 1 else None,
        )
        for case, times in taken.items()
        if theirs in times
    ]
