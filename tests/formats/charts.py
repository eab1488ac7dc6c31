"""What other tools make of the same kind of work, ``charts.py TOOL``: their charts and files by name, as JSON.

It runs in an environment of the tool alone, so it imports nothing of the kit.
"""

# mypy: ignore-errors
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, TypedDict

BIN = Path(sys.executable).parent


def langgraph() -> dict[str, str]:
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        x: int

    def graph(*arrows: tuple[str, str], **inner: Any) -> Any:
        made = StateGraph(State)
        for name in dict.fromkeys(name for arrow in arrows for name in arrow if name not in (START, END)):
            made.add_node(name, inner.get(name, lambda state: state))
        for start, end in arrows:
            made.add_edge(start, end)
        return made

    chain = graph((START, "write"), ("write", "review it"), ("review it", "send"), ("send", END)).compile()
    fan = graph((START, "plan"), ("plan", "search"), ("plan", "read"), ("join", END))
    fan.add_edge(["search", "read"], "join")
    agent = graph((START, "agent"), ("tools", "agent"))
    agent.add_conditional_edges("agent", lambda state: "go", {"go": "tools", "stop": END})
    nested = graph(
        (START, "before"), ("before", "inner"), ("inner", "after/é x"), ("after/é x", END), inner=chain
    ).compile()
    return {
        "chain": chain.get_graph().draw_mermaid(),
        "without styles": chain.get_graph().draw_mermaid(with_styles=False),
        "interrupt before": fan.compile(interrupt_before=["join"]).get_graph().draw_mermaid(),
        "interrupt after": fan.compile(interrupt_after=["plan"]).get_graph().draw_mermaid(),
        "agent": agent.compile().get_graph().draw_mermaid(),
        "nested": nested.get_graph().draw_mermaid(),
        "nested, all of it": nested.get_graph(xray=True).draw_mermaid(),
    }


def dvc() -> dict[str, str]:
    def call(*arguments: str) -> str:
        return subprocess.run([BIN / "dvc", *arguments], check=True, capture_output=True, text=True).stdout

    call("init", "--no-scm")
    for name, arguments in {
        "prepare": "-d raw.csv -o data/clean.csv",
        "train": "-d data -d train.py -o model.pkl -M metrics.json -p lr",
        "evaluate": "-d model.pkl -d data/clean.csv --plots plots.csv",
    }.items():
        call("stage", "add", "-n", name, *arguments.split(), f"python {name}.py")
    return {
        "dvc.yaml": Path("dvc.yaml").read_text(),
        "dag --mermaid": call("dag", "--mermaid"),
        "dag --dot": call("dag", "--dot"),
    }


def task() -> dict[str, str]:
    subprocess.run([BIN / "task", "--init", "--silent"], check=True, capture_output=True)
    return {"Taskfile.yml": Path("Taskfile.yml").read_text()}


def airflow() -> dict[str, str]:
    os.environ["AIRFLOW_HOME"] = str(Path.cwd())
    from datetime import datetime

    from airflow.providers.standard.operators.empty import EmptyOperator
    from airflow.sdk import DAG, TaskGroup
    from airflow.utils.dot_renderer import render_dag

    with DAG("tidy", start_date=datetime(2026, 1, 1), schedule=None) as dag:
        with TaskGroup("check") as check:
            EmptyOperator(task_id="lint")
            EmptyOperator(task_id="test")
        EmptyOperator(task_id="fetch") >> check >> EmptyOperator(task_id="ship")
    return {"a DAG": render_dag(dag).source}


def openai_agents() -> dict[str, str]:
    from agents import Agent, function_tool
    from agents.extensions.visualization import draw_graph

    @function_tool
    def search(query: str) -> str:
        """Search."""
        return query

    billing = Agent(name="Billing agent", instructions="Help.", tools=[search])
    return {"agents": draw_graph(Agent(name="Triage agent", instructions="Ask.", handoffs=[billing])).source}


def llamaindex() -> dict[str, str]:
    from llama_index.utils.workflow import draw_all_possible_flows_mermaid
    from workflows import Workflow, step
    from workflows.events import Event, StartEvent, StopEvent

    class Found(Event):
        pass

    class Research(Workflow):
        @step
        async def search(self, event: StartEvent) -> Found | StopEvent:
            return Found()

        @step
        async def tell(self, event: Found) -> StopEvent:
            return StopEvent()

    return {"a workflow": draw_all_possible_flows_mermaid(Research, filename="chart.mermaid")}


def pydantic_graph() -> dict[str, str]:
    from pydantic_graph import GraphBuilder

    builder = GraphBuilder(output_type=int)

    @builder.step
    async def search(context: Any) -> int:
        return 1

    builder.add(builder.edge_from(builder.start_node).to(search), builder.edge_from(search).to(builder.end_node))
    return {"a graph": builder.build().render()}


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(globals()[sys.argv[1]]()))
