"""Fault injection: the effect of each fault on a response on its way to the client."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from mock_llm.types import RETRY_AFTER_MS, STATUS, ApiError, Fault, HttpResponse

from .http import RATE_LIMITS, error_response

WEB_PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n"
DEFAULT_DELAY = 60.0  # seconds
OVERLOADED = "The server had an error while processing your request. Sorry about that!"
LIMITED = "Rate limit reached for requests. Please try again later."
NO_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
)

ErrorEvents = Callable[[ApiError, int], tuple[bytes, ...]]


def inject_fault(response: HttpResponse, fault: Fault, error_events: ErrorEvents) -> HttpResponse:
    """Return the response after the fault.

    Args:
        response: the complete answer.
        error_events: writes an error as stream events of the endpoint, given the number of events before it.
    """
    if fault.kind in STATUS:
        return _error(response, fault)
    half = response.body[: len(response.body) // 2]
    before = _before(response, fault)
    match fault.kind:
        case "timeout":
            return replace(response, delay=math.inf)
        case "slow_first_token":
            delay = DEFAULT_DELAY if fault.seconds is None else fault.seconds
            headers = response.headers | {"openai-processing-ms": str(round(delay * 1000))}
            return replace(response, delay=delay, headers=headers)
        case "connection_error":
            return replace(response, chunks=(), ending="refused")
        case "html":
            return replace(response, chunks=(WEB_PAGE,), headers=response.headers | {"content-type": "text/html"})
        case "truncated":
            return replace(response, chunks=(half,))
        case "dropped":
            stream = "event-stream" in response.headers["content-type"]
            return replace(response, chunks=before if stream else (half,), ending="dropped")
        case "ended_early":
            return replace(response, chunks=before)
        case "bad_chunk":
            following, *rest = response.chunks[len(before) :]
            broken = following[: len(following) // 2].rstrip() + b"\n\n"
            return replace(response, chunks=(*before, broken, *rest))
    return replace(response, chunks=(*before, *error_events(_api_error(fault), len(before))))  # error_event


def _error(response: HttpResponse, fault: Fault) -> HttpResponse:
    error = _api_error(fault)
    injected = error_response(error, response.headers["x-request-id"])
    injected.headers.update(retry_headers(fault))
    if error.status == 429 and error.type == "requests":
        injected.headers.update(RATE_LIMITS | {"x-ratelimit-remaining-requests": "0"})
    return injected


def retry_headers(fault: Fault) -> dict[str, str]:
    """Return the headers that say when to retry; by default at once, so that no lesson waits."""
    waits = {"retry-after": fault.retry_after, "retry-after-ms": fault.retry_after_ms}
    if fault.retry_after is None and fault.retry_after_ms is None:
        waits["retry-after-ms"] = RETRY_AFTER_MS
    return {name: f"{value:g}" for name, value in waits.items() if value is not None}


def _api_error(fault: Fault) -> ApiError:
    status = fault.status or STATUS.get(fault.kind, 500)
    code = fault.code or (fault.kind if fault.kind == "insufficient_quota" else None)
    if code == "insufficient_quota":
        kind, message = code, NO_QUOTA
    elif status == 429:
        kind, message, code = "requests", LIMITED, code or "rate_limit_exceeded"
    elif status >= 500:
        kind, message = "server_error", OVERLOADED
    else:
        kind, message = "invalid_request_error", f"Refused with {status}."
    hint = f"a scripted fault: {fault.kind if fault.kind == 'error_event' else status}{f', {code}' if code else ''}."
    return ApiError(status, fault.message or message, kind, None, code, hint)


def _before(response: HttpResponse, fault: Fault) -> tuple[bytes, ...]:
    """Return the events before the fault."""
    count = len(response.chunks) // 2 if fault.after is None else fault.after
    # A chat stream ends with [DONE]. The event before it must be missing too, otherwise no content would be lost.
    return response.chunks[: min(count, len(response.chunks) - 2)]
