"""What LangGraph is known for, each in a few lines: `features.py WORLD STATE NAME [TEXT]`."""

import operator
import sys
import time
from typing import Annotated, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from shop import MODEL, STATE, log, say

model, config = ChatOpenAI(model=MODEL), {"configurable": {"thread_id": "1"}}


class Visits(TypedDict):
    """A value, and the nodes that ran."""

    value: str
    visits: Annotated[list, operator.add]


def first(state: Visits):
    """Run the first step."""
    log(event="start", tool="first")
    return {"visits": ["first"]}


def second(state: Visits):
    """Run the second step; the suite kills the first process here."""
    if state["value"] == "hold" and not (STATE / "held").exists():
        (STATE / "held").touch()
        log(event="held", tool="second")
        time.sleep(60)
    return {"visits": [f"second {state['value']}"]}


def two_steps():
    """Return a graph with two nodes."""
    return StateGraph(Visits).add_node(first).add_node(second).add_edge(START, "first").add_edge("first", "second")


def memory(text):
    """Answer in a thread that SQLite keeps."""
    chat = StateGraph(MessagesState).add_node("chat", lambda state: {"messages": model.invoke(state["messages"])})
    with SqliteSaver.from_conn_string(str(STATE / "memory.db")) as saver:
        say(
            chat.add_edge(START, "chat")
            .compile(saver)
            .invoke({"messages": [("user", text)]}, config)["messages"][-1]
            .content
        )


def handoff(text):
    """Let the triage agent pass the conversation on."""

    def triage(state: MessagesState):
        reply = model.bind_tools([transfer_to_deployer]).invoke([("system", "Role: triage"), *state["messages"]])
        return Command(goto="deployer" if reply.tool_calls else "__end__")  # ours: handoff

    def transfer_to_deployer():  # ours: handoff
        """Hand the conversation over."""

    def deployer(state: MessagesState):
        return {"messages": model.invoke([("system", "Role: deployer"), *state["messages"]])}

    graph = StateGraph(MessagesState).add_node(triage).add_node(deployer).add_edge(START, "triage")
    say(graph.compile().invoke({"messages": [("user", text)]})["messages"][-1].content)


def time_travel(text):
    """Go back to the checkpoint before the second node, change the value, and run on."""
    with SqliteSaver.from_conn_string(str(STATE / "travel.db")) as saver:
        app = two_steps().compile(saver)
        app.invoke({"value": "one", "visits": []}, config)
        before = next(one for one in app.get_state_history(config) if one.next == ("second",))
        fork = app.update_state(before.config, {"value": "two"})
        say("LAST", " | ".join(app.invoke(None, fork)["visits"]))


def wiring(text):
    """Connect a node that does not exist."""
    two_steps().add_edge("second", "third").compile().invoke({"value": "one", "visits": []})


def postgres(url):
    """Keep the checkpoints in Postgres."""
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        app = two_steps().compile(saver)
        start = None if app.get_state(config).values else {"value": "hold", "visits": []}
        say("LAST", " | ".join(app.invoke(start, config, durability="sync")["visits"]))


def tokens(text):
    """Print the answer while the model writes it."""
    chat = StateGraph(MessagesState).add_node("chat", lambda state: {"messages": model.invoke(state["messages"])})
    for piece, _ in (
        chat.add_edge(START, "chat").compile().stream({"messages": [("user", text)]}, stream_mode="messages")
    ):
        say("PIECE", piece.content)


globals()[sys.argv[3]](" ".join(sys.argv[4:]))
