"""OpenAI's wire forms: what an answer and an error look like as HTTP.

Everything follows from the request's content: no random id, no clock. Every field that OpenAI's published
schema requires is there, also those that are null.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .exchange import Answer, ApiError, Request

CREATED = 1_767_225_600  # the first second of 2026, in every answer
FINGERPRINT = "fp_mock_llm"
MODELS = ("mock-llm",)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request, as any transport or server hands it over; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An HTTP response, for any transport or server to send."""

    status: int
    headers: dict[str, str]
    body: bytes


def completion(request: Request, answer: Answer) -> dict[str, Any]:
    """The body of a chat completion."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": answer.text,
        "refusal": answer.refusal,
        "annotations": [],
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}
    return {
        "id": f"chatcmpl-{request.digest()}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": 0,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    }


def error_body(error: ApiError) -> dict[str, Any]:
    """The body of an error: all four fields, null where they say nothing."""
    return {"error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code}}


def model(name: str) -> dict[str, Any]:
    """A model as `/v1/models` describes it."""
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "mock_llm"}


def answered(request: Request, answer: Answer, attempt: int) -> HttpResponse:
    """An answer as HTTP; its latency stands in `openai-processing-ms`, and nobody waited for it."""
    milliseconds = round(answer.latency * 1000)
    return response(200, completion(request, answer), f"req_{request.digest(attempt)}", milliseconds)


def refused(error: ApiError, request_id: str = "req_refused") -> HttpResponse:
    """An error as HTTP. Errors of the script must not be retried: the next attempt would fare no better."""
    made = response(error.status, error_body(error), request_id)
    if error.type == "mock_llm_error":
        made.headers["x-should-retry"] = "false"
    return made


def response(status: int, body: dict[str, Any], request_id: str, milliseconds: int = 0) -> HttpResponse:
    """A JSON response with the headers that clients read."""
    headers = {
        "content-type": "application/json",
        "x-request-id": request_id,
        "openai-processing-ms": str(milliseconds),
        "openai-version": "2020-10-01",
    }
    return HttpResponse(status, headers, json.dumps(body).encode())
