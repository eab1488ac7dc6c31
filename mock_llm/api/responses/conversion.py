"""Converts a Responses API request into the same request for a chat completion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_llm.types import Request

RENAMED = ("input", "instructions", "text", "tools", "tool_choice", "max_output_tokens")
CALLS = ("function_call", "custom_tool_call")
CALLABLE = ("function", "custom")


def read(body: Mapping[str, Any]) -> Request:
    """Convert a validated request into the engine's form."""
    chat = {name: value for name, value in body.items() if name not in RENAMED}
    chat["messages"] = list(messages(body))
    if body.get("max_output_tokens") is not None:
        chat["max_completion_tokens"] = body["max_output_tokens"]
    if tools := [_tool(tool) for tool in body.get("tools") or () if tool["type"] in CALLABLE]:
        chat["tools"] = tools
    choice = body.get("tool_choice")
    if choice is not None:
        kind = choice.get("type") or "function" if isinstance(choice, dict) else ""
        chat["tool_choice"] = {"type": kind, kind: {"name": choice["name"]}} if kind else choice
    if shape := (body.get("text") or {}).get("format"):
        chat["response_format"] = _format(shape)
    return Request(chat, sent=body)


def messages(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the messages of the conversation; consecutive tool calls form one message. Reasoning, compactions and the
    service's own tool calls are no messages.
    """
    if body.get("instructions"):
        yield {"role": "system", "content": body["instructions"]}
    given = body["input"]
    items: Sequence[Mapping[str, Any]] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    calling: dict[str, Any] | None = None
    for item in items:
        kind = item.get("type") or "message"
        if kind in CALLS:
            # Consecutive calls become one message, because in a chat each of them is answered before the next message.
            calling = calling or {"role": "assistant", "content": None, "tool_calls": []}
            calling["tool_calls"].append(_call(item))
            continue
        if kind.endswith("call_output") or kind == "message":
            if calling:
                yield calling
                calling = None
            if kind == "message":
                yield {"role": item["role"], "content": _content(item["content"])}
            else:
                yield {"role": "tool", "tool_call_id": item["call_id"], "content": _content(item["output"])}
    if calling:
        yield calling


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    if item["type"] == "custom_tool_call":
        custom = {"name": item["name"], "input": item["input"]}
        return {"id": item["call_id"], "type": "custom", "custom": custom}
    function = {"name": item["name"], "arguments": item["arguments"]}
    return {"id": item["call_id"], "type": "function", "function": function}


def _content(content: str | Sequence[Mapping[str, Any]]) -> str | list[dict[str, Any]]:
    """Return a content's text, or its text and images if it has images."""
    if isinstance(content, str):
        return content
    images = [part for part in content if part["type"] == "input_image"]
    text = _text([part for part in content if part["type"] != "input_image"])
    if not images:
        return text
    urls = [{"url": part.get("image_url") or part["file_id"]} for part in images]
    parts = [{"type": "text", "text": text}] if text else []
    return [*parts, *({"type": "image_url", "image_url": url} for url in urls)]


def _text(content: Sequence[Mapping[str, Any]]) -> str:
    return "".join(part["refusal"] if part["type"] == "refusal" else part["text"] for part in content)


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    kind = tool["type"]
    return {"type": kind, kind: {name: value for name, value in tool.items() if name != "type" and value is not None}}


def _format(shape: Mapping[str, Any]) -> dict[str, Any]:
    if shape["type"] != "json_schema":
        return {"type": shape["type"]}
    return {"type": "json_schema", "json_schema": {name: value for name, value in shape.items() if name != "type"}}
