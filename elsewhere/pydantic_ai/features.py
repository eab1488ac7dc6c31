"""What pydantic-ai is known for, each in a few lines: `features.py WORLD STATE NAME [TEXT]`."""

import sys
from dataclasses import dataclass

from pydantic_ai import Agent, ModelMessagesTypeAdapter, RunContext
from pydantic_graph import GraphBuilder, StepContext
from shop import MODEL, STATE, log, say

agent = Agent(f"openai-chat:{MODEL}")


def memory(text):
    """Answer with the messages of the last process."""
    file = STATE / "messages.json"  # ours: memory
    history = ModelMessagesTypeAdapter.validate_json(file.read_bytes()) if file.exists() else None  # ours: memory
    result = agent.run_sync(text, message_history=history)
    file.write_bytes(result.all_messages_json())  # ours: memory
    say(result.output)


def handoff(text):
    """Let the triage agent pass the conversation on, by an output function."""
    deployer = Agent(f"openai-chat:{MODEL}", instructions="Role: deployer")

    async def transfer_to_deployer(ctx: RunContext, reason: str) -> str:
        """Hand the conversation over."""
        return (await deployer.run(ctx.prompt)).output  # ours: handoff

    say(
        Agent(f"openai-chat:{MODEL}", instructions="Role: triage", output_type=[transfer_to_deployer, str])
        .run_sync(text)
        .output
    )


def time_travel(text):
    """Cut the history before the second turn."""
    first = agent.run_sync("first")
    agent.run_sync("second one", message_history=first.all_messages())
    say("LAST", agent.run_sync("second two", message_history=first.all_messages()).output)


def wiring(text):
    """Build a graph in which the second step leads nowhere."""

    @dataclass
    class Empty:
        """No state."""

    graph = GraphBuilder(state_type=Empty, output_type=str)

    @graph.step
    async def first(ctx: StepContext[Empty, None, None]) -> str:
        log(event="start", tool="first")
        return "first"

    @graph.step
    async def second(ctx: StepContext[Empty, None, str]) -> str:
        return "second"

    graph.add(graph.edge_from(graph.start_node).to(first), graph.edge_from(first).to(second))
    graph.build()


def tokens(text):
    """Print the answer while the model writes it."""
    for piece in agent.run_stream_sync(text).stream_text(delta=True, debounce_by=None):
        say("PIECE", piece)


globals()[sys.argv[3]](" ".join(sys.argv[4:]))
