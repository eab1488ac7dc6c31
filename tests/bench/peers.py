"""The peers: what one writes by hand, with asyncio or with threads, over graphlib, without checks and events."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Executor, Future
from graphlib import TopologicalSorter
from queue import SimpleQueue
from typing import Any

from planexec_lite.tools import references

Functions = dict[str, Callable[..., Any]]
Steps = dict[str, Any]


def read(text: str) -> Steps:
    return {step["id"]: step for step in json.loads(text)["steps"]}


def carry_out(step: Any, inputs: dict[str, Any], functions: Functions) -> Any:
    return functions[step["tool"]](**references.resolve(step["params"], inputs))


def sorter_of(steps: Steps) -> TopologicalSorter[str]:
    sorter = TopologicalSorter({id: step["depends_on"] for id, step in steps.items()})
    sorter.prepare()
    return sorter


def with_asyncio(steps: Steps, functions: Functions) -> dict[str, Any]:
    """Run every step as a task on the loop's own thread, as soon as what it waits for is done."""

    async def run() -> dict[str, Any]:
        sorter = sorter_of(steps)
        finished: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        results: dict[str, Any] = {}

        async def work(id: str) -> None:
            inputs = {other: results[other] for other in steps[id]["depends_on"]}
            finished.put_nowait((id, carry_out(steps[id], inputs, functions)))

        while sorter.is_active():
            tasks = [asyncio.create_task(work(id)) for id in sorter.get_ready()]
            id, results[id] = await finished.get()
            sorter.done(id)
            while not finished.empty():
                id, results[id] = finished.get_nowait()
                sorter.done(id)
            del tasks
        return results

    return asyncio.run(run())


def with_threads(steps: Steps, functions: Functions, pool: Executor) -> dict[str, Any]:
    """Submit every step to the pool, as soon as what it waits for is done."""
    sorter = sorter_of(steps)
    finished: SimpleQueue[tuple[str, Future[Any]]] = SimpleQueue()
    results: dict[str, Any] = {}
    while sorter.is_active():
        for id in sorter.get_ready():
            future = pool.submit(carry_out, steps[id], {n: results[n] for n in steps[id]["depends_on"]}, functions)
            future.add_done_callback(lambda future, id=id: finished.put((id, future)))  # type: ignore[misc]
        id, future = finished.get()
        results[id] = future.result()
        sorter.done(id)
    return results
