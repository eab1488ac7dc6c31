"""Clients of Anthropic's API, with tools: pydantic-ai, langchain-anthropic and litellm. usage: ask_anthropic.py ADDRESS"""

from __future__ import annotations

import sys
from typing import Any

import litellm
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

ADDRESS = sys.argv[1].removesuffix("/v1")
QUESTION = "What is the weather in Oslo?"


def weather(city: str) -> str:
    """Return the weather of a city."""
    return f"rain in {city}"


for model in ("claude-opus-5-5", "claude-haiku-4-5"):
    agent = Agent(AnthropicModel(model, provider=AnthropicProvider(base_url=ADDRESS, api_key="none")), tools=[weather])
    print(agent.run_sync(QUESTION).output)

    chat = ChatAnthropic(model=model, base_url=ADDRESS, api_key="none", max_tokens=500).bind_tools([tool(weather)])
    asked = chat.invoke([HumanMessage(QUESTION)])
    results = [tool(weather).invoke(call) for call in asked.tool_calls]
    print(chat.invoke([HumanMessage(QUESTION), asked, *results]).content)

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    offered = [
        {"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": schema}}
    ]
    options: dict[str, Any] = {"model": f"anthropic/{model}", "api_base": ADDRESS, "api_key": "none", "tools": offered}
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    answer = litellm.completion(messages=messages, **options).choices[0].message
    messages.append(answer.model_dump())
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in answer.tool_calls]
    print(litellm.completion(messages=messages, **options).choices[0].message.content)
