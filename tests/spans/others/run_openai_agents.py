"""A real run of openai-agents at the endpoint that is named; prints what its trace processors are given."""

import asyncio
import json
import sys
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_trace_processors  # type: ignore
from agents.tracing import TracingProcessor  # type: ignore
from openai import AsyncOpenAI


class Kept(TracingProcessor):  # type: ignore
    """Keeps what was exported."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def on_trace_start(self, trace: Any) -> None:
        self.items.append(trace.export())

    def on_trace_end(self, trace: Any) -> None:
        pass

    def on_span_start(self, span: Any) -> None:
        pass

    def on_span_end(self, span: Any) -> None:
        self.items.append(span.export())

    def shutdown(self) -> None:
        pass

    def force_flush(self) -> None:
        pass


@function_tool  # type: ignore
def weather(city: str) -> str:
    """Tell the weather of a city."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"{city}: 12 degrees"


kept = Kept()
set_trace_processors([kept])
model = OpenAIChatCompletionsModel("gpt-4o-mini", AsyncOpenAI(base_url=sys.argv[1], api_key="none"))
agent = Agent(name="forecaster", instructions="Help.", tools=[weather], model=model)
asyncio.run(Runner.run(agent, "weather in Paris and Atlantis?"))
print(json.dumps(kept.items))
