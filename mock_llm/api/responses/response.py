"""The response object of the Responses API with all its fields, plain or at the end of a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_llm.api.http import CREATED
from mock_llm.types import Answer, Choice, Request, ToolCall

Item = dict[str, Any]


def finished(request: Request, answer: Answer) -> dict[str, Any]:
    """Return the complete response."""
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.choices[0].finish_reason)
    usage = {
        "input_tokens": answer.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }
    return begun(request) | {
        "status": "incomplete" if reason else "completed",
        "completed_at": None if reason else CREATED,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": items(request, answer.choices[0]),
        "usage": usage,
    }


def begun(request: Request) -> dict[str, Any]:
    """Return the response before the model has written anything; it repeats the request's settings."""
    sent = request.sent
    text, reasoning = sent.get("text") or {}, sent.get("reasoning") or {}
    shape = {"format": _format(text.get("format")), "verbosity": text.get("verbosity") or "medium"}
    given: dict[str, Any] = {
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "safety_identifier": None,
        "prompt_cache_key": None,
        "temperature": 1.0,
        "tool_choice": "auto",
        "top_p": 1.0,
        "truncation": "disabled",
        "user": None,
    }
    repeated = {name: default if sent.get(name) is None else sent[name] for name, default in given.items()}
    return repeated | {
        "id": f"resp_{request.digest()}",
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "completed_at": None,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "max_tool_calls": None,
        "model": request.model,
        "output": [],
        "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")},
        "service_tier": "default",
        "text": shape,
        "tools": [_tool(tool) for tool in sent.get("tools") or ()],
        "top_logprobs": 0,
        "usage": None,
    }


def items(request: Request, choice: Choice) -> list[Item]:
    """Return the answer as output items: a message if it has text, then the function calls."""
    status = "incomplete" if choice.finish_reason in ("length", "content_filter") else "completed"
    spoken = choice.text or choice.refusal or not choice.calls
    messages = [message(request, [part(choice)], status)] if spoken else []
    return messages + [function_call(request, n, call, call.arguments, status) for n, call in enumerate(choice.calls)]


def message(request: Request, content: Sequence[Item], status: str) -> Item:
    """Return an output item with text."""
    mark = {"id": f"msg_{request.digest()}", "type": "message", "role": "assistant"}
    return {**mark, "status": status, "content": list(content)}


def part(choice: Choice) -> Item:
    """Return the content of a message: a text or a refusal."""
    if choice.refusal is not None:
        return {"type": "refusal", "refusal": choice.refusal}
    return {"type": "output_text", "text": choice.text or "", "annotations": [], "logprobs": []}


def function_call(request: Request, index: int, call: ToolCall, arguments: str, status: str) -> Item:
    """Return an output item that calls a function."""
    mark = {"id": f"fc_{request.digest()}_{index}", "type": "function_call", "status": status}
    return {**mark, "call_id": call.id, "name": call.name, "arguments": arguments}


def _tool(tool: Mapping[str, Any]) -> Item:
    defaults: Item = {"description": None, "parameters": {}, "strict": True}
    return defaults | {name: value for name, value in tool.items() if value is not None}


def _format(shape: Mapping[str, Any] | None) -> Item:
    if shape is None or shape["type"] != "json_schema":
        return {"type": "text" if shape is None else shape["type"]}
    return {"description": None, "strict": False} | dict(shape)
