"""LangGraph with a node a step. `make elsewhere` makes its environment; `speed` starts that interpreter with this module.

A line of input is a plan as JSON: its graph is built and run once, and the results are printed. An empty line runs the
graph of the last plan once more, and the seconds are printed. LangGraph has neither a checkpointer nor tracing here.
"""

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph  # type: ignore[import-not-found]

from tests.bench.peers import Steps, carry_out, read
from tests.bench.plans import FUNCTIONS
from tests.bench.report import timed


def merged(results: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Add results in place: a copy for every node would cost more with every step."""
    results.update(more)
    return results


class State(TypedDict):
    """The results so far, by step."""

    results: Annotated[dict[str, Any], merged]


def node_of(step: Any) -> Callable[[State], dict[str, Any]]:
    def node(state: State) -> dict[str, Any]:
        inputs = {id: state["results"][id] for id in step["depends_on"]}
        return {"results": {step["id"]: carry_out(step, inputs, FUNCTIONS)}}

    return node


def runner_of(steps: Steps) -> Callable[[], Any]:
    graph = StateGraph(State)
    for id, step in steps.items():
        graph.add_node(id, node_of(step))
        graph.add_edge(step["depends_on"] or START, id)
    app = graph.compile()
    return lambda: app.invoke({"results": {}}, {"recursion_limit": len(steps) + 2})["results"]


def main() -> None:
    for line in sys.stdin:
        if line.strip():
            run = runner_of(read(line))
            print(json.dumps(run()), flush=True)
        else:
            print(timed(run)(), flush=True)


if __name__ == "__main__":
    main()
