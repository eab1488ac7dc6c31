"""The HTTP form of chat completions: the plain answer, and the same answer as a stream of chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mock_llm.api.http import (
    CREATED,
    error_body,
    event_stream,
    json_response,
    padding,
    server_sent_event,
    text_deltas,
)
from mock_llm.types import Answer, ApiError, Choice, HttpResponse, Request, ToolCall

FINGERPRINT = "fp_mock_llm"


def http_response(request: Request, answer: Answer, request_id: str) -> HttpResponse:
    """Return an answer as an HTTP response. The header `openai-processing-ms` reports its latency; no time passes."""
    if request.stream:
        return event_stream(chunks(request, answer), request_id, answer.latency)
    return json_response(200, completion(request, answer), request_id, answer.latency)


def completion(request: Request, answer: Answer) -> dict[str, Any]:
    """Return the body of a chat completion."""
    choices = [
        {"index": n, "message": _message(choice), "logprobs": None, "finish_reason": choice.finish_reason}
        for n, choice in enumerate(answer.choices)
    ]
    return _frame(request, "chat.completion") | {"choices": choices, "usage": _usage(answer)}


def chunks(request: Request, answer: Answer) -> Iterator[bytes]:
    """Yield the events of a streamed chat completion.

    Each choice starts with its role. The text and the arguments follow piece by piece, and then an empty delta with the
    finish reason. At the end come the usage, if the client asked for it, and [DONE]. Each chunk is padded by its
    `obfuscation`, unless the client declined that.
    """
    obfuscated = (request.body.get("stream_options") or {}).get("include_obfuscation") is not False
    for number, chunk in enumerate(_chunks(request, answer)):
        text = json.dumps(chunk, separators=(",", ":"))
        if obfuscated:
            text = f'{text[:-1]},"obfuscation":"{padding(len(text), number, request.unique_id)}"}}'
        yield server_sent_event(text)
    yield server_sent_event("[DONE]")


def error_events(request: Request, error: ApiError, after: int) -> tuple[bytes, ...]:
    """Return the stream events of an error that follows `after` other events."""
    return (server_sent_event(error_body(error)),)


def _chunks(request: Request, answer: Answer) -> Iterator[dict[str, Any]]:
    frame = _frame(request, "chat.completion.chunk")
    include_usage = bool((request.body.get("stream_options") or {}).get("include_usage"))
    usage: dict[str, Any] = {"usage": None} if include_usage else {}
    for index, choice in enumerate(answer.choices):
        for delta in _deltas(choice):
            part = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}
            yield frame | {"choices": [part]} | usage
        part = {"index": index, "delta": {}, "logprobs": None, "finish_reason": choice.finish_reason}
        yield frame | {"choices": [part]} | usage
    if include_usage:
        yield frame | {"choices": [], "usage": _usage(answer)}


def _deltas(choice: Choice) -> Iterator[dict[str, Any]]:
    opened = [{"tool_calls": [{"index": index} | _call(call, "")]} for index, call in enumerate(choice.calls)]
    first: dict[str, Any] = {"role": "assistant", "content": None if choice.text is None else ""}
    # Recordings show the role together with the call if the message is a single call, and alone if it has several.
    alone = len(choice.calls) == 1 and choice.text is None and choice.refusal is None
    if alone:
        first |= opened[0]
    yield first | ({} if len(choice.calls) > 1 and choice.text is None else {"refusal": None})
    for piece in text_deltas(choice.text or ""):
        yield {"content": piece}
    for piece in text_deltas(choice.refusal or ""):
        yield {"refusal": piece}
    for index, call in enumerate(choice.calls):
        if not alone:
            yield opened[index]
        kind, name = ("custom", "input") if call.custom else ("function", "arguments")
        for piece in text_deltas(call.arguments):
            yield {"tool_calls": [{"index": index, kind: {name: piece}}]}


def _message(choice: Choice) -> dict[str, Any]:
    words = {"content": choice.text, "refusal": choice.refusal}
    message: dict[str, Any] = {"role": "assistant", **words, "annotations": []}
    calls = [_call(call, call.arguments) for call in choice.calls]
    return message | ({"tool_calls": calls} if calls else {})


def _call(call: ToolCall, arguments: str) -> dict[str, Any]:
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": arguments}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _frame(request: Request, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{request.unique_id}",
        "object": kind,
        "created": CREATED,
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    }


def _usage(answer: Answer) -> dict[str, Any]:
    written = {"reasoning_tokens": answer.reasoning_tokens, "audio_tokens": 0}
    predicted = {"accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": written | predicted,
    }
