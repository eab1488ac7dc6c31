"""Beside LangGraph: the same plan, the same functions and the same references, in the ways that it offers.

``python -m tests.bench.langgraph EFFORT OUT`` runs in the environment that `elsewhere/environments.sh` makes. It measures ours, the
plain peer and LangGraph in one process, interleaved, and writes the seconds as JSON. A contender is made from the steps of a
plan outside the timed part; calling it carries the plan out.
"""

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TypedDict
from uuid import uuid4

from planexec_lite import Inline
from tests.bench import journalled, makespan, peers
from tests.bench.peers import Functions, Steps
from tests.bench.plans import FUNCTIONS, SHAPES, alone, text_of, valid
from tests.bench.timing import Row, Taken, beside, real, rounds, work

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "elsewhere/.envs/langgraph" / ("Scripts" if os.name == "nt" else "bin") / "python"
OURS, PLAIN, SAVER = "planexec_lite, Inline", "asyncio + graphlib", "LangGraph, SqliteSaver"
LEAST = 25.0  # × ours, at 1,000 steps
Contender = Callable[[], dict[str, Any]]


@dataclass
class Measured:
    """Seconds by contender: a run by shape and number of steps, the barrier cases, and runs on disk by clock."""

    overhead: dict[str, dict[str, Taken]] = field(default_factory=dict)
    makespan: dict[str, Taken] = field(default_factory=dict)
    written: dict[str, Taken] = field(default_factory=dict)

    def overhead_rows(self) -> list[Row]:
        """How many times as long LangGraph takes for a step, for every shape and size."""
        return [
            beside(f"{shape}, {int(steps):,} steps: {name} : ours", taken, name, OURS, 1e6 / int(steps), "µs",
                   least=LEAST if steps == "1000" and name != PLAIN else None)
            for shape, sizes in self.overhead.items()
            for steps, taken in sizes.items()
            for name in taken
            if name != OURS
        ]  # fmt: skip

    def written_rows(self, steps: int) -> list[Row]:
        """How many times as long a run with checkpoints takes as one with a journal, by the clock."""
        return [
            beside(f"random, {steps:,} steps, {clock}: a step, {SAVER} : {name}, written down", taken, SAVER, name,
                   1e6 / steps, "µs",
                   least=LEAST if (clock, name, steps) == ("on the wall", "Simulated", 1000) else None)
            for clock, taken in self.written.items()
            for name in ("Simulated", "Inline")
        ]  # fmt: skip


def start(python: Path, effort: dict[str, Any]) -> Measured:
    """Run this module with the interpreter `python`. Raises `RuntimeError` with its last words if it fails."""
    with TemporaryDirectory() as folder:
        asked, file = Path(folder, "effort.json"), Path(folder, "measured.json")
        asked.write_text(json.dumps(effort), encoding="utf-8")
        command = [str(python), "-m", "tests.bench.langgraph", str(asked), str(file)]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise RuntimeError(str(problem)) from None
        if done.returncode or not file.exists():
            lines = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
            raise RuntimeError(next((line for line in reversed(lines) if re.match(r"[\w.]+: ", line)), lines[-1]))
        return Measured(**json.loads(file.read_text(encoding="utf-8")))


class State(TypedDict):
    """What LangGraph's nodes read and write: the results by step id, joined after each superstep."""

    results: Annotated[dict[str, Any], or_]


def as_graph(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """A node for each step, an edge for each dependency; built, compiled and run without a checkpointer."""
    settings = _settings(steps, threads)
    return lambda: _graph_of(steps, functions).compile().invoke({"results": {}}, settings)["results"]


def written(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """The graph built, compiled and run, with a checkpoint on disk after each superstep, before the next one begins."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    folder = TemporaryDirectory()  # is removed with the contender

    def run() -> dict[str, Any]:
        with SqliteSaver.from_conn_string(str(Path(folder.name) / "checkpoints.db")) as saver:  # in WAL, and FULL
            app = _graph_of(steps, functions).compile(checkpointer=saver)
            settings = _settings(steps, threads) | {"configurable": {"thread_id": uuid4().hex}}
            results: dict[str, Any] = app.invoke({"results": {}}, settings, durability="sync")["results"]
            return results

    return run


def functional(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """A task for each step, inside one entrypoint; the caller decides which may start, here with graphlib."""
    from langgraph.func import entrypoint, task

    @task
    def work(id: str, inputs: dict[str, Any]) -> Any:
        return peers.carry_out(steps[id], inputs, functions)

    @entrypoint()
    def flow(goal: str) -> dict[str, Any]:
        return peers.with_futures(steps, work)

    settings: Any = {"max_concurrency": threads} if threads else {}
    return lambda: flow.invoke("bench", settings)


def _settings(steps: Steps, threads: int | None) -> Any:
    return {"recursion_limit": len(steps) + 10} | ({"max_concurrency": threads} if threads else {})


def _graph_of(steps: Steps, functions: Functions) -> Any:
    from langgraph.graph import START, StateGraph

    def node(state: State, id: str) -> dict[str, Any]:
        inputs = {other: state["results"][other] for other in steps[id]["depends_on"]}
        return {"results": {id: peers.carry_out(steps[id], inputs, functions)}}

    graph = StateGraph(State)
    for id in steps:
        graph.add_node(f"step {id}", functools.partial(node, id=id))
    for id, step in steps.items():
        before = [f"step {other}" for other in step["depends_on"]] or [START]
        graph.add_edge(before[0] if len(before) == 1 else before, f"step {id}")
    return graph


MADE: dict[str, Callable[[Steps, Functions, int | None], Contender]] = {
    makespan.LANGGRAPH: as_graph,
    "LangGraph, functional": functional,
}


def contenders(shape: str, steps: int) -> dict[str, Callable[[], Any]]:
    """Everybody who carries out the plan, ours first."""
    text = text_of(shape, steps)
    plan, bare = valid(text), peers.read(text)
    return {
        OURS: lambda: alone(plan, Inline()),
        PLAIN: lambda: peers.with_asyncio(bare, FUNCTIONS),
        **{name: make(bare, FUNCTIONS, None) for name, make in MADE.items()},
    }


def measure(effort: dict[str, Any]) -> Measured:
    """Check that LangGraph gets a small plan right, then measure."""
    small = peers.read(text_of("random", 12))
    expected = peers.with_asyncio(small, FUNCTIONS)
    assert all(make(small, FUNCTIONS, None)() == expected for make in (*MADE.values(), written))
    steps, times = effort["saved"]
    with TemporaryDirectory() as folder:
        on_disk = journalled.contenders(Path(folder), steps)
        on_disk[SAVER] = written(peers.read(text_of("random", steps)), FUNCTIONS, None)
        saved = {name: rounds(on_disk, times, clock) for name, clock in _CLOCKS.items()}
    return Measured(
        {
            shape: {size: rounds(contenders(shape, int(size)), n) for size, n in effort["there"].items()}
            for shape in SHAPES
        },
        makespan.measure(effort["sleeps"], effort["scale"], MADE),
        saved,
    )


_CLOCKS = {"on the wall": real, "processor time": work}


if __name__ == "__main__":
    found = measure(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    Path(sys.argv[2]).write_text(json.dumps(asdict(found)), encoding="utf-8")
