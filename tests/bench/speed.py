"""Microseconds of CPU per step: the kit compared with asyncio and threads with graphlib, and with LangGraph; the import."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import IO, Any, cast

from planexec_lite import Plan, Pool, ToolExecutor, execute
from tests.bench import peers
from tests.bench.plans import FUNCTIONS, SHAPES, TOOLS, text_of
from tests.bench.report import Contenders, Row, beside, rounds, timed

Works = dict[str, Callable[[], Any]]
ROOT = Path(__file__).parents[2]
LANGGRAPH = ROOT / "elsewhere/.envs/langgraph/bin/python"
MISSING = "" if LANGGRAPH.exists() else "LangGraph is missing. To install it: sh elsewhere/environments.sh langgraph"
PAIRS = [  # first, second, the target of the ratio
    ("a plan", "asyncio", 5.5),
    ("from JSON", "asyncio", 6.5),
    ("a pool", "threads", 5.0),
    ("a plan", "LangGraph", 0.285),
]


@contextmanager
def langgraph(text: str) -> Iterator[Contenders]:
    """LangGraph in its own interpreter, with the plan loaded; no contender if its environment is missing."""
    if MISSING:
        yield {}
        return
    command = [str(LANGGRAPH), "-m", "tests.bench.langgraph_steps"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        to, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)

        def answer(line: str) -> Any:
            to.write(f"{line}\n".encode())
            to.flush()
            return json.loads(answers.readline())

        assert answer(text) == peers.with_asyncio(peers.read(text), FUNCTIONS)
        yield {"LangGraph": lambda: answer("")}


def ours(text: str, tools: str, threads: ThreadPoolExecutor) -> Works:
    plan, executor = Plan.parse(text), ToolExecutor(TOOLS[tools])
    return {
        f"a plan, {tools}": lambda: execute(plan, executor).results,
        f"from JSON, {tools}": lambda: execute(Plan.parse(text), executor).results,
        f"a pool, {tools}": lambda: execute(plan, executor, workers=Pool(threads)).results,
    }


def contenders(text: str, threads: ThreadPoolExecutor) -> Contenders:
    steps = peers.read(text)
    works: Works = {
        "asyncio": lambda: peers.with_asyncio(steps, FUNCTIONS),
        "threads": lambda: peers.with_threads(steps, FUNCTIONS, threads),
    }
    for tools in TOOLS:
        works |= ours(text, tools, threads)
    assert all(work() == works["asyncio"]() for work in works.values())
    return {name: timed(work) for name, work in works.items()}


def measure(steps: int, times: int) -> list[Row]:
    """The kit compared with the peers, for every shape, and for tools that declare their effects or nothing."""
    rows = []
    for shape in SHAPES:
        text = text_of(shape, steps)
        with ThreadPoolExecutor(2) as threads, langgraph(text) as elsewhere:
            taken = rounds(contenders(text, threads) | elsewhere, times)
        for tools, (mine, peer, most) in product(TOOLS, PAIRS):
            first, second = (name if name in taken else f"{name}, {tools}" for name in (mine, peer))
            if second in taken:
                rows.append(beside(f"{shape}, {tools}: {mine} : {peer}", taken, first, second, 1e6 / steps, most))
    return rows


MODEL = "import sqlite3, pydantic\nclass Model(pydantic.BaseModel):\n    name: str"


def imports(times: int) -> list[Row]:
    """The import compared with what it can't do without, each in fresh interpreters."""

    def seconds(code: str) -> float:
        code = f"from time import process_time as now; began = now()\n{code}\nprint(now() - began)"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)

    works: Contenders = {"ours": lambda: seconds("import planexec_lite"), "theirs": lambda: seconds(MODEL)}
    return [beside("import planexec_lite", rounds(works, times), "ours", "theirs", 1e6, 1.5)]
