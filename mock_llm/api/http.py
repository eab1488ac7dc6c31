"""The parts that the HTTP responses of all endpoints share: errors, models, headers and streams.

Responses depend only on the request's content: no random ids, no clock. Every field that OpenAI's published schema
requires is present, even if it is null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from mock_llm.types import SCRIPT_ERROR, ApiError, HttpResponse

CREATED = 1_767_225_600  # the first second of 2026, in every answer
MODELS = ("mock-llm",)
DELTA = re.compile(r"\s*\S{1,12}|\s+")
EVENT_STREAM = "text/event-stream; charset=utf-8"


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
    if error.type == SCRIPT_ERROR:
        # A retry would fail again, even if the status suggests one.
        response.headers["x-should-retry"] = "false"
    return response


def json_response(status: int, body: dict[str, Any], request_id: str, seconds: float = 0.0) -> HttpResponse:
    """Return a JSON response with the headers that clients read."""
    return HttpResponse(status, _headers("application/json", request_id, seconds), (json.dumps(body).encode(),))


def event_stream(events: Iterable[bytes], request_id: str, seconds: float = 0.0) -> HttpResponse:
    """Return a response that is a stream of server-sent events."""
    return HttpResponse(200, _headers(EVENT_STREAM, request_id, seconds), tuple(events))


def server_sent_event(data: Any, name: str | None = None) -> bytes:
    """Return a server-sent event; without a name if the endpoint uses none."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" * (name is not None) + f"data: {text}\n\n").encode()


def text_deltas(text: str) -> list[str]:
    """Split a text into the pieces that a stream sends."""
    return DELTA.findall(text)


def _headers(content_type: str, request_id: str, seconds: float) -> dict[str, str]:
    return {
        "content-type": content_type,
        "x-request-id": request_id,
        "openai-processing-ms": str(round(seconds * 1000)),
        "openai-version": "2020-10-01",
    }
