"""The response object of the Responses API with all its fields, plain or at the end of a stream.

Fields and values are those of public recordings of 2026.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mock_llm.api.http import CREATED
from mock_llm.api.model_profiles import profile_of
from mock_llm.types import SERVICE_ITEMS, Answer, ApiError, Choice, Request, ToolCall

from .conversion import conversation_of

Item = dict[str, Any]
MODEL_WITH_PHASES = re.compile(r"gpt-(5\.[3-9]|[6-9])")
ENCRYPTED = "gAAAAAB"  # the beginning of all encrypted contents
SERVICE_TIERS = {"auto": "default", "fast": "priority"}  # asked for -> given
TOOL_USAGE = {
    "image_gen": {
        "input_tokens": 0,
        "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"image_tokens": 0, "text_tokens": 0},
        "total_tokens": 0,
    },
    "web_search": {"num_requests": 0},
}


def finished(request: Request, answer: Answer) -> dict[str, Any]:
    """Return the complete response."""
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.choices[0].finish_reason)
    usage = {
        "input_tokens": answer.input_tokens,
        "input_tokens_details": {"cached_tokens": answer.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }
    start, output = in_progress(request), items(request, answer.choices[0])
    searches = sum(item["type"] == "web_search_call" for item in output)
    return start | {
        "status": "incomplete" if reason else "completed",
        "billing": {"payer": "developer"},
        "completed_at": None if reason else CREATED,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "service_tier": SERVICE_TIERS.get(start["service_tier"], start["service_tier"]),
        "tool_usage": TOOL_USAGE | {"web_search": {"num_requests": searches}},
        "usage": usage,
    }


def failed(request: Request, error: ApiError) -> dict[str, Any]:
    """Return the response that ends a stream with an error."""
    return in_progress(request) | {
        "status": "failed",
        "error": {"code": error.code or error.type, "message": error.message},
    }


def in_progress(request: Request) -> dict[str, Any]:
    """Return the response before the model has written anything; it repeats the request's settings."""
    sent = request.sent
    text = sent.get("text") or {}
    shape = {"format": _format(text.get("format")), "verbosity": text.get("verbosity") or "medium"}
    given: dict[str, Any] = {
        "frequency_penalty": 0.0,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": None,
        "safety_identifier": None,
        "service_tier": "auto",
        "store": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "top_p": 1.0,
        "truncation": "disabled",
        "user": None,
    }
    repeated = {name: default if sent.get(name) is None else sent[name] for name, default in given.items()}
    if sent.get("conversation") is not None:
        repeated["conversation"] = {"id": conversation_of(sent)}
    return repeated | {
        "id": f"resp_{request.unique_id}",
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "background": False,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "model": request.model,
        "moderation": None,
        "output": [],
        "reasoning": _reasoning_settings(request),
        "text": shape,
        "tool_usage": TOOL_USAGE,
        "tools": [_tool(tool) for tool in sent.get("tools") or ()],
        "top_logprobs": 0,
        "usage": None,
    }


def items(request: Request, choice: Choice) -> list[Item]:
    """Return the answer as output items, in the order of recordings: reasoning, calls of the service's own tools, a
    message if it has text, function calls, and a compaction.
    """
    cut = choice.finish_reason in ("length", "content_filter")
    status = "incomplete" if cut else "completed"
    made: list[Item] = [] if choice.reasoning is None else [reasoning(request, choice.reasoning)]
    service = [service_item(request, n, item) for n, item in enumerate(choice.items)]
    made += [item for item in service if item["type"] != "compaction"]
    silent = choice.calls or service or (cut and choice.reasoning is not None)
    if choice.text or choice.refusal or not silent:
        phase = "commentary" if choice.calls else "final_answer"
        made.append(message(request, [part(choice)], status, phase))
    made += [tool_call(request, n, call, status) for n, call in enumerate(choice.calls)]
    return made + [item for item in service if item["type"] == "compaction"]


def message(request: Request, content: Sequence[Item], status: str, phase: str) -> Item:
    """Return an output item with text. Newer models say whether it is the final answer or a commentary on calls."""
    made = {"id": f"msg_{request.unique_id}", "type": "message", "status": status, "content": list(content)}
    phases: Item = {"phase": phase} if MODEL_WITH_PHASES.match(request.model) else {}
    return {**made, **phases, "role": "assistant"}


def part(choice: Choice) -> Item:
    """Return the content of a message: a text or a refusal."""
    if choice.refusal is not None:
        return {"type": "refusal", "refusal": choice.refusal}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": choice.text or ""}


def reasoning(request: Request, summary: str) -> Item:
    """Return an output item with the model's reasoning: a summary and the encrypted content only if the client asked
    for them.
    """
    made: Item = {"id": f"rs_{request.unique_id}", "type": "reasoning", "content": []}
    if "reasoning.encrypted_content" in (request.sent.get("include") or ()):
        made["encrypted_content"] = encrypted(made["id"])
    wanted = (request.sent.get("reasoning") or {}).get("summary")
    return made | {"summary": [{"type": "summary_text", "text": summary}] if wanted and summary else []}


def tool_call(request: Request, index: int, call: ToolCall, status: str) -> Item:
    """Return an output item that calls a function or a custom tool."""
    if call.custom:
        made = {"id": f"ctc_{request.unique_id}_{index}", "type": "custom_tool_call", "status": status}
        return {**made, "call_id": call.id, "input": call.arguments, "name": call.name}
    made = {"id": f"fc_{request.unique_id}_{index}", "type": "function_call", "status": status}
    return {**made, "arguments": call.arguments, "call_id": call.id, "name": call.name}


def service_item(request: Request, index: int, given: Mapping[str, Any]) -> Item:
    """Return an item of the service itself, with its id; results and sources only if the client asked for them."""
    kind, included = SERVICE_ITEMS[given["type"]], request.sent.get("include") or ()
    made: Item = {"id": f"{kind.prefix}_{request.unique_id}_{index}", "type": given["type"]}
    if kind.status:
        made["status"] = "completed"
    if given["type"] == "compaction":
        made["encrypted_content"] = encrypted(made["id"])
    if kind.output:
        made["call_id"] = f"call_{request.unique_id}_{given['type'][0]}{index}"
    if given["type"] == "computer_call":
        made["pending_safety_checks"] = []
    made |= dict.fromkeys(kind.nulls) | dict(given)
    for field in ("results", "outputs"):
        if field in made and f"{given['type']}.{field}" not in included:
            made[field] = None
    if given["type"] == "web_search_call" and "web_search_call.action.sources" not in included:
        made["action"] = {name: value for name, value in given["action"].items() if name != "sources"}
    return made


def encrypted(name: str) -> str:
    """Return the encrypted content of an item: unreadable for clients, and recognizable by `is_encrypted`."""
    body = hashlib.sha512(name.encode()).digest()
    return ENCRYPTED + base64.urlsafe_b64encode(body + hashlib.sha256(body).digest()).decode()


def is_encrypted(content: str) -> bool:
    """Return whether a text is an unchanged encrypted content of the scripted model."""
    try:
        body = base64.b64decode(content.removeprefix(ENCRYPTED), b"-_", validate=True)
    except (ValueError, binascii.Error):
        return False
    return content.startswith(ENCRYPTED) and body[64:] == hashlib.sha256(body[:64]).digest()


def _reasoning_settings(request: Request) -> Item:
    sent = request.sent.get("reasoning") or {}
    profile = profile_of(request.model)
    defaults: Item = {"context": None, "effort": None, "summary": None}
    if profile is not None and profile.efforts:
        defaults |= {"context": "current_turn", "effort": profile.effort, "mode": "standard"}
    return defaults | {name: value for name, value in sent.items() if value is not None}


def _tool(tool: Mapping[str, Any]) -> Item:
    defaults: Item = {"description": None, "parameters": {}, "strict": True} if tool["type"] == "function" else {}
    return defaults | {name: value for name, value in tool.items() if value is not None}


def _format(shape: Mapping[str, Any] | None) -> Item:
    if shape is None or shape["type"] != "json_schema":
        return {"type": "text" if shape is None else shape["type"]}
    return {"description": None, "strict": False} | dict(shape)
