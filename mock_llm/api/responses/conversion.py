"""Converts a Responses API request into the same request for a chat completion."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_llm.types import SERVICE_ITEMS, Request, input_items

RENAMED = ("input", "instructions", "text", "tools", "tool_choice", "max_output_tokens")
CALLABLE = ("function", "custom")
ENCRYPTED = ("reasoning", "compaction")
CLIENT_CALLS = tuple(kind for kind, item in SERVICE_ITEMS.items() if item.output)  # the client runs them


def read(body: Mapping[str, Any]) -> Request:
    """Convert a validated request into the engine's form."""
    chat = {name: value for name, value in body.items() if name not in RENAMED}
    chat["messages"] = list(messages(body))
    if body.get("max_output_tokens") is not None:
        chat["max_completion_tokens"] = body["max_output_tokens"]
    if tools := [_tool(tool) for tool in body.get("tools") or () if tool["type"] in CALLABLE]:
        chat["tools"] = tools
    if (choice := body.get("tool_choice")) is not None:
        chat["tool_choice"] = _choice(choice)
    if shape := (body.get("text") or {}).get("format"):
        chat["response_format"] = _format(shape)
    return Request(chat, sent=body)


def without_reasoning(body: Any) -> Any:
    """Return a request without the items that only their own service can read: reasoning and compactions."""
    if not isinstance(body, dict) or not isinstance(body.get("input"), list):
        return body
    items = [item for item in body["input"] if not isinstance(item, dict) or item.get("type") not in ENCRYPTED]
    return body | {"input": items}


def messages(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the messages of the conversation; consecutive tool calls form one message. Reasoning, compactions and the
    calls that the service itself runs are no messages. A call of the shell counts as a call of the tool "shell".
    """
    if body.get("instructions"):
        yield {"role": "system", "content": body["instructions"]}
    calling: dict[str, Any] | None = None
    for item in input_items(body):
        kind = item.get("type") or "message"
        if made := _call(item, kind):
            # Consecutive calls become one message, because in a chat each of them is answered before the next message.
            calling = calling or {"role": "assistant", "content": None, "tool_calls": []}
            calling["tool_calls"].append(made)
            continue
        if kind.endswith("call_output") or kind == "message":
            if calling:
                yield calling
                calling = None
            if kind == "message":
                yield {"role": item["role"], "content": _content(item["content"])}
            else:
                output = _output(item) if kind.removesuffix("_output") in CLIENT_CALLS else _content(item["output"])
                yield {"role": "tool", "tool_call_id": item[call_id_of(kind)], "content": output}
    if calling:
        yield calling


def conversation_of(body: Mapping[str, Any]) -> str | None:
    """Return the id of the conversation that a request is part of, or None."""
    given = body.get("conversation")
    given = given.get("id") if isinstance(given, dict) else given
    return given if isinstance(given, str) else None


def call_id_of(kind: str) -> str:
    """Return the field of an item that has the id of its call."""
    return "id" if kind == "local_shell_call_output" else "call_id"


def _call(item: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """Return an item as the call of a tool in a chat; None if it is not a call that the client runs."""
    if kind == "custom_tool_call":
        custom = {"name": item["name"], "input": item["input"]}
        return {"id": item["call_id"], "type": "custom", "custom": custom}
    if kind == "function_call":
        name, arguments = item["name"], item["arguments"]
    elif kind in CLIENT_CALLS:
        given = {name: item[name] for name in SERVICE_ITEMS[kind].fields if item.get(name)}
        name, arguments = kind.removesuffix("_call"), json.dumps(given, ensure_ascii=False)
    else:
        return None
    return {"id": item["call_id"], "type": "function", "function": {"name": name, "arguments": arguments}}


def _output(item: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    """Return the output of a call that the client ran: a screenshot as an image, other values as JSON."""
    output = item.get("output") or item.get("status")
    if isinstance(output, dict) and isinstance(url := output.get("image_url") or output.get("file_id"), str):
        return [{"type": "image_url", "image_url": {"url": url}}]
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


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


def _choice(choice: str | Mapping[str, Any]) -> str | dict[str, Any]:
    if isinstance(choice, str):
        return choice
    kind = choice.get("type") or "function"
    if kind not in ("allowed_tools", *CALLABLE):  # a tool of the service, which a scene's items call
        return "auto"
    if kind != "allowed_tools":
        return {"type": kind, kind: {"name": choice["name"]}}
    tools = [_tool(tool) for tool in choice["tools"] if tool["type"] in CALLABLE]
    return {"type": kind, kind: {"mode": choice["mode"], "tools": tools}}


def _format(shape: Mapping[str, Any]) -> dict[str, Any]:
    if shape["type"] != "json_schema":
        return {"type": shape["type"]}
    return {"type": "json_schema", "json_schema": {name: value for name, value in shape.items() if name != "type"}}
