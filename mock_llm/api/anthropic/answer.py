"""The HTTP form of a message: the plain answer, and the same answer as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mock_llm.api.http import EVENT_STREAM, server_sent_event, text_deltas
from mock_llm.types import Answer, Choice, HttpResponse, Request, ToolCall

from .errors import headers
from .models import shows_thinking
from .turns import signature

Block = dict[str, Any]
REASONS = {"length": "max_tokens", "content_filter": "refusal"}


def http_response(request: Request, answer: Answer, request_id: str) -> HttpResponse:
    """Return an answer as an HTTP response. The header `server-timing` reports its latency; no time passes."""
    if request.stream:
        chunks = tuple(events(request, answer))
        return HttpResponse(200, headers(EVENT_STREAM, request_id, answer.latency), chunks, whole=len(chunks))
    body = json.dumps(message(request, answer)).encode()
    return HttpResponse(200, headers("application/json", request_id, answer.latency), (body,))


def message(request: Request, answer: Answer) -> dict[str, Any]:
    """Return the body of a message."""
    choice = answer.choices[0]
    content = [block for block, _ in _blocks(request, choice)]
    return _begun(request, answer) | {"content": content, "usage": _usage(answer), **_end(request, choice)}


def events(request: Request, answer: Answer) -> Iterator[bytes]:
    """Yield the events of a streamed message: each block is opened, filled and closed before the next one."""
    for number, event in enumerate(_events(request, answer)):
        yield server_sent_event(event, event["type"])
        if number == 1:  # the first ping follows the start of the first block
            yield server_sent_event({"type": "ping"}, "ping")


def _events(request: Request, answer: Answer) -> Iterator[dict[str, Any]]:
    choice = answer.choices[0]
    yield {"type": "message_start", "message": _begun(request, answer)}
    for index, (block, written) in enumerate(_blocks(request, choice)):
        empty, deltas = _opened(block, written)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    usage = {name: count for name, count in _usage(answer).items() if "_tokens" in name}
    yield {"type": "message_delta", "delta": _end(request, choice), "usage": usage}
    yield {"type": "message_stop"}


def _opened(block: Block, written: str) -> tuple[Block, list[Block]]:
    """Return a block before it is filled, and the deltas that fill it with what was written."""
    pieces = text_deltas(written)
    if block["type"] == "tool_use":
        return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces]]
    if block["type"] == "text":
        return block | {"text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]
    thoughts: list[Block] = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    return block | {"thinking": "", "signature": ""}, [
        *thoughts,
        {"type": "signature_delta", "signature": block["signature"]},
    ]


def _begun(request: Request, answer: Answer) -> dict[str, Any]:
    """Return the message before the model has written anything."""
    return {
        "id": f"msg_{request.unique_id}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": _usage(answer) | {"output_tokens": 1},
    }


def _blocks(request: Request, choice: Choice) -> list[tuple[Block, str]]:
    """Return the blocks of an answer, each with the text that the model wrote for it."""
    if request.sent.get("max_tokens") == 0:  # fills the prompt cache and writes nothing
        return []
    blocks: list[tuple[Block, str]] = []
    if choice.reasoning is not None and (shown := shows_thinking(request.sent)) is not None:
        thought = choice.reasoning if shown else ""
        blocks.append(({"type": "thinking", "thinking": thought, "signature": signature(thought)}, thought))
    if choice.text:
        blocks.append(({"type": "text", "text": choice.text}, choice.text))
    return blocks + [(_use(call), call.arguments) for call in choice.calls]


def _use(call: ToolCall) -> Block:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = None  # broken on purpose, or cut off
    name = f"toolu_{call.id.removeprefix('call_')}"
    given = arguments if isinstance(arguments, dict) else {}
    return {"type": "tool_use", "id": name, "name": call.name, "input": given, "caller": {"type": "direct"}}


def _end(request: Request, choice: Choice) -> dict[str, Any]:
    reason = REASONS.get(choice.finish_reason, "tool_use" if choice.calls else "end_turn")
    if choice.refusal is not None:
        reason = "refusal"
    elif choice.stopped_by is not None and reason == "end_turn":
        reason = "stop_sequence"
    elif request.sent.get("max_tokens") == 0:
        reason = "max_tokens"
    details = {"type": "refusal", "category": None, "explanation": choice.refusal} if reason == "refusal" else None
    stop = choice.stopped_by if reason == "stop_sequence" else None
    return {"stop_reason": reason, "stop_sequence": stop, "stop_details": details}


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.input_tokens - answer.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.cached_tokens,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"thinking_tokens": answer.reasoning_tokens},
        "service_tier": "standard",
        "inference_geo": "not_available",
    }
