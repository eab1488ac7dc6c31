"""HTTP as values, and what all of OpenAI's endpoints have in common: errors, models, headers.

Everything follows from the request's content: no random id, no clock. Every field that OpenAI's published
schema requires is there, also those that are null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from .exchange import ApiError

CREATED = 1_767_225_600  # the first second of 2026, in every answer
MODELS = ("mock-llm",)
EVENT_STREAM = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request, as any transport or server hands it over; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An HTTP response, for any transport or server to send.

    Args:
        pieces: the body, in the pieces in which a stream sends it.
        ending: "whole"; "dropped": the connection is lost after the pieces; "refused": nothing comes at all.
        late: seconds until the first byte is said to come. Nobody waits, but a client whose own limit is
            shorter sees its timeout.
    """

    status: int
    headers: dict[str, str]
    pieces: tuple[bytes, ...]
    ending: Literal["whole", "dropped", "refused"] = "whole"
    late: float = 0.0

    @property
    def body(self) -> bytes:
        """All pieces together."""
        return b"".join(self.pieces)


def error_body(error: ApiError) -> dict[str, Any]:
    """The body of an error: all four fields, null where they say nothing."""
    return {"error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code}}


def model(name: str) -> dict[str, Any]:
    """A model as `/v1/models` describes it."""
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "mock_llm"}


def refused(error: ApiError, request_id: str = "req_refused") -> HttpResponse:
    """An error as HTTP. Errors of the script must not be retried: the next attempt would fare no better."""
    made = response(error.status, error_body(error), request_id)
    if error.type == "mock_llm_error":
        made.headers["x-should-retry"] = "false"
    return made


def response(status: int, body: dict[str, Any], request_id: str, seconds: float = 0.0) -> HttpResponse:
    """A JSON response with the headers that clients read."""
    return HttpResponse(status, _headers("application/json", request_id, seconds), (json.dumps(body).encode(),))


def stream(events: Iterable[bytes], request_id: str, seconds: float = 0.0) -> HttpResponse:
    """A response that is a stream of server-sent events."""
    return HttpResponse(200, _headers(EVENT_STREAM, request_id, seconds), tuple(events))


def event(data: Any, name: str | None = None) -> bytes:
    """One server-sent event; without a name where the endpoint gives none."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" * (name is not None) + f"data: {text}\n\n").encode()


def _headers(content_type: str, request_id: str, seconds: float) -> dict[str, str]:
    return {
        "content-type": content_type,
        "x-request-id": request_id,
        "openai-processing-ms": str(round(seconds * 1000)),
        "openai-version": "2020-10-01",
    }
