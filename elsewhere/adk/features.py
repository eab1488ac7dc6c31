"""What Google's ADK is known for, each in a few lines: `features.py WORLD STATE NAME [TEXT]`."""

import asyncio
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.apps import App, ResumabilityConfig
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.workflow import START, FunctionNode, Workflow
from google.genai import types
from shop import KEY, MODEL, STATE, URL, log, say

model, who = LiteLlm(f"openai/{MODEL}", api_base=URL, api_key=KEY), {"user_id": "ann", "session_id": "1"}


def content(text):
    """Return a message of the user."""
    return types.Content(role="user", parts=[types.Part(text=text)])


async def answer(runner, text, **options):
    """Run one turn; return its events and the last text."""
    events = [event async for event in runner.run_async(new_message=content(text), **who, **options)]
    texts = [part.text for event in events if event.content for part in event.content.parts or [] if part.text]
    return events, texts[-1] if texts else ""


def runner_of(agent, sessions):
    """Return a runner that makes its session."""
    return Runner(app=App(name="features", root_agent=agent), session_service=sessions, auto_create_session=True)


async def memory(text):
    """Answer in a session that SQLite keeps."""
    runner = runner_of(LlmAgent(name="assistant", model=model), SqliteSessionService(str(STATE / "memory.db")))
    say((await answer(runner, text))[1])


async def handoff(text):
    """Let the triage agent pass the conversation on."""
    deployer = LlmAgent(name="deployer", model=model, instruction="Role: deployer", description="deploys")
    triage = LlmAgent(name="triage", model=model, instruction="Role: triage", sub_agents=[deployer])
    say((await answer(runner_of(triage, SqliteSessionService(str(STATE / "a.db"))), text))[1])


async def time_travel(text):
    """Rewind the session to the time before its second turn."""
    runner = runner_of(LlmAgent(name="assistant", model=model), SqliteSessionService(str(STATE / "travel.db")))
    await answer(runner, "first")
    events, _ = await answer(runner, "second one")
    await runner.rewind_async(rewind_before_invocation_id=events[0].invocation_id, **who)
    say("LAST", (await answer(runner, "second two"))[1])


def two_steps():
    """Return a workflow with two nodes; the suite kills the first process in the second one."""

    async def first() -> str:
        log(event="start", tool="first")
        return "first"

    async def second(node_input: str) -> str:
        if not (STATE / "held").exists():
            (STATE / "held").touch()
            log(event="held", tool="second")
            await asyncio.sleep(60)
        say("LAST", f"{node_input} | second hold")
        return "second"

    one, two = FunctionNode(func=first, name="first"), FunctionNode(func=second, name="second", rerun_on_resume=True)
    return [(START, one), (one, two)], two


async def wiring(text):
    """Build a workflow with a node that nothing leads to."""
    edges, two = two_steps()
    lost = FunctionNode(func=lambda: "lost", name="lost")
    flow = Workflow(name="miswired", edges=[*edges, (lost, two)])
    await answer(InMemoryRunner(app=App(name="features", root_agent=flow)), "go")


async def postgres(url):
    """Keep the session in Postgres."""
    flow = Workflow(name="flow", edges=two_steps()[0])
    app = App(name="features", root_agent=flow, resumability_config=ResumabilityConfig(is_resumable=True))
    sessions = DatabaseSessionService(url.replace("postgresql:", "postgresql+asyncpg:"))
    runner = Runner(app=app, session_service=sessions, auto_create_session=True)
    session = await sessions.get_session(app_name="features", **who)
    if session and session.events:
        async for _ in runner.run_async(invocation_id=session.events[-1].invocation_id, **who):
            pass
    else:
        await answer(runner, "go")


async def tokens(text):
    """Print the answer while the model writes it."""
    runner = runner_of(LlmAgent(name="assistant", model=model), SqliteSessionService(str(STATE / "a.db")))
    events, _ = await answer(runner, text, run_config=RunConfig(streaming_mode=StreamingMode.SSE))
    for event in events:
        if event.partial:
            say("PIECE", event.content.parts[0].text)


asyncio.run(globals()[sys.argv[3]](" ".join(sys.argv[4:])))
