"""A real run of LangGraph at the endpoint that is named; prints the spans that LangSmith makes of it, as protobuf's JSON."""

import json
import os
import sys
import time

os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true"}
os.environ |= {"LANGSMITH_API_KEY": "none", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9"}

from google.protobuf.json_format import MessageToDict
from langchain_core.tools import tool  # type: ignore
from langchain_core.tracers.langchain import wait_for_all_tracers  # type: ignore
from langchain_openai import ChatOpenAI  # type: ignore
from langgraph.graph import START, MessagesState, StateGraph  # type: ignore
from langgraph.prebuilt import ToolNode, tools_condition  # type: ignore
from langsmith.run_trees import get_cached_client  # type: ignore
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)


@tool  # type: ignore
def order_status(order: str) -> str:
    """Tell what became of an order."""
    time.sleep(0.2)
    if order == "A-9034":
        raise ValueError("no such order")
    return f"{order}: paid, not packed"


model = ChatOpenAI(model="gpt-4o-mini", base_url=sys.argv[1], api_key="none").bind_tools([order_status])
graph = StateGraph(MessagesState)
graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([order_status], handle_tool_errors=True))
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition)
graph.add_edge("tools", "agent")
graph.compile().invoke({"messages": [("user", "Where are the orders A-1034 and A-9034?")]})
wait_for_all_tracers()
get_cached_client().flush()
print(json.dumps(MessageToDict(encode_spans(kept.get_finished_spans()))))
