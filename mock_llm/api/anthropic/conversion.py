"""Converts a request to the Messages API into the same request for a chat completion, the form that scenes are matched
against.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_llm.types import Request

from .turns import Block, blocks_of

CHOICES = {"any": "required", "auto": "auto", "none": "none"}


def read(body: Mapping[str, Any]) -> Request:
    """Convert a validated request into the engine's form."""
    chat: dict[str, Any] = {
        "model": body["model"],
        "messages": list(_messages(body)),
        "stream": bool(body.get("stream")),
    }
    if body.get("max_tokens"):
        chat["max_tokens"] = body["max_tokens"]
    if body.get("stop_sequences"):
        chat["stop"] = body["stop_sequences"]
    if body.get("tools"):
        chat["tools"] = [{"type": "function", "function": _function(tool)} for tool in body["tools"]]
    if choice := body.get("tool_choice"):
        named = {"type": "function", "function": {"name": choice.get("name")}}
        chat["tool_choice"] = CHOICES.get(choice["type"], named)
        if choice.get("disable_parallel_tool_use"):
            chat["parallel_tool_calls"] = False
    if shape := (body.get("output_config") or {}).get("format"):
        chat["response_format"] = {"type": "json_schema", "json_schema": {"name": "output", "schema": shape["schema"]}}
    return Request(chat, sent=body)


def _messages(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if body.get("system"):
        yield {"role": "system", "content": "\n".join(block["text"] for block in blocks_of(body["system"]))}
    for message in body["messages"]:
        blocks = blocks_of(message["content"])
        if message["role"] == "assistant":
            yield _spoken(blocks)
            continue
        for block in blocks:
            if block["type"] == "tool_result":
                content = _content(blocks_of(block.get("content") or []))
                yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": content}
        rest = [block for block in blocks if block["type"] != "tool_result"]
        if rest:
            yield {"role": message["role"], "content": _content(rest)}


def _spoken(blocks: Sequence[Block]) -> dict[str, Any]:
    calls = [
        {
            "id": use["id"],
            "type": "function",
            "function": {"name": use["name"], "arguments": json.dumps(use["input"], ensure_ascii=False)},
        }
        for use in blocks
        if use["type"] == "tool_use"
    ]
    words = "".join(block["text"] for block in blocks if block["type"] == "text")
    return {"role": "assistant", "content": words or None} | ({"tool_calls": calls} if calls else {})


def _content(blocks: Sequence[Block]) -> str | list[dict[str, Any]]:
    """Return the text of blocks, or their texts and images if there are images."""
    if all(block["type"] == "text" for block in blocks):
        return "".join(block["text"] for block in blocks)
    return [
        {"type": "text", "text": block["text"]}
        if block["type"] == "text"
        else {"type": "image_url", "image_url": {"url": _url(block["source"])}}
        for block in blocks
    ]


def _url(source: Mapping[str, str]) -> str:
    if source["type"] == "base64":
        return f"data:{source['media_type']};base64,{source['data']}"
    return source["url"] if "url" in source else source["file_id"]


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool.get("description") or "", "parameters": tool["input_schema"]}
