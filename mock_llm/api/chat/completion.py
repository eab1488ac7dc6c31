"""The HTTP form of chat completions: the plain answer, and the same answer as a stream of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mock_llm.api.http import CREATED, error_body, event_stream, json_response, server_sent_event, text_deltas
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
    finish reason. At the end come the usage, if the client asked for it, and [DONE]. If the script sets a latency, each
    chunk reports its arrival time in `timings`, like llama.cpp's server. No time passes, but a reader sees how the
    latency is distributed.
    """
    frame = _frame(request, "chat.completion.chunk")
    include_usage = bool((request.body.get("stream_options") or {}).get("include_usage"))
    usage: dict[str, Any] = {"usage": None} if include_usage else {}
    for index, choice in enumerate(answer.choices):
        deltas = list(_deltas(choice))
        for n, delta in enumerate([*deltas, {}]):
            reason = None if n < len(deltas) else choice.finish_reason
            part = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
            yield server_sent_event(frame | {"choices": [part]} | usage | _timings(answer.latency, n, len(deltas)))
    if include_usage:
        yield server_sent_event(frame | {"choices": [], "usage": _usage(answer)})
    yield server_sent_event("[DONE]")


def error_event(error: ApiError, after: int) -> bytes:
    """Return the stream event of an error that follows `after` other events."""
    return server_sent_event(error_body(error))


def _deltas(choice: Choice) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if choice.text is None else "", "refusal": None}
    for piece in text_deltas(choice.text or ""):
        yield {"content": piece}
    for piece in text_deltas(choice.refusal or ""):
        yield {"refusal": piece}
    for index, call in enumerate(choice.calls):
        yield {"tool_calls": [{"index": index} | _call(call, "")]}
        for piece in text_deltas(call.arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _timings(latency: float, n: int, of: int) -> dict[str, Any]:
    """Return the arrival time of chunk `n` of `of`, in milliseconds since the start. The last chunk arrives after
    the whole latency.
    """
    return {"timings": {"predicted_n": n, "predicted_ms": round(1000 * latency * n / of, 3)}} if latency else {}


def _message(choice: Choice) -> dict[str, Any]:
    words = {"content": choice.text, "refusal": choice.refusal}
    message: dict[str, Any] = {"role": "assistant", **words, "annotations": []}
    calls = [_call(call, call.arguments) for call in choice.calls]
    return message | ({"tool_calls": calls} if calls else {})


def _call(call: ToolCall, arguments: str) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _frame(request: Request, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{request.digest()}",
        "object": kind,
        "created": CREATED,
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    }


def _usage(answer: Answer) -> dict[str, Any]:
    written = {"reasoning_tokens": 0, "audio_tokens": 0}
    predicted = {"accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": written | predicted,
    }
