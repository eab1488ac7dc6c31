"""Microseconds per step: the kit compared with asyncio and threads with graphlib, with and without retries; the import."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from planexec_lite import Backoff, Inline, Plan, Policy, Pool, Simulated, Tool, Toolbox, ToolExecutor, execute
from tests.bench import peers
from tests.bench.plans import FUNCTIONS, SHAPES, alone, text_of, valid, whole
from tests.bench.report import Row, beside, rounds

PAIRS = [  # ours, theirs, the target at 1,000 steps
    ("Inline", "asyncio", 1.5),
    ("Simulated", "asyncio", None),
    ("Pool", "threads", 1.5),
    ("Inline from JSON", "asyncio from JSON", 2.0),
]
TEN_REFERENCES = ("layered", "Inline")  # where every step uses ten results, twice the time is enough


def contenders(shape: str, steps: int, threads: ThreadPoolExecutor) -> dict[str, Callable[[], Any]]:
    text = text_of(shape, steps)
    plan, bare = valid(text), peers.read(text)
    return {
        "asyncio": lambda: peers.with_asyncio(bare, FUNCTIONS),
        "Inline": lambda: alone(plan, Inline()).results,
        "Simulated": lambda: alone(plan, Simulated()).results,
        "threads": lambda: peers.with_threads(bare, FUNCTIONS, threads),
        "Pool": lambda: alone(plan, Pool(threads)).results,
        "asyncio from JSON": lambda: peers.with_asyncio(peers.read(text), FUNCTIONS),
        "Inline from JSON": lambda: whole(text, Inline()).results,
    }


def measure(sizes: dict[int, int]) -> list[Row]:
    """The kit compared with the peers, for every shape and size; `sizes` maps steps to rounds."""
    rows = []
    with ThreadPoolExecutor(2) as threads:
        for shape in SHAPES:
            for steps, times in sizes.items():
                works = contenders(shape, steps, threads)
                assert all(work() == works["asyncio"]() for work in works.values())
                taken = rounds(works, times)
                for mine, theirs, most in PAIRS:
                    target = 2.0 if (shape, mine) == TEN_REFERENCES else most
                    what = f"{shape}, {steps:,} steps: {mine} : {theirs}"
                    most = target if steps == 1_000 else None
                    rows.append(beside(what, taken, mine, theirs, 1e6 / steps, most))
    return rows


def retried(steps: int, times: int) -> list[Row]:
    """Cost of an attempt in a run where one step in twenty fails once and backs off, compared with a run without failures."""
    plan = Plan.parse(
        [{"id": n, "tool": "work", "params": {"n": n}, "depends_on": [n - 1] if n % 10 else []} for n in range(steps)]
    )

    def run(failing: int) -> None:
        tried = set[int]()

        def work(n: int) -> int:
            """Work; the first attempt may fail."""
            if n % 20 < failing and n not in tried:
                tried.add(n)
                raise RuntimeError("not yet")
            return n

        tools, policy = Toolbox([Tool(work, latency=1.0, effects="none")]), Policy(retries=1, backoff=Backoff())
        assert execute(plan, ToolExecutor(tools), workers=Simulated(4), policy=policy).status == "finished"

    taken = rounds({"none": lambda: run(0), "some": lambda: run(1)}, times)
    taken["some"] = [second / 1.05 for second in taken["some"]]  # it has so many more attempts
    what = f"{steps:,} steps, one in twenty retried after a backoff: an attempt"
    return [beside(what, taken, "some", "none", 1e6 / steps, 1.3)]


MODEL = "import sqlite3, pydantic\nclass Model(pydantic.BaseModel):\n    name: str"


def imports(times: int) -> list[Row]:
    """The import compared with what it can't do without, each in fresh interpreters; the first round fills the cache."""

    def seconds(code: str) -> float:
        timed = f"from time import process_time as now; began = now()\n{code}\nprint(now() - began)"
        return float(subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True).stdout)

    pairs = [(seconds("import planexec_lite"), seconds(MODEL)) for _ in range(times + 1)][1:]
    taken = dict(zip(("ours", "theirs"), map(list, zip(*pairs, strict=True)), strict=True))
    return [beside("import planexec_lite", taken, "ours", "theirs", 1e6, 1.3)]
