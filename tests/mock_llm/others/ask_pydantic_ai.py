"""Run by an environment of its own: pydantic-ai, which validates whole bodies again, against a base URL.

python ask_pydantic_ai.py http://127.0.0.1:1234/v1
"""

import asyncio
import sys
from importlib.metadata import version

import pydantic
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider


class Plan(pydantic.BaseModel):
    steps: list[str]


async def ask(model):
    agent = Agent(model)
    assert (await agent.run("hello")).output == "hello you"
    async with agent.run_stream("hello") as stream:
        assert [text async for text in stream.stream_text()][-1] == "hello you"

    clerk = Agent(model)

    @clerk.tool_plain
    def weather(city: str) -> str:
        return f"-3 degrees in {city}"

    assert (await clerk.run("weather in Oslo")).output == "It has -3 degrees."
    async with clerk.run_stream("weather in Oslo") as stream:
        assert await stream.get_output() == "It has -3 degrees."

    planner = Agent(model, output_type=NativeOutput(Plan))
    assert (await planner.run("plan")).output == Plan(steps=["a", "b"])


provider = OpenAIProvider(base_url=sys.argv[1], api_key="none")
asyncio.run(ask(OpenAIChatModel("gpt-4o", provider=provider)))
asyncio.run(ask(OpenAIResponsesModel("gpt-4o", provider=provider)))
print(version("pydantic-ai-slim"))
