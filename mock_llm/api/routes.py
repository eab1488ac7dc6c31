"""The whole mock as a function from an HTTP request to an HTTP response.

The in-process transport and the server only carry bytes to `respond` and back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

from mock_llm.api import refusals
from mock_llm.engine import Call, Counters, answer
from mock_llm.script import Scene
from mock_llm.types import Answer, ApiError, Fault, HttpRequest, HttpResponse, Request

from . import anthropic, chat, http, responses
from .evidence import validate_leniently
from .fault_injection import inject_fault


@dataclass(frozen=True)
class Endpoint:
    """An endpoint for questions to the model.

    Args:
        name: its name in the list of unproven rules.
        validate: returns the real API's error for a body, or None if it is valid; whether unproven rules apply.
        read: converts the body into a request for the engine.
        http_response: converts the engine's answer into an HTTP response with the request's id.
        error_response: writes an error as an HTTP response with the request's id.
        inject: returns a response after a fault.
        stores: whether requests can refer to earlier answers.
        adopt: returns a request to the real service as one to the scripted model, which can't read the service's
            encrypted reasoning.
    """

    name: str
    validate: Callable[..., ApiError | None]
    read: Callable[[Mapping[str, Any]], Request]
    http_response: Callable[[Request, Answer, str], HttpResponse]
    error_response: Callable[[ApiError, str], HttpResponse]
    inject: Callable[[HttpResponse, Fault, Request], HttpResponse]
    stores: bool = False
    adopt: Callable[[Any], Any] = lambda body: body


@dataclass(frozen=True)
class State:
    """The state between calls: the counters, and the responses that later requests refer to."""

    counters: Counters = field(default_factory=Counters)
    responses: responses.ResponseStore = field(default_factory=responses.ResponseStore)


def _injector(
    error_events: Callable[[Request, ApiError, int], tuple[bytes, ...]],
) -> Callable[[HttpResponse, Fault, Request], HttpResponse]:
    return lambda response, fault, request: inject_fault(response, fault, partial(error_events, request))


ENDPOINTS: Mapping[str, Endpoint] = {
    "/v1/chat/completions": Endpoint(
        "chat", chat.validate, Request, chat.http_response, http.error_response, _injector(chat.error_events)
    ),
    "/v1/responses": Endpoint(
        "responses",
        responses.validate,
        responses.read,
        responses.http_response,
        http.error_response,
        _injector(responses.error_events),
        stores=True,
        adopt=responses.without_reasoning,
    ),
}
SERVED = (
    "it serves POST /v1/chat/completions, POST /v1/responses, GET /v1/responses/…, /v1/conversations, GET /v1/models "
    "and POST /v1/messages."
)
# What the real API has at these addresses and below them, and no script can answer.
NOT_SERVED = re.compile(
    r"/v1/(completions|embeddings|moderations|responses/[^/]+|files"
    r"|uploads|batches|images|audio|vector_stores|containers|realtime|videos|evals|fine_tuning|assistants|threads)(/.*)?"
)


def respond(
    scenes: Sequence[Scene], request: HttpRequest, state: State | None = None
) -> tuple[HttpResponse, Call | None]:
    """Answer an HTTP request. The response depends only on the script, the request and the state.

    Args:
        scenes: the script.
        request: the request.
        state: the state after earlier requests; by default a new one. The response depends only on four parts of it:
            the failed attempts of the same request (if the client does not count its retries), the counters that the
            script names, the responses that the request refers to, and, for its ids, the number of identical requests.

    Returns:
        The response, and the call for the log if the request asked the model (the log sets its index).
    """
    state, path = state or State(), request.path.rstrip("/")
    if request.method == "POST" and (asked := endpoint(path, request.headers)):
        return _ask(asked, scenes, request, state)
    return _without_model(request, path, state), None


def _without_model(request: HttpRequest, path: str, state: State) -> HttpResponse:
    """Return what the API answers without asking a model."""
    route = f"{request.method} {path}"
    if route == "POST /v1/messages/count_tokens":
        return _count_message(request)
    if "anthropic-version" in request.headers:
        return anthropic.other(request)
    if route == "GET /v1/models":
        models = [http.model_object(name) for name in http.MODELS]
        return http.json_response(200, {"object": "list", "data": models}, "req_models")
    if route.startswith("GET /v1/models/"):
        return http.json_response(200, http.model_object(path.removeprefix("/v1/models/")), "req_model")
    made: Any = None
    if route == "POST /v1/responses/input_tokens":
        made = _made(request, lambda sent: _token_count(sent, state))
    elif stored := re.fullmatch("GET /v1/responses/([^/]+)", route):
        made = state.responses.retrieve(stored[1])
    elif path.startswith("/v1/conversations"):
        converse = partial(state.responses.conversations.respond, request.method, path, request.query)
        made = _made(request, converse)
    if made is None and NOT_SERVED.fullmatch(path):
        made = refusals.not_supported(route, SERVED, status=404)
    elif made is None:
        made = refusals.bad_request(f"Invalid URL ({request.method} {request.path})", SERVED, status=404)
    name = path.rpartition("/")[2]
    return http.error_response(made) if isinstance(made, ApiError) else http.json_response(200, made, f"req_{name}")


def endpoint(path: str, headers: Mapping[str, str]) -> Endpoint | None:
    """Return the endpoint that answers a question to the model at this path, or None.

    Args:
        path: "/v1/chat/completions", "/v1/responses" or "/v1/messages".
        headers: the request's headers, in lower case; Anthropic's API reads its version there.
    """
    if path != "/v1/messages":
        return ENDPOINTS.get(path)
    return Endpoint(
        "anthropic",
        partial(anthropic.validate, headers=headers),
        anthropic.read,
        anthropic.http_response,
        anthropic.error_response,
        anthropic.inject,
        adopt=anthropic.signed,
    )


def retry_count(request: HttpRequest) -> int | None:
    """Return how many times the client says it has silently retried this call; 0 for the first attempt, None if the
    client does not say.
    """
    count = request.headers.get("x-stainless-retry-count", "")
    return int(count) if count.isascii() and count.isdigit() and len(count) < 6 else None


def _ask(
    endpoint: Endpoint, scenes: Sequence[Scene], http_request: HttpRequest, state: State
) -> tuple[HttpResponse, Call]:
    """Parse and validate the request, answer it, and inject the scripted fault. An error at any stage gives an error
    response.
    """
    retries = retry_count(http_request)
    attempt = retries or 0
    sent: Any = None
    digest = "refused"  # until the request is valid

    def refused(error: ApiError) -> tuple[HttpResponse, Call]:
        sent_object = sent if isinstance(sent, dict) else None
        response = endpoint.error_response(error, f"req_{digest}")
        return response, Call(-1, sent_object, error, attempt, digest)

    # The `try` covers every stage, because a schema that refers to itself can exhaust the stack in any of them.
    try:
        parsed = _parsed(http_request.body)
        if isinstance(parsed, ApiError):
            return refused(parsed)
        sent = parsed
        body = state.responses.resolve(sent) if endpoint.stores else sent
        if isinstance(body, ApiError):
            return refused(body)
        if any(scene.unseen == "accept" for scene in scenes):
            body, invalid = validate_leniently(endpoint.name, body, endpoint.validate)
        else:
            invalid = endpoint.validate(body)
        if invalid is None and endpoint.stores:
            invalid = state.responses.pairing_error(body)
        if invalid is not None:
            return refused(invalid)
        request = endpoint.read(body)
        digest = request.digest()
        if occurrence := state.counters.occurrence(digest):
            request = replace(request, occurrence=occurrence)
        # If a client does not count its retries, the same request after a fault counts as the next attempt.
        attempt = state.counters.attempt(digest) if retries is None else retries
        count = state.counters.numbers_for(digest, attempt)
        outcome = answer(scenes, request, attempt, count)
        call = Call(-1, sent, outcome, attempt, digest, request, count.numbers)
        if isinstance(outcome, ApiError):
            return endpoint.error_response(outcome, f"req_{request.unique_id}"), call
        if outcome.fault:
            state.counters.record_failure(digest, attempt, count.numbers)
        if retries is None:
            state.counters.record_attempt(digest, failed=outcome.fault is not None)
        if endpoint.stores:
            state.responses.save(request, outcome)
        response = endpoint.http_response(request, outcome, f"req_{request.unique_id}")
        if outcome.fault:
            response = endpoint.inject(response, outcome.fault, request)
        return response, call
    except RecursionError:
        return refused(_too_deep())


def _made(request: HttpRequest, make: Callable[[Any], Any]) -> Any:
    """Return what `make` makes of a request's JSON, or the error of a body that can't be read."""
    try:
        sent = _parsed(request.body or b"{}")
        return sent if isinstance(sent, ApiError) else make(sent)
    except RecursionError:
        return _too_deep()


def _token_count(sent: Any, state: State) -> Any:
    body = state.responses.resolve(sent)
    return body if isinstance(body, ApiError) else responses.token_count(body)


def _count_message(request: HttpRequest) -> HttpResponse:
    try:
        sent = _parsed(request.body)
        return anthropic.count_tokens(sent, request.headers)
    except RecursionError:
        return anthropic.error_response(_too_deep())


def _parsed(body: bytes) -> Any:
    """Return the JSON of a body, or the `ApiError` of a body that is not JSON."""

    def no_constant(name: str) -> NoReturn:  # Python reads NaN and Infinity; JSON has neither
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(body.decode(), parse_constant=no_constant)  # JSON is UTF-8
    except ValueError as error:
        message = f"We could not parse the JSON body of your request: {error}."
        return refusals.bad_request(message, "the body must be one JSON object.")


def _too_deep() -> ApiError:
    message = "The JSON body of your request is nested too deeply."
    return refusals.bad_request(message, "does a schema refer to itself without end?")
