"""The parts that the HTTP responses of all endpoints share: errors, models, headers and streams.

Responses depend only on the request's content and on the number of identical requests before it: no random ids, no
clock. Every field that OpenAI's published schema requires is present, even if it is null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from mock_llm.types import ApiError, HttpResponse

CREATED = 1_767_225_600  # the first second of 2026, in every answer
MODELS = ("mock-llm",)
DELTA = re.compile(r"\s*\S{1,12}|\s+")
EVENT_STREAM = "text/event-stream; charset=utf-8"
OBFUSCATED_LENGTH = 16  # characters; the service hides the length of a token by padding to a multiple of this
RATE_LIMITS = {
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-limit-tokens": "2000000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-remaining-tokens": "1999000",
    "x-ratelimit-reset-requests": "6ms",
    "x-ratelimit-reset-tokens": "30ms",
}


def error_body(error: ApiError) -> dict[str, Any]:
    """Return the body of an error with all four fields; empty fields are null."""
    return {"error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code}}


def model_object(name: str) -> dict[str, Any]:
    """Return a model as `/v1/models` describes it."""
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "mock_llm"}


def error_response(error: ApiError, request_id: str = "req_refused") -> HttpResponse:
    """Return the response for an error, with its status. For a mistake in the script, a header tells clients not to
    retry.
    """
    response = json_response(error.status, error_body(error), request_id)
    if error.hint:
        response.headers["x-mock-llm-hint"] = json.dumps(error.hint)[1:-1]  # a header is ASCII on one line
    if error.type == "mock_llm_error":
        # A retry would fail again, even if the status suggests one.
        response.headers["x-should-retry"] = "false"
    return response


def json_response(status: int, body: dict[str, Any], request_id: str, seconds: float | None = None) -> HttpResponse:
    """Return a JSON response with the headers that clients read.

    Args:
        seconds: the latency of the model's answer; None for a response that the model has no part in.
    """
    return HttpResponse(status, _headers("application/json", request_id, seconds), (json.dumps(body).encode(),))


def event_stream(events: Iterable[bytes], request_id: str, seconds: float) -> HttpResponse:
    """Return the model's answer as a stream of server-sent events."""
    chunks = tuple(events)
    return HttpResponse(200, _headers(EVENT_STREAM, request_id, seconds), chunks, whole=len(chunks))


def server_sent_event(data: Any, name: str | None = None) -> bytes:
    """Return a server-sent event; without a name if the endpoint uses none."""
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    return (f"event: {name}\n" * (name is not None) + f"data: {text}\n\n").encode()


def padding(length: int, number: int, characters: str) -> str:
    """Return the `obfuscation` that pads `length` characters to a multiple of 16, as recordings show it.

    Args:
        number: the number of the event, so that neighbors differ.
        characters: at least 23 characters to take it from.
    """
    start = number % 9
    return characters[start : start + -length % OBFUSCATED_LENGTH]


def text_deltas(text: str) -> list[str]:
    """Split a text into the pieces that a stream sends."""
    return DELTA.findall(text)


def _headers(content_type: str, request_id: str, seconds: float | None) -> dict[str, str]:
    headers = {
        "content-type": content_type,
        "x-request-id": request_id,
        "openai-processing-ms": str(round((seconds or 0) * 1000)),
        "openai-version": "2020-10-01",
    }
    return headers if seconds is None else headers | RATE_LIMITS
