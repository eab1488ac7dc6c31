"""What LlamaIndex is known for, each in a few lines: `features.py WORLD STATE NAME [TEXT]`."""

import asyncio
import sys

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from llama_index.core.memory import Memory
from llama_index.llms.openai_like import OpenAILike
from shop import KEY, MODEL, STATE, URL, log, say
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent

model = OpenAILike(model=MODEL, api_base=URL, api_key=KEY, is_chat_model=True, is_function_calling_model=True)


def assistant(name, prompt, **options):
    """Return an agent."""
    return FunctionAgent(name=name, description=name, system_prompt=prompt, llm=model, **options)


async def memory(text):
    """Answer with a memory that SQLite keeps."""
    kept = Memory.from_defaults(session_id="1", async_database_uri=f"sqlite+aiosqlite:///{STATE}/memory.db")
    say(await assistant("assistant", "You help.").run(text, memory=kept))


async def handoff(text):
    """Let the triage agent pass the conversation on."""
    agents = [assistant("triage", "Role: triage", can_handoff_to=["deployer"]), assistant("deployer", "Role: deployer")]
    say(await AgentWorkflow(agents=agents, root_agent="triage").run(text))


class First(Event):
    """The first step has ended."""


class TwoSteps(Workflow):
    """A workflow with two steps."""

    @step
    async def first(self, ctx: Context, ev: StartEvent) -> First:
        """Run the first step."""
        log(event="start", tool="first")
        await ctx.store.set("value", "one")
        return First()

    @step
    async def second(self, ctx: Context, ev: First) -> StopEvent:
        """Run the second step."""
        return StopEvent(result=f"first | second {await ctx.store.get('value')}")


async def time_travel(text):
    """Go back to a snapshot of the context, change the value, and run on."""
    flow = TwoSteps()
    handler, snapshot = flow.run(), None
    async for event in handler.stream_events(expose_internal=True):
        if snapshot is None and type(event).__name__ == "First":
            snapshot = handler.ctx.to_dict()
        elif snapshot is None and "First" in str(getattr(event, "output_event_name", "")):
            snapshot = handler.ctx.to_dict()  # ours: time_travel
    await handler
    ctx = Context.from_dict(flow, snapshot)  # ours: time_travel
    again = flow.run(ctx=ctx)
    await ctx.store.set("value", "two")
    say("LAST", await again)


async def wiring(text):
    """Build a workflow with an event that no step accepts."""

    class Lost(Event):
        """Nothing accepts this event."""

    class Miswired(Workflow):
        @step
        async def first(self, ev: StartEvent) -> Lost | StopEvent:
            log(event="start", tool="first")
            return StopEvent()

    await Miswired().run()


async def tokens(text):
    """Print the answer while the model writes it."""
    handler = assistant("assistant", "You help.").run(text)
    async for event in handler.stream_events():
        if isinstance(event, AgentStream):
            say("PIECE", event.delta)
    await handler


asyncio.run(globals()[sys.argv[3]](" ".join(sys.argv[4:])))
