"""What the OpenAI Agents SDK is known for, each in a few lines: `features.py WORLD STATE NAME [TEXT]`."""

import asyncio
import sys

from agents import Agent, Runner, SQLiteSession, set_tracing_disabled
from agents.extensions.memory import AdvancedSQLiteSession, SQLAlchemySession
from shop import MODEL, STATE, say

agent = Agent("assistant", model=MODEL)


async def memory(text):
    """Answer in a session that SQLite keeps."""
    session = SQLiteSession("1", STATE / "memory.db")
    say((await Runner.run(agent, text, session=session)).final_output)


async def handoff(text):
    """Let the triage agent pass the conversation on."""
    deployer = Agent("deployer", instructions="Role: deployer", model=MODEL)
    triage = Agent("triage", instructions="Role: triage", model=MODEL, handoffs=[deployer])
    say((await Runner.run(triage, text)).final_output)


async def time_travel(text):
    """Branch the conversation before its second turn."""
    session = AdvancedSQLiteSession(session_id="1", db_path=STATE / "travel.db", create_tables=True)
    for turn in ("first", "second one"):
        result = await Runner.run(agent, turn, session=session)
        await session.store_run_usage(result)
    await session.create_branch_from_turn(2)
    say("LAST", (await Runner.run(agent, "second two", session=session)).final_output)


async def postgres(url):
    """Keep the conversation in Postgres. A run's state is a string that the program saves itself."""
    session = SQLAlchemySession.from_url("1", url=url.replace("postgresql:", "postgresql+asyncpg:"), create_tables=True)
    known = len(await session.get_items())
    say((await Runner.run(agent, "What is my name?" if known else "My name is Ann", session=session)).final_output)


async def tokens(text):
    """Print the answer while the model writes it."""
    async for event in Runner.run_streamed(agent, text).stream_events():
        if getattr(getattr(event, "data", None), "type", "") == "response.output_text.delta":
            say("PIECE", event.data.delta)


set_tracing_disabled(True)
asyncio.run(globals()[sys.argv[3]](" ".join(sys.argv[4:])))
