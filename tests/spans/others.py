"""A real run of an agent at the endpoint that is named, ``others.py FRAMEWORK URL``; prints the trace that the framework makes."""

# mypy: ignore-errors
import asyncio
import json
import os
import sys
import time
from typing import Any

FRAMEWORK, URL = sys.argv[1:]
MODEL, QUESTION = "gpt-4o-mini", "Where are the orders A-1034 and A-9034?"
LANGSMITH = {
    "TRACING": "true",
    "OTEL_ENABLED": "true",
    "OTEL_ONLY": "true",
    "API_KEY": "none",
    "ENDPOINT": "http://127.0.0.1:9",
}


def order_status(order: str) -> str:
    """Tell what became of an order.

    Args:
        order: its number
    """
    time.sleep(0.2)
    if order == "A-9034":
        raise ValueError("no such order")
    return f"{order}: paid, not packed"


def traced() -> tuple[Any, Any]:
    """OpenTelemetry's provider, which is made the global one, and what it keeps."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    return provider, kept


def openai_agents() -> None:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_trace_processors
    from agents.tracing import TracingProcessor
    from openai import AsyncOpenAI

    items: list[Any] = []

    class Kept(TracingProcessor):
        def on_trace_start(self, trace: Any) -> None:
            items.append(trace.export())

        def on_span_end(self, span: Any) -> None:
            items.append(span.export())

        def _nothing(self, *_: Any) -> None:
            pass

        on_trace_end = on_span_start = shutdown = force_flush = _nothing

    set_trace_processors([Kept()])
    model = OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(base_url=URL, api_key="none"))
    agent = Agent(name="support desk", instructions="Help.", tools=[function_tool(order_status)], model=model)
    asyncio.run(Runner.run(agent, QUESTION))
    print(json.dumps(items))


def langgraph() -> None:
    os.environ |= {f"LANGSMITH_{name}": value for name, value in LANGSMITH.items()}
    from google.protobuf.json_format import MessageToDict
    from langchain_core.tools import tool
    from langchain_core.tracers.langchain import wait_for_all_tracers
    from langchain_openai import ChatOpenAI
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition
    from langsmith.run_trees import get_cached_client
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    _, kept = traced()
    tools = [tool(order_status)]
    model = ChatOpenAI(model=MODEL, base_url=URL, api_key="none").bind_tools(tools)
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    graph.compile().invoke({"messages": [("user", QUESTION)]})
    wait_for_all_tracers()
    get_cached_client().flush()
    print(json.dumps(MessageToDict(encode_spans(kept.get_finished_spans()))))


def pydantic_ai(_: Any) -> None:
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.models.instrumented import InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def tool(order: str) -> str:
        try:
            return order_status(order)
        except ValueError as error:  # its other errors end the run
            raise ModelRetry(str(error)) from error

    tool.__name__, tool.__doc__ = order_status.__name__, order_status.__doc__
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=URL, api_key="none"))
    Agent.instrument_all(InstrumentationSettings())
    Agent(model, tools=[tool], retries=3).run_sync(QUESTION)


def llamaindex(provider: Any) -> None:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    llm = OpenAILike(model=MODEL, api_base=URL, api_key="none", is_chat_model=True, is_function_calling_model=True)

    async def work() -> None:
        agent = FunctionAgent(tools=[FunctionTool.from_defaults(order_status)], llm=llm, streaming=False)
        await agent.run(QUESTION)

    asyncio.run(work())


def smolagents(provider: Any) -> None:
    from openinference.instrumentation.smolagents import SmolagentsInstrumentor
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool

    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIServerModel(model_id=MODEL, api_base=URL, api_key="none")
    ToolCallingAgent(tools=[tool(order_status)], model=model, max_steps=4, verbosity_level=-1).run(QUESTION)


def crewai(provider: Any) -> None:
    os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "false", "HOME": os.getcwd()}
    from crewai import LLM, Agent, Crew, Task
    from crewai.tools import tool
    from openinference.instrumentation.crewai import CrewAIInstrumentor
    from openinference.instrumentation.openai import OpenAIInstrumentor

    CrewAIInstrumentor().instrument(tracer_provider=provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    llm = LLM(model=MODEL, provider="openai", base_url=URL, api_key="none")
    agent = Agent(role="support desk", goal="Help.", backstory="", tools=[tool(order_status)], llm=llm)
    task = Task(description=QUESTION, expected_output="a sentence", agent=agent)
    Crew(agents=[agent], tasks=[task]).kickoff()


def strands(_: Any) -> None:
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(client_args={"base_url": URL, "api_key": "none"}, model_id=MODEL)
    Agent(model=model, tools=[tool(order_status)], callback_handler=None)(QUESTION)


if FRAMEWORK in ("openai-agents", "langgraph"):
    globals()[FRAMEWORK.replace("-", "_")]()
else:
    tracer, finished = traced()
    globals()[FRAMEWORK.replace("-", "_")](tracer)
    print(json.dumps([json.loads(span.to_json()) for span in finished.get_finished_spans()]))
