"""Compared with LangGraph: the same plan, the same functions and the same references.

``python -m tests.bench.langgraph EFFORT OUT`` runs in the environment that `elsewhere/environments.sh` makes. It measures the kit,
the plain peer and LangGraph in one process, interleaved, and writes the seconds as JSON. Building a contender from the steps
of a plan is not timed; running the plan is.
"""

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TypedDict

from planexec_lite import Inline
from tests.bench import peers
from tests.bench.peers import Functions, Steps
from tests.bench.plans import FUNCTIONS, SHAPES, alone, text_of, valid
from tests.bench.timing import Row, Taken, beside, rounds

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "elsewhere/.envs/langgraph" / ("Scripts" if os.name == "nt" else "bin") / "python"
OURS, PLAIN, LANGGRAPH = "planexec_lite, Inline", "asyncio + graphlib", "LangGraph, graph"
LEAST = 25.0  # × ours, at 1,000 steps
Contender = Callable[[], dict[str, Any]]
Measured = dict[str, dict[str, Taken]]  # seconds of a run by shape, number of steps and contender


def rows(measured: Measured) -> list[Row]:
    """How many times as long LangGraph takes for a step, for every shape and size."""
    return [
        beside(f"{shape}, {int(steps):,} steps: {name} : ours", taken, name, OURS, 1e6 / int(steps), "µs",
               least=LEAST if steps == "1000" and name != PLAIN else None)
        for shape, sizes in measured.items()
        for steps, taken in sizes.items()
        for name in taken
        if name != OURS
    ]  # fmt: skip


def start(python: Path, sizes: dict[str, int]) -> Measured:
    """Run this module with the interpreter `python`; raises `RuntimeError` with its last line if it fails."""
    with TemporaryDirectory() as folder:
        asked, file = Path(folder, "sizes.json"), Path(folder, "measured.json")
        asked.write_text(json.dumps(sizes), encoding="utf-8")
        command = [str(python), "-m", "tests.bench.langgraph", str(asked), str(file)]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise RuntimeError(str(problem)) from None
        if done.returncode or not file.exists():
            lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
            raise RuntimeError(next((line for line in reversed(lines) if re.match(r"[\w.]+: ", line)), lines[-1]))
        measured: Measured = json.loads(file.read_text(encoding="utf-8"))
        return measured


class State(TypedDict):
    """The state of LangGraph's nodes: the results by step id, joined after each superstep."""

    results: Annotated[dict[str, Any], or_]


def as_graph(steps: Steps, functions: Functions) -> Contender:
    """A node for each step, an edge for each dependency; built, compiled and run without a checkpointer."""
    from langgraph.graph import START, StateGraph

    def node(state: State, id: str) -> dict[str, Any]:
        inputs = {other: state["results"][other] for other in steps[id]["depends_on"]}
        return {"results": {id: peers.carry_out(steps[id], inputs, functions)}}

    def run() -> dict[str, Any]:
        graph = StateGraph(State)
        for id in steps:
            graph.add_node(f"step {id}", functools.partial(node, id=id))
        for id, step in steps.items():
            before = [f"step {other}" for other in step["depends_on"]] or [START]
            graph.add_edge(before[0] if len(before) == 1 else before, f"step {id}")
        results: dict[str, Any] = graph.compile().invoke({"results": {}}, {"recursion_limit": len(steps) + 10})[
            "results"
        ]
        return results

    return run


def contenders(shape: str, steps: int) -> dict[str, Callable[[], Any]]:
    text = text_of(shape, steps)
    plan, bare = valid(text), peers.read(text)
    return {
        OURS: lambda: alone(plan, Inline()),
        PLAIN: lambda: peers.with_asyncio(bare, FUNCTIONS),
        LANGGRAPH: as_graph(bare, FUNCTIONS),
    }


def measure(sizes: dict[str, int]) -> Measured:
    """Check that LangGraph gets a small plan right, then measure; `sizes` maps steps to rounds."""
    small = peers.read(text_of("random", 12))
    expected = peers.with_asyncio(small, FUNCTIONS)
    assert as_graph(small, FUNCTIONS)() == expected
    return {shape: {size: rounds(contenders(shape, int(size)), n) for size, n in sizes.items()} for shape in SHAPES}


if __name__ == "__main__":
    found = measure(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")
