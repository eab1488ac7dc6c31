"""The frameworks: the same plan, the same functions, the same references, in the way that each of them offers.

A contender is made from the steps of a plan, outside the timed part; calling it carries the plan out and returns the
results. `threads` is how many steps may sleep at once; None: the steps don't sleep, and run where the framework's
own code runs, if it lets them. Each framework is imported when it is made.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from graphlib import TopologicalSorter
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TypedDict
from uuid import uuid4

from tests.bench.peers import Functions, Steps, carry_out, sorter_of, with_futures

Contender = Callable[[], dict[str, Any]]


class State(TypedDict):
    """What LangGraph's nodes read and write: the results by step id, joined after each superstep."""

    results: Annotated[dict[str, Any], or_]


def langgraph_graph(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """The graph built, compiled and run: a plan is new each time, and the others too start from its steps."""
    return lambda: langgraph_compiled(steps, functions, threads)()


def langgraph_compiled(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """A node a step, an edge a dependency, without a checkpointer; built and compiled before it is timed."""
    app = _graph_of(steps, functions).compile()
    settings = _settings(steps, threads)
    return lambda: app.invoke({"results": {}}, settings)["results"]


def langgraph_written(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """The graph built, compiled and run, with a checkpoint on disk after each superstep, before the next one begins."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    folder = TemporaryDirectory()  # goes with the last one who can call the contender

    def run() -> dict[str, Any]:
        with SqliteSaver.from_conn_string(str(Path(folder.name) / "checkpoints.db")) as saver:  # in WAL, and FULL
            app = _graph_of(steps, functions).compile(checkpointer=saver)
            settings = _settings(steps, threads) | {"configurable": {"thread_id": uuid4().hex}}
            results: dict[str, Any] = app.invoke({"results": {}}, settings, durability="sync")["results"]
            return results

    return run


def _settings(steps: Steps, threads: int | None) -> Any:
    return {"recursion_limit": len(steps) + 10} | ({"max_concurrency": threads} if threads else {})


def _graph_of(steps: Steps, functions: Functions) -> Any:
    from langgraph.graph import START, StateGraph

    def node(state: State, id: str) -> dict[str, Any]:
        inputs = {other: state["results"][other] for other in steps[id]["depends_on"]}
        return {"results": {id: carry_out(steps[id], inputs, functions)}}

    graph = StateGraph(State)
    for id in steps:
        graph.add_node(f"step {id}", functools.partial(node, id=id))
    for id, step in steps.items():
        before = [f"step {other}" for other in step["depends_on"]] or [START]
        graph.add_edge(before[0] if len(before) == 1 else before, f"step {id}")
    return graph


def langgraph_functional(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """A task a step, inside one entrypoint; what may start when is left to the writer, and graphlib says it."""
    from langgraph.func import entrypoint, task

    @task
    def work(id: str, inputs: dict[str, Any]) -> Any:
        return carry_out(steps[id], inputs, functions)

    @entrypoint()
    def flow(goal: str) -> dict[str, Any]:
        return with_futures(steps, work)

    settings: Any = {"max_concurrency": threads} if threads else {}
    return lambda: flow.invoke("bench", settings)


def llama_index(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """Two events a step, "ready" and "finished"; what may start when is left to the writer, and graphlib says it."""
    from workflows import Context, Workflow, step
    from workflows.events import Event, StartEvent, StopEvent

    pool = ThreadPoolExecutor(threads) if threads else None

    class Ready(Event):
        id: str
        inputs: dict[str, Any]

    class Finished(Event):
        id: str
        result: Any

    class Flow(Workflow):
        sorter: TopologicalSorter[str]
        results: dict[str, Any]

        def hand_out(self, ctx: Context) -> None:
            for id in self.sorter.get_ready():
                inputs = {other: self.results[other] for other in steps[id]["depends_on"]}
                ctx.send_event(Ready(id=id, inputs=inputs))

        @step
        async def begin(self, ctx: Context, ev: StartEvent) -> Ready | None:
            self.sorter, self.results = sorter_of(steps), {}
            self.hand_out(ctx)
            return None

        @step(num_workers=threads or 4)
        async def work(self, ev: Ready) -> Finished:
            job = functools.partial(carry_out, steps[ev.id], ev.inputs, functions)
            result = await asyncio.get_running_loop().run_in_executor(pool, job) if pool else job()
            return Finished(id=ev.id, result=result)

        @step(num_workers=1)
        async def collect(self, ctx: Context, ev: Finished) -> Ready | StopEvent | None:
            self.results[ev.id] = ev.result
            self.sorter.done(ev.id)
            self.hand_out(ctx)
            return None if self.sorter.is_active() else StopEvent(result=self.results)

    async def run() -> dict[str, Any]:
        results: dict[str, Any] = await Flow(timeout=None).run()
        return results

    return lambda: asyncio.run(run())


def dask(steps: Steps, functions: Functions, threads: int | None) -> Contender:
    """A submitted task a step on a cluster inside this process; a task names the futures that it waits for."""
    client = _cluster(threads or 2)

    def work(step: Any, *inputs: Any) -> Any:
        return carry_out(step, dict(zip(step["depends_on"], inputs, strict=True)), functions)

    def run() -> dict[str, Any]:
        futures: dict[str, Any] = {}
        for id, step in steps.items():
            futures[id] = client.submit(work, step, *[futures[other] for other in step["depends_on"]], pure=False)
        results: dict[str, Any] = client.gather(futures)
        return results

    return run


@functools.cache
def _cluster(threads: int) -> Any:
    from distributed import Client

    quiet: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "silence_logs": "error"}
    return Client(processes=False, n_workers=1, threads_per_worker=threads, **quiet)


FRAMEWORKS: dict[str, Callable[[Steps, Functions, int | None], Contender]] = {
    "LangGraph, graph": langgraph_graph,
    "LangGraph, compiled before": langgraph_compiled,
    "LangGraph, functional": langgraph_functional,
    "LlamaIndex workflows": llama_index,
    "Dask distributed": dask,
}
