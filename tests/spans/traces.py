"""Traces as frameworks export them, written small: the shapes were read off real ones (`planexec_lab.spans` has two)."""

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
