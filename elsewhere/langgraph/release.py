"""The release as a LangGraph graph: a planner node, an approval by interrupt, and workers that are sent with Send."""

import operator
import os
from typing import Annotated, TypedDict

os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true"}  # ours: trace
os.environ |= {"LANGSMITH_OTEL_ONLY": "true", "LANGSMITH_API_KEY": "none"}  # ours: trace

from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from ours import Answer, CheckedPlan, begun_before, roll_back
from pydantic import ValidationError
from shop import BUDGET, INSTRUCTIONS, MODEL, STATE, Step, ask, attempt, question, say
from spans import to_file


class State(TypedDict):
    """The state of the graph; parallel nodes merge their results with the annotated operators."""

    plan: dict
    done: Annotated[dict, operator.or_]
    failed: Annotated[dict, operator.or_]
    replans: int
    calls: Annotated[int, operator.add]


model = ChatOpenAI(model=MODEL).with_structured_output(CheckedPlan)


def plan(state: State):
    """Ask the model for a plan."""
    chat = [
        ("system", INSTRUCTIONS),
        ("user", question((state["done"] | state["failed"]) if state["failed"] else None)),
    ]
    for calls in (1, 2, 3):
        if BUDGET and state["calls"] + calls > BUDGET:  # ours: budget
            return Command(goto="finish")  # ours: budget
        try:
            return Command(update={"plan": model.invoke(chat).model_dump(), "calls": calls}, goto="approve")
        except ValidationError as error:  # an invalid plan goes back to the model
            if calls == 3:
                raise
            chat.append(("user", str(error)))  # ours: repair
    return None


def approve(state: State):
    """Wait for the person."""
    answer = interrupt(state["plan"], response_schema=Answer)
    if not answer.yes:
        return Command(goto="finish")
    return Command(update={"plan": answer.plan.model_dump()} if answer.plan else {}, goto="dispatch")


def dispatch(state: State):
    """Send every ready step to a worker. LangGraph calls this node after each superstep."""
    over = state["done"] | state["failed"]
    steps = [Step(**step) for step in state["plan"]["steps"] if step["id"] not in over]
    ready = [step for step in steps if state["done"].keys() >= set(step.depends_on)]  # ours: skip
    if ready:
        return Command(goto=[Send("work", step) for step in ready])
    if state["failed"] and not state["replans"]:
        return Command(update={"replans": 1}, goto="plan")
    return Command(goto="finish")


def work(step: Step):
    """Run one step."""
    if begun_before(step) and not interrupt({"in doubt": step.id})["again"]:  # ours: once
        return {"done": {step.id: f"{step.tool}: a person says that it was done"}}  # ours: once
    ok, result = attempt(step)
    return {"done" if ok else "failed": {step.id: result}}


def finish(state: State):
    """End the run."""
    if state["failed"]:  # ours: undo
        roll_back(list(state["done"].values()))  # ours: undo


graph = StateGraph(State).add_node(plan).add_node(approve).add_node(dispatch).add_node(work).add_node(finish)
graph.add_edge(START, "plan").add_edge("work", "dispatch")
usage = UsageMetadataCallbackHandler()
config = {"configurable": {"thread_id": "1"}, "callbacks": [usage], "recursion_limit": 40}

to_file()  # ours: trace
with SqliteSaver.from_conn_string(str(STATE / "graph.db")) as saver:
    app = graph.compile(saver)
    fresh = {"done": {}, "failed": {}, "replans": 0, "calls": 0}
    todo = None if app.get_state(config).values else fresh
    while True:
        for update in app.stream(todo, config, stream_mode="updates", durability="sync"):
            say(update)
        if not (interrupts := app.get_state(config).interrupts):
            break
        todo = Command(resume=ask(interrupts[0].value))
for used in usage.usage_metadata.values():
    say("USAGE", used["input_tokens"], used["output_tokens"])
