"""Traces as frameworks export them, written small: the shapes were read off real ones (test_others makes those)."""

from collections.abc import Sequence
from typing import Any

BEGIN = 1_795_000_000_000_000_000  # nanoseconds
MILLI = 1_000_000


def otlp(*made: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "theirs"}, "spans": list(made)}]}]}


def span(
    id: str, parent: str | None, name: str, start: float, end: float, error: str | None = None, **attributes: Any
) -> dict[str, Any]:
    """A span from `start` to `end`, in milliseconds; attributes are named with _ for a dot, and operation is short."""
    named = {
        "operation": "gen_ai.operation.name",
        "tool": "gen_ai.tool.name",
        "arguments": "gen_ai.tool.call.arguments",
        "result": "gen_ai.tool.call.result",
        "model": "gen_ai.request.model",
        "read": "gen_ai.usage.input_tokens",
        "written": "gen_ai.usage.output_tokens",
        "asked": "gen_ai.input.messages",
        "prompt": "gen_ai.prompt",
        "completion": "gen_ai.completion",
    }
    kinds = {key: "intValue" if isinstance(value, int) else "stringValue" for key, value in attributes.items()}
    made = {
        "traceId": "ab" * 16,
        "spanId": id,
        "name": name,
        "startTimeUnixNano": str(BEGIN + round(start * MILLI)),
        "endTimeUnixNano": str(BEGIN + round(end * MILLI)),
        "attributes": [{"key": named[key], "value": {kinds[key]: str(value)}} for key, value in attributes.items()],
    }
    made |= {"parentSpanId": parent} if parent else {}
    return made | ({"status": {"code": 2, "message": error}} if error is not None else {})


def chat(id: str, parent: str, start: float, end: float, **more: Any) -> dict[str, Any]:
    return span(id, parent, "chat gpt-4o-mini", start, end, operation="chat", model="gpt-4o-mini", **more)


def called(id: str, parent: str, start: float, end: float, tool: str = "weather", **more: Any) -> dict[str, Any]:
    return span(id, parent, f"execute_tool {tool}", start, end, operation="execute_tool", tool=tool, **more)


def agent(id: str, parent: str | None, start: float, end: float, **more: Any) -> dict[str, Any]:
    return span(id, parent, f"invoke_agent {id}", start, end, operation="invoke_agent", **more)


LANGGRAPH = otlp(
    span("g", None, "LangGraph", 0, 90, operation="chain", prompt='{"messages": [["user", "weather in Paris?"]]}'),
    span("n1", "g", "agent", 5, 40, operation="chain"),
    span("s1", "n1", "RunnableSequence", 6, 39, operation="chain", read=8, written=13),
    chat("c1", "s1", 8, 36, read=8, written=13),
    span("n2", "g", "tools", 45, 60, operation="chain"),
    called("t1", "n2", 47, 58, prompt='{"city": "Paris"}', completion='{"output": {"content": "12 degrees"}}'),
    span("n3", "g", "tools", 45, 62, operation="chain"),
    called(
        "t2",
        "n3",
        48,
        60,
        error="ValueError('no such city')Traceback (most recent call last):\n  File",
        prompt="Atlantis",
    ),
    span("n4", "g", "agent", 65, 89, operation="chain"),
    chat("c2", "n4", 66, 88, read=41, written=6, completion='{"generations": [[{"text": "Paris has 12 degrees."}]]}'),
)


def agents(spans: Sequence[tuple[str, str | None, int, int, dict[str, Any], Any]]) -> list[dict[str, Any]]:
    """A trace of openai-agents: spans by id, parent, milliseconds from and to, what they hold, and the error."""
    listed: list[dict[str, Any]] = [{"object": "trace", "id": "trace_1", "workflow_name": "Agent workflow"}]
    for id, parent, start, end, data, error in spans:
        times = [f"2026-11-25T02:20:05.{at:03}000+00:00" for at in (start, end)]
        about = {"object": "trace.span", "id": id, "trace_id": "trace_1", "parent_id": parent}
        listed.append({**about, "started_at": times[0], "ended_at": times[1], "span_data": data, "error": error})
    return listed


def generation(asked: str, answered: str | None, read: int, written: int) -> dict[str, Any]:
    return {
        "type": "generation",
        "model": "gpt-4o-mini",
        "input": [{"role": "system", "content": "Help."}, {"role": "user", "content": asked}],
        "output": [{"role": "assistant", "content": answered}],
        "usage": {"input_tokens": read, "output_tokens": written},
    }


QUESTION = "weather in Paris and Atlantis?"
FAILED = {"message": "Error running tool (non-fatal)", "data": {"tool_name": "weather", "error": "no such city"}}
OPENAI_AGENTS = agents(
    [
        ("c1", "turn1", 5, 420, generation(QUESTION, None, 9, 13), None),
        (
            "t1",
            "turn1",
            422,
            440,
            {"type": "function", "name": "weather", "input": '{"city": "Paris"}', "output": "12"},
            None,
        ),
        ("t2", "turn1", 430, 441, {"type": "function", "name": "weather", "input": '{"city": "Atlantis"}'}, FAILED),
        ("turn1", "a", 4, 442, {"type": "custom", "name": "turn", "data": {"turn": 1}}, None),
        ("c2", "turn2", 450, 480, generation(QUESTION, "Paris has 12 degrees.", 42, 6), None),
        ("turn2", "a", 449, 481, {"type": "custom", "name": "turn", "data": {"turn": 2}}, None),
        ("a", "task", 3, 482, {"type": "agent", "name": "forecaster", "tools": ["weather"]}, None),
        ("task", None, 2, 483, {"type": "custom", "name": "task", "data": {}}, None),
    ]
)
