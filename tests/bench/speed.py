"""Microseconds a step: ours beside asyncio with graphlib and a thread pool with graphlib, and how the cost grows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any

from planexec_lite import Inline, Plan, PlannerExecutor, Pool, Run, Simulated, ToolExecutor, execute
from planexec_lite.events import PlanProposed, RunStarted
from planexec_lite.workers import Workers
from tests.bench import peers
from tests.bench.plans import SHAPES, TOOLS, add, text_of
from tests.bench.timing import Row, ratio, rounds

FUNCTIONS = {"add": add}
EXECUTOR = ToolExecutor(TOOLS)


def alone(plan: Plan, workers: Workers) -> Run:
    """Execution alone, as `execute` does it after the check: validated plan in, results and events out."""
    run = Run()
    run.record(RunStarted(0.0, plan.goal, planner=False, reviewer=False))
    run.record(PlanProposed(0.0, plan))
    return PlannerExecutor(None, EXECUTOR, workers=workers)._drive(run)


def whole(text: str, workers: Workers) -> Run:
    """From JSON text to results: parse, validate, execute."""
    return execute(Plan.parse(text), EXECUTOR, workers=workers)


def contenders(text: str, threads: ThreadPoolExecutor) -> dict[str, Callable[[], Any]]:
    """Everybody who runs the plan `text`; the names of ours begin with what is measured."""
    plan, steps = Plan.parse(text), peers.read(text)
    expected = peers.with_asyncio(steps, FUNCTIONS)
    assert peers.with_threads(steps, FUNCTIONS, threads) == expected
    ours: dict[str, Workers] = {"Inline": Inline(), "Simulated": Simulated(), "Pool": Pool(threads)}
    assert all(alone(plan, workers).results == expected for workers in ours.values())
    return {
        "asyncio": lambda: peers.with_asyncio(steps, FUNCTIONS),
        "Inline": lambda: alone(plan, ours["Inline"]),
        "Simulated": lambda: alone(plan, ours["Simulated"]),
        "threads": lambda: peers.with_threads(steps, FUNCTIONS, threads),
        "Pool": lambda: alone(plan, ours["Pool"]),
        "asyncio from JSON": lambda: peers.with_asyncio(peers.read(text), FUNCTIONS),
        "Inline from JSON": lambda: whole(text, ours["Inline"]),
    }


PAIRS = [  # ours, theirs, the target at 1,000 steps
    ("Inline", "asyncio", 1.2),
    ("Simulated", "asyncio", None),
    ("Pool", "threads", 1.5),
    ("Inline from JSON", "asyncio from JSON", 2.0),
]


def beside(sizes: dict[int, int]) -> list[Row]:
    """Ours beside the peers, for every shape; `sizes` maps steps to rounds."""
    rows = []
    with ThreadPoolExecutor(2) as threads:
        for shape, waits_for in SHAPES.items():
            for steps, times in sizes.items():
                taken = rounds(contenders(text_of(waits_for, steps), threads), times)
                each = {name: median(seconds) / steps * 1e6 for name, seconds in taken.items()}
                for ours, theirs, target in PAIRS:
                    what = f"{shape}, {steps:,} steps: {ours} : {theirs}"
                    most = target if steps == 1_000 else None
                    rows.append(Row(what, each[ours], each[theirs], "µs", most, ratio(taken[ours], taken[theirs])))
    return rows


def growth(small: int, large: int, times: int) -> list[Row]:
    """What a step costs in a large plan, beside a small one, in the same rounds."""
    rows = []
    with ThreadPoolExecutor(2) as threads:
        for shape, waits_for in SHAPES.items():
            works = {steps: contenders(text_of(waits_for, steps), threads) for steps in (small, large)}
            for name in ("Inline", "Simulated", "Pool", "Inline from JSON"):
                rows.append(grown(f"{shape}: {name}", {steps: works[steps][name] for steps in works}, times, 2.0))
    return rows


def grown(what: str, works: dict[int, Callable[[], Any]], times: int, most: float) -> Row:
    """One row: the work at a small and at a large number of steps, interleaved."""
    taken = rounds({str(steps): work for steps, work in works.items()}, times)
    (small, large), each = works, {steps: [second / steps for second in taken[str(steps)]] for steps in works}
    each_ratio = ratio(each[large], each[small])
    return Row(what, median(each[large]) * 1e6, median(each[small]) * 1e6, "µs", most, each_ratio)


def reading(small: int, large: int, times: int) -> list[Row]:
    """What a step costs to read and check in a large plan, beside a small one."""
    rows = []
    for shape, waits_for in SHAPES.items():
        texts = {steps: text_of(waits_for, steps) for steps in (small, large)}
        works: dict[int, Callable[[], Any]] = {steps: partial(check, text) for steps, text in texts.items()}
        rows.append(grown(f"{shape}: {large:,} beside {small:,} steps", works, times, 2.5))
    return rows


def check(text: str) -> None:
    """Parse and validate; the plan must be fit."""
    if problems := Plan.parse(text).problems(TOOLS):
        raise AssertionError(problems)
