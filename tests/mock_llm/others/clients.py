"""Small programs of other clients, each run in an environment of its own: python clients.py NAME

The clients find the address in the environment. Each asks for the weather in Oslo, calls the tool, and prints the answer.
"""

import asyncio
import json
import os
import sys
from typing import Any

ADDRESS = os.environ["OPENAI_BASE_URL"]
MODEL = "gpt-4.1"
QUESTION = "weather in Oslo"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": CITY}}


def weather(city: str) -> str:
    """Return the weather of a city.

    Args:
        city: the name of the city
    """
    return f"-3 degrees in {city}"


def loop(post: Any) -> str:
    """Ask over plain HTTP until there is an answer."""
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        message = post({"model": MODEL, "messages": messages, "tools": [TOOL]})["choices"][0]["message"]
        if not message.get("tool_calls"):
            return message["content"]
        messages.append(message)
        for call in message["tool_calls"]:
            result = weather(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def httpx() -> str:
    import httpx

    return loop(lambda body: httpx.post(f"{ADDRESS}/chat/completions", json=body).json())


def aiohttp() -> str:
    import aiohttp

    async def post(body: Any) -> Any:
        async with aiohttp.ClientSession() as session, session.post(f"{ADDRESS}/chat/completions", json=body) as answer:
            return await answer.json()

    return loop(lambda body: asyncio.run(post(body)))


def litellm() -> str:
    from litellm import completion

    return loop(lambda body: completion(**body | {"model": f"openai/{MODEL}"}).model_dump())


def langgraph() -> str:
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    model = ChatOpenAI(model=MODEL, use_responses_api=True)
    return create_react_agent(model, [tool(weather)]).invoke({"messages": [("user", QUESTION)]})["messages"][-1].text


def langchain() -> str:
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model=MODEL).bind_tools([tool(weather)])
    asked: Any = model.invoke([HumanMessage(QUESTION)])
    results = [tool(weather).invoke(call) for call in asked.tool_calls]
    return "".join(str(chunk.content) for chunk in model.stream([HumanMessage(QUESTION), asked, *results]))


def pydantic_ai() -> str:
    from pydantic_ai import Agent

    async def ask(model: str) -> str:
        async with Agent(model, tools=[weather]).run_stream(QUESTION) as stream:
            return await stream.get_output()

    answers = {asyncio.run(ask(f"{wire}:{MODEL}")) for wire in ("openai-chat", "openai-responses")}
    return answers.pop() if len(answers) == 1 else str(answers)


def instructor() -> str:
    import instructor
    import openai
    import pydantic

    class Weather(pydantic.BaseModel):
        city: str

    client = instructor.from_openai(openai.OpenAI(), mode=instructor.Mode.JSON_SCHEMA)
    made = client.create(model=MODEL, response_model=Weather, messages=[{"role": "user", "content": "Which city?"}])
    return f"It has {weather(made.city)[:10]}."


def dspy() -> str:
    import dspy

    dspy.configure(lm=dspy.LM(f"openai/{MODEL}", cache=False))
    return dspy.Predict("question -> answer")(question=QUESTION).answer


def haystack() -> str:
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import create_tool_from_function

    agent = Agent(chat_generator=OpenAIChatGenerator(model=MODEL), tools=[create_tool_from_function(weather)])
    return str(agent.run(messages=[ChatMessage.from_user(QUESTION)])["messages"][-1].text)


def adk() -> str:
    from google.adk.agents import LlmAgent
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import InMemoryRunner

    agent = LlmAgent(name="a", model=LiteLlm(model=f"openai/{MODEL}"), tools=[weather])
    events = asyncio.run(InMemoryRunner(agent=agent, app_name="a").run_debug(QUESTION, quiet=True))
    return events[-1].content.parts[0].text


def agno() -> str:
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat

    return Agent(model=OpenAIChat(id=MODEL, base_url=ADDRESS), tools=[weather], telemetry=False).run(QUESTION).content


def autogen() -> str:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model=MODEL)
    agent = AssistantAgent("a", client, tools=[weather], reflect_on_tool_use=True)
    return asyncio.run(agent.run(task=QUESTION)).messages[-1].content


def semantic_kernel() -> str:
    from semantic_kernel.agents import ChatCompletionAgent
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
    from semantic_kernel.functions import KernelFunctionFromMethod, KernelPlugin, kernel_function

    function = KernelFunctionFromMethod(method=kernel_function(name="weather")(weather), plugin_name="p")
    service = OpenAIChatCompletion(ai_model_id=MODEL)
    agent = ChatCompletionAgent(service=service, name="a", plugins=[KernelPlugin("p", functions=[function])])
    return str(asyncio.run(agent.get_response(QUESTION)))


def crewai() -> str:
    from crewai import LLM, Agent
    from crewai.tools import tool

    model = LLM(model=f"openai/{MODEL}", base_url=ADDRESS)
    agent = Agent(role="clerk", goal="answer", backstory="a clerk", llm=model, tools=[tool("weather")(weather)])
    return agent.kickoff(QUESTION).raw


def claude() -> str:
    """Ask by three clients of Anthropic's API."""
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool
    from litellm import completion
    from pydantic_ai import Agent

    answers = set()
    for name in ("claude-opus-5-5", "claude-haiku-4-5"):
        answers.add(Agent(f"anthropic:{name}", tools=[weather]).run_sync(QUESTION).output)
        answers.add(loop(lambda body, name=name: completion(**body | {"model": f"anthropic/{name}"}).model_dump()))
        model = ChatAnthropic(model=name, max_tokens=500).bind_tools([tool(weather)])
        asked = model.invoke([HumanMessage(QUESTION)])
        results = [tool(weather).invoke(call) for call in asked.tool_calls]
        answers.add(model.invoke([HumanMessage(QUESTION), asked, *results]).content)
    return answers.pop() if len(answers) == 1 else str(answers)


print(globals()[sys.argv[1]]())
