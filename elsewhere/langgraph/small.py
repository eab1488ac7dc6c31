"""The release as a LangGraph graph: a plan, a person's answer, and a worker for each ready step."""

import json
import operator
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from shop import STATE, ask, call, say

from planexec_lab.worlds.deploy import PLAN


class State(TypedDict):
    """What the nodes share: the steps, and the results by the step's id."""

    plan: list
    done: Annotated[dict, operator.or_]


def planner():
    """Return the steps of a plan, as a model would."""
    say("the planner is asked")
    return json.loads(PLAN)["steps"]


def plan(state: State):
    """Write the plan into the state."""
    return {"plan": planner()}


def approve(state: State):
    """Wait for a person."""
    answer = interrupt(state["plan"])
    return Command(goto="dispatch" if answer["yes"] else END)


def dispatch(state: State):
    """Send each ready step to a worker; without one, the graph ends."""
    steps = [step for step in state["plan"] if step["id"] not in state["done"]]
    ready = [step for step in steps if state["done"].keys() >= set(step["depends_on"])]
    return Command(goto=[Send("work", step) for step in ready])


def work(step: dict):
    """Call the tool of one step."""
    result = call(step["action"], **step["params"])
    return {"done": {step["id"]: result}}


graph = StateGraph(State).add_node(plan).add_node(approve).add_node(dispatch).add_node(work)
graph.add_edge(START, "plan").add_edge("plan", "approve").add_edge("work", "dispatch")

with SqliteSaver.from_conn_string(str(STATE / "small.db")) as saver:
    app, config = graph.compile(saver), {"configurable": {"thread_id": "1"}}
    todo = None if app.get_state(config).values else {"done": {}}
    app.invoke(todo, config, durability="sync")
    while waiting := app.get_state(config).interrupts:
        app.invoke(Command(resume=ask(waiting[0].value)), config, durability="sync")
