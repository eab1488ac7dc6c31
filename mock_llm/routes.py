"""From an HTTP request to an HTTP response: the whole mock as one pure function.

Transport and server only carry bytes to `respond` and back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from . import wire
from .calls import Call
from .engine import answer
from .exchange import Answer, ApiError, Request
from .police import police
from .refusals import refuse, unsupported
from .script import Scene
from .wire import HttpRequest, HttpResponse

NOT_YET = ("/v1/responses", "/v1/completions", "/v1/embeddings")


def respond(scenes: Sequence[Scene], request: HttpRequest) -> tuple[HttpResponse, Call | None]:
    """Answer one HTTP request.

    Returns:
        The response, and the call to remember if a completion was asked for (its index is given later).
    """
    route = request.method, request.path.rstrip("/")
    if route == ("POST", "/v1/chat/completions"):
        return _chat(scenes, request)
    if route == ("GET", "/v1/models"):
        return wire.response(
            200, {"object": "list", "data": [wire.model(name) for name in wire.MODELS]}, "req_models"
        ), None
    if request.method == "GET" and route[1].startswith("/v1/models/"):
        return wire.response(200, wire.model(route[1].removeprefix("/v1/models/")), "req_model"), None
    if route[0] == "POST" and route[1] in NOT_YET:
        return wire.refused(unsupported(route[1], "use /v1/chat/completions.", status=404)), None
    error = refuse(f"Invalid URL ({request.method} {request.path})", "it serves /v1/chat/completions and /v1/models.")
    return wire.refused(ApiError(404, error.message)), None


def attempt_of(request: HttpRequest) -> int:
    """How often the client has silently retried this call; 0 is the first try."""
    count = request.headers.get("x-stainless-retry-count", "0")
    return int(count) if count.isascii() and count.isdigit() and len(count) < 6 else 0


def _chat(scenes: Sequence[Scene], http: HttpRequest) -> tuple[HttpResponse, Call]:
    attempt = attempt_of(http)
    body: Any = None
    role, digest = None, "no-json"
    try:
        body = _parse(http.body)
        error = police(body)
        if error is None:
            request = Request(body)
            role, digest = request.role, request.digest()
            outcome: Answer | ApiError = answer(scenes, request, attempt)
            if isinstance(outcome, Answer):
                return wire.answered(request, outcome, attempt), Call(-1, role, body, outcome, attempt, digest)
            error = outcome
    except ValueError as problem:
        error = refuse(
            f"We could not parse the JSON body of your request: {problem}.",
            "the body must be one JSON object.",
        )
    except RecursionError:
        error = refuse(
            "The JSON body of your request is nested too deeply.",
            "does a schema refer to itself without end?",
        )
    asked = body if isinstance(body, dict) else None
    return wire.refused(error, f"req_{digest}"), Call(-1, role, asked, error, attempt, digest)


def _parse(body: bytes) -> Any:
    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    return json.loads(body, parse_constant=no_constant)
