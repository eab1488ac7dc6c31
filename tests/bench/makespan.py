"""Real time beside the critical path, on plans that show what a level barrier costs.

In a staircase of n by n, n independent rows have n steps each. In every row another step is the long one, so each row
takes as long as every other. Whoever starts a step when its own row is ready takes one row's time. Whoever waits for a
whole level pays its longest step, n times.
"""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from planexec_lite import Plan, Pool, Toolbox, tool
from tests.bench import peers
from tests.bench.plans import alone, valid
from tests.bench.timing import Row, Taken, beside, real, rounds

LONG, SHORT = 0.4, 0.02  # seconds
SEARCHES = {"flights": 1, "trains": 3, "hotels": 8, "museums": 13, "restaurants": 17, "weather": 20}
THREADS = 16  # more than any case can use at once
OURS, LANGGRAPH = "planexec_lite, Pool", "LangGraph, graph"
MOST = 1.05  # × the critical path
LEAST = {"travel plan": 1.7, "8 × 8 staircase": 5.0}  # LangGraph's graph : ours
Makers = Mapping[str, Callable[[peers.Steps, peers.Functions, int | None], Callable[[], Any]]]


@tool(effects="none")
def pause(seconds: float, after: list[float]) -> float:
    """Sleep, really, and return how long; `after` holds what the steps before it returned."""
    time.sleep(seconds)
    return seconds


TOOLS, FUNCTIONS = Toolbox([pause]), {"pause": pause}


@dataclass(frozen=True)
class Case:
    """A plan as JSON, with its shortest possible time in seconds."""

    name: str
    text: str
    shortest: float


def case_of(name: str, durations: dict[str, tuple[float, list[str]]]) -> Case:
    """The case of a plan whose steps take these seconds and wait for these steps."""
    steps = []
    for id, (seconds, before) in durations.items():
        params = {"seconds": seconds, "after": [f"{{step_{other}_result}}" for other in before]}
        steps.append({"id": id, "tool": "pause", "params": params, "depends_on": before})
    text = json.dumps({"goal": name, "steps": steps})
    return Case(name, text, Plan.parse(text).critical_path({id: taken for id, (taken, _) in durations.items()})[1])


def staircase(n: int, scale: float) -> Case:
    """The case of n rows of n steps; with n = 2, two uneven branches."""
    places = [(row, column) for row in range(n) for column in range(n)]
    durations = {
        f"{row}.{column}": ((LONG if row == column else SHORT) * scale, [f"{row}.{column - 1}"] if column else [])
        for row, column in places
    }
    return case_of("two uneven branches" if n == 2 else f"{n} × {n} staircase", durations)


def travel(scale: float) -> Case:
    """The case of a journey: six searches, a summary of each, one join. What is found quickly takes long to sum up."""
    unit, summaries = SHORT * scale, zip(SEARCHES, reversed(SEARCHES.values()), strict=True)
    durations: dict[str, tuple[float, list[str]]] = {f"find_{what}": (n * unit, []) for what, n in SEARCHES.items()}
    durations |= {f"sum_up_{what}": (n * unit, [f"find_{what}"]) for what, n in summaries}
    durations["join"] = (unit, [f"sum_up_{what}" for what in SEARCHES])
    return case_of("travel plan", durations)


def measure(times: int, scale: float, frameworks: Makers) -> dict[str, Taken]:
    """Seconds by case and contender, `times` rounds each; `scale` makes the sleeps shorter."""
    taken = {}
    with ThreadPoolExecutor(THREADS) as threads:
        for case in [*(staircase(n, scale) for n in (2, 3, 5, 8)), travel(scale)]:
            plan, steps = valid(case.text, TOOLS), peers.read(case.text)
            contenders: dict[str, Callable[[], Any]] = {
                OURS: partial(alone, plan, Pool(threads), tools=TOOLS),
                "asyncio + graphlib": partial(peers.with_asyncio, steps, FUNCTIONS, threads),
                "threads + graphlib": partial(peers.with_threads, steps, FUNCTIONS, threads),
                **{name: make(steps, FUNCTIONS, THREADS) for name, make in frameworks.items()},
            }
            taken[case.name] = rounds(contenders, times, real) | {"shortest": [case.shortest] * times}
    return taken


def rows(taken: Mapping[str, Taken], scale: float) -> list[Row]:
    """A row for every case and contender, beside the critical path. Ours has a target, where sleeps have full length."""
    return [
        Row(f"{case}: {name}", median(seconds) * 1e3, times["shortest"][0] * 1e3, "ms",
            MOST if name == OURS and scale == 1 else None)
        for case, times in taken.items()
        for name, seconds in times.items()
        if name != "shortest"
    ]  # fmt: skip


def barrier(taken: Mapping[str, Taken], scale: float) -> list[Row]:
    """LangGraph's graph beside ours, where it ran: at least so many times as long on two of the cases."""
    return [
        beside(f"{case}: {LANGGRAPH} : ours", times, LANGGRAPH, OURS, 1e3, "ms",
               least=LEAST.get(case) if scale == 1 else None)
        for case, times in taken.items()
        if LANGGRAPH in times
    ]  # fmt: skip
