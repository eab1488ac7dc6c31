"""From an HTTP request to an HTTP response: the whole mock as one function.

Transport and server only carry bytes to `respond` and back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from . import chat, responses, wire
from .breaking import broken
from .calls import Call
from .counters import Attempts, Counters
from .engine import answer
from .exchange import Answer, ApiError, Request
from .police import police
from .refusals import refuse, unsupported
from .script import Scene
from .wire import HttpRequest, HttpResponse


@dataclass(frozen=True)
class Endpoint:
    """One way to ask the model.

    Args:
        police: what the real API would refuse of a body.
        read: the body as a request to the engine.
        answered: the engine's answer as HTTP, with the request's id.
        error_event: an error in a stream, after so many events.
        stores: whether requests may refer to earlier answers.
    """

    police: Callable[[Any], ApiError | None]
    read: Callable[[Mapping[str, Any]], Request]
    answered: Callable[[Request, Answer, str], HttpResponse]
    error_event: Callable[[ApiError, int], bytes]
    stores: bool = False


@dataclass(frozen=True)
class State:
    """All that is remembered between calls: named counters, attempts, and responses that later requests refer to."""

    counters: Counters = field(default_factory=Counters)
    attempts: Attempts = field(default_factory=Attempts)
    responses: responses.Memory = field(default_factory=responses.Memory)


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "/v1/chat/completions": Endpoint(police, Request, chat.answered, chat.error_event),
    "/v1/responses": Endpoint(responses.police, responses.read, responses.answered, responses.error_event, True),
}
SERVED = "it serves POST /v1/chat/completions, POST /v1/responses and GET /v1/models."
NOT_SERVED = ("/v1/completions", "/v1/embeddings", "/v1/moderations")


def respond(
    scenes: Sequence[Scene], request: HttpRequest, state: State | None = None
) -> tuple[HttpResponse, Call | None]:
    """Answer one HTTP request. The same request always gets the same response, unless a scene asks for a counter.

    Returns:
        The response, and the call to remember if a completion was asked for (its index is given later).
    """
    route = request.method, request.path.rstrip("/")
    if route[0] == "POST" and route[1] in ENDPOINTS:
        return _ask(ENDPOINTS[route[1]], scenes, request, state or State())
    if route == ("GET", "/v1/models"):
        models = [wire.model(name) for name in wire.MODELS]
        return wire.response(200, {"object": "list", "data": models}, "req_models"), None
    if request.method == "GET" and route[1].startswith("/v1/models/"):
        return wire.response(200, wire.model(route[1].removeprefix("/v1/models/")), "req_model"), None
    if route[0] == "POST" and route[1] in NOT_SERVED:
        return wire.refused(unsupported(route[1], "use /v1/chat/completions or /v1/responses.", status=404)), None
    error = refuse(f"Invalid URL ({request.method} {request.path})", SERVED)
    return wire.refused(ApiError(404, error.message)), None


def attempt_of(request: HttpRequest) -> int | None:
    """How often the client says that it has silently retried this call; 0 is the first try, None: it does not say."""
    count = request.headers.get("x-stainless-retry-count", "")
    return int(count) if count.isascii() and count.isdigit() and len(count) < 6 else None


def _ask(endpoint: Endpoint, scenes: Sequence[Scene], http: HttpRequest, state: State) -> tuple[HttpResponse, Call]:
    told = attempt_of(http)
    attempt = told or 0
    sent: Any = None
    role, digest = None, "no-json"
    try:
        sent = _parse(http.body)
        body = state.responses.recall(sent) if endpoint.stores else sent
        error = body if isinstance(body, ApiError) else endpoint.police(body)
        if error is None:
            request = endpoint.read(body)
            role, digest = request.role, request.digest()
            attempt = state.attempts.number(digest) if told is None else told
            ticket = state.counters.ticket(digest, attempt)
            outcome = answer(scenes, request, attempt, ticket)
            call = Call(-1, role, sent, outcome, attempt, digest, request, ticket.numbers)
            if isinstance(outcome, Answer):
                if told is None:
                    state.attempts.note(digest, failed=outcome.fault is not None)
                if endpoint.stores:
                    state.responses.keep(request, outcome)
                said = endpoint.answered(request, outcome, f"req_{request.digest(attempt)}")
                return broken(said, outcome.fault, endpoint.error_event) if outcome.fault else said, call
            return wire.refused(outcome, f"req_{digest}"), call
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
    asked = sent if isinstance(sent, dict) else None
    return wire.refused(error, f"req_{digest}"), Call(-1, role, asked, error, attempt, digest)


def _parse(body: bytes) -> Any:
    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    return json.loads(body, parse_constant=no_constant)
