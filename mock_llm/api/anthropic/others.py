"""What Anthropic's API answers without asking a model: the count of a request's tokens, and its models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mock_llm.api.http import MODELS
from mock_llm.engine import input_tokens
from mock_llm.types import ApiError, HttpRequest, HttpResponse

from .conversion import read
from .errors import error_response, headers
from .validation import validate

RELEASED = "2026-01-01T00:00:00Z"


def count_tokens(body: Any, sent: Mapping[str, str]) -> HttpResponse:
    """Return the token count of a request, an estimate like all usage that a script does not state.

    Args:
        body: the request's JSON, or the error of a body that is not JSON.
        sent: the request's headers.
    """
    error = body if isinstance(body, ApiError) else validate(body, headers=sent, counted=True)
    return error_response(error) if error else _json({"input_tokens": input_tokens(read(body))})


def other(request: HttpRequest) -> HttpResponse:
    """Return the models, one model, or the error of an unknown path."""
    path = request.path.rstrip("/")
    if request.method == "GET" and path == "/v1/models":
        data = [_model(name) for name in MODELS]
        return _json({"data": data, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]})
    if request.method == "GET" and path.startswith("/v1/models/"):
        return _json(_model(path.removeprefix("/v1/models/")))
    return error_response(ApiError(404, "Not Found", "not_found_error"))


def _model(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": RELEASED, "lifecycle": "active"}


def _json(body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(200, headers("application/json", "req_counted", 0.0), (json.dumps(body).encode(),))
