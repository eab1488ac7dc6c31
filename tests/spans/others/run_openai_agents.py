"""A real run of openai-agents at the endpoint that is named; prints what its trace processors are given."""

import asyncio
import json
import sys
import time
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
def order_status(order: str) -> str:
    """Tell what became of an order."""
    time.sleep(0.2)
    if order == "A-9034":
        raise ValueError("no such order")
    return f"{order}: paid, not packed"


kept = Kept()
set_trace_processors([kept])
model = OpenAIChatCompletionsModel("gpt-4o-mini", AsyncOpenAI(base_url=sys.argv[1], api_key="none"))
agent = Agent(name="support desk", instructions="Help.", tools=[order_status], model=model)
asyncio.run(Runner.run(agent, "Where are the orders A-1034 and A-9034?"))
print(json.dumps(kept.items))
