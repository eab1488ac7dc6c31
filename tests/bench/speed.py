"""Microseconds a step: ours beside asyncio with graphlib and a thread pool with graphlib, and how the cost grows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

from planexec_lite import Backoff, Inline, Plan, Policy, Pool, Run, Simulated, Tool, Toolbox, ToolExecutor, execute
from planexec_lite.workers import Workers
from tests.bench import ours, peers
from tests.bench.plans import SHAPES, TOOLS, add, text_of
from tests.bench.timing import Row, Taken, ratio, real, rounds

FUNCTIONS = {"add": add}
MOST_SECONDS = 1.0  # for 10,000 steps of any shape
PAIRS = [  # ours, theirs, the target at 1,000 steps
    ("Inline", "asyncio", 1.5),
    ("Simulated", "asyncio", None),
    ("Pool", "threads", 1.5),
    ("Inline from JSON", "asyncio from JSON", 2.0),
]
TEN_REFERENCES = ("layered", "Inline", 2.0)  # where every step uses ten results
Overhead = dict[str, dict[int, Taken]]  # shape -> steps -> seconds


def contenders(text: str, threads: ThreadPoolExecutor) -> dict[str, Callable[[], Any]]:
    """Everybody who runs the plan `text`; the names of ours begin with what is measured."""
    plan, steps = ours.fit(text, TOOLS), peers.read(text)
    expected = peers.with_asyncio(steps, FUNCTIONS)
    assert peers.with_threads(steps, FUNCTIONS, threads) == expected
    workers: dict[str, Workers] = {"Inline": Inline(), "Simulated": Simulated(), "Pool": Pool(threads)}
    assert all(ours.alone(plan, TOOLS, one).results == expected for one in workers.values())
    return {
        "asyncio": lambda: peers.with_asyncio(steps, FUNCTIONS),
        "Inline": lambda: ours.alone(plan, TOOLS, workers["Inline"]),
        "Simulated": lambda: ours.alone(plan, TOOLS, workers["Simulated"]),
        "threads": lambda: peers.with_threads(steps, FUNCTIONS, threads),
        "Pool": lambda: ours.alone(plan, TOOLS, workers["Pool"]),
        "asyncio from JSON": lambda: peers.with_asyncio(peers.read(text), FUNCTIONS),
        "Inline from JSON": lambda: ours.whole(text, TOOLS, workers["Inline"]),
    }


def measure(sizes: dict[int, int]) -> Overhead:
    """Seconds by shape, steps and contender; `sizes` maps steps to rounds."""
    with ThreadPoolExecutor(2) as threads:
        return {
            shape: {steps: rounds(contenders(text_of(waits_for, steps), threads), n) for steps, n in sizes.items()}
            for shape, waits_for in SHAPES.items()
        }


def beside(taken: Overhead) -> list[Row]:
    """Ours beside the peers, for every shape and size."""
    rows = []
    for shape, sizes in taken.items():
        for steps, times in sizes.items():
            each = {name: median(seconds) / steps * 1e6 for name, seconds in times.items()}
            for mine, theirs, most in PAIRS:
                target = TEN_REFERENCES[2] if (shape, mine) == TEN_REFERENCES[:2] else most
                what = f"{shape}, {steps:,} steps: {mine} : {theirs}"
                bound = target if steps == 1_000 else None
                rows.append(Row(what, each[mine], each[theirs], "µs", bound, ratio(times[mine], times[theirs])))
    return rows


def whole_plans(steps: int, times: int) -> list[Row]:
    """Large plans in seconds on the wall, from JSON or ready, beside the most that they may take."""
    rows = []
    with ThreadPoolExecutor(2) as threads:
        for shape, waits_for in SHAPES.items():
            works = contenders(text_of(waits_for, steps), threads)
            names = ("Inline", "Inline from JSON", "Simulated", "Pool")
            taken = rounds({name: works[name] for name in names}, times, real)
            rows += [Row(f"{shape}: {name}", median(taken[name]), MOST_SECONDS, "s", 1.0) for name in names]
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


def retried(steps: int, times: int) -> list[Row]:
    """Cost of an attempt in a run where one step in twenty fails once and backs off, beside a run without failures."""
    chains = [
        {"id": n, "tool": "work", "params": {"n": n}, "depends_on": [n - 1] if n % 10 else []} for n in range(steps)
    ]
    plan, policy = Plan.parse(chains), Policy(retries=1, backoff=Backoff())

    def run(failing: int) -> Run:
        tried = set[int]()

        def work(n: int) -> int:
            """Work; the first attempt may fail."""
            if n % 20 < failing and n not in tried:
                tried.add(n)
                raise RuntimeError("not yet")
            return n

        done = execute(
            plan, ToolExecutor(Toolbox([Tool(work, latency=1.0, effects="none")])), workers=Simulated(4), policy=policy
        )
        assert done.status == "finished"
        return done

    attempts = {"none": steps, "some": steps + steps // 20}
    taken = rounds({"none": lambda: run(0), "some": lambda: run(1)}, times)
    each = {name: [second / attempts[name] for second in seconds] for name, seconds in taken.items()}
    what = f"{steps:,} steps, one in twenty retried after a backoff: an attempt"
    none, some = (median(each[name]) * 1e6 for name in ("none", "some"))
    return [Row(what, some, none, "µs", 1.3, ratio(each["some"], each["none"]))]
