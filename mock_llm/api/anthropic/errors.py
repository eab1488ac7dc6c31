"""The errors of the Messages API, and the scripted faults in its form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mock_llm.api.fault_injection import inject_fault, retry_headers
from mock_llm.api.http import server_sent_event
from mock_llm.types import STATUS, ApiError, Fault, HttpResponse, Request

OVERLOADED = 529
# The type and the message of an error by its status: "Errors" at platform.claude.com/docs/en/api/errors.
ERRORS: Mapping[int, tuple[str, str]] = {
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "There is an issue with your billing or payment information."),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "Not found"),
    409: ("conflict_error", "The request conflicts with the current state of the resource."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "The request timed out while processing."),
    OVERLOADED: ("overloaded_error", "Overloaded"),
}
LIMITS = {  # of a small account, and the first second of 2026
    f"anthropic-ratelimit-{what}-{name}": value
    for what, most in (("requests", "50"), ("input-tokens", "30000"), ("output-tokens", "8000"))
    for name, value in (("limit", most), ("remaining", most), ("reset", "2026-01-01T00:00:00Z"))
}


def error_body(error: ApiError, request_id: str) -> dict[str, Any]:
    """Return the body of an error."""
    told: dict[str, Any] = {"type": error.type, "message": error.message}
    told |= {"details": {"error_code": error.code}} if error.code else {}
    return {"type": "error", "error": told, "request_id": request_id}


def error_response(error: ApiError, request_id: str = "req_refused") -> HttpResponse:
    """Return the response for an error, with its status. A header tells clients whether to retry."""
    body = json.dumps(error_body(error, request_id)).encode()
    retry = error.type != "mock_llm_error" and (error.status in (408, 409, 429) or error.status >= 500)
    sent = headers("application/json", request_id, 0.0) | {"x-should-retry": "true" if retry else "false"}
    if error.hint:
        sent["x-mock-llm-hint"] = json.dumps(error.hint)[1:-1]  # a header is ASCII on one line
    return HttpResponse(error.status, sent, (body,))


def inject(response: HttpResponse, fault: Fault, request: Request) -> HttpResponse:
    """Return a response after a scripted fault."""
    if fault.kind in STATUS:
        injected = error_response(_scripted(fault), response.headers["request-id"])
        injected.headers.update(retry_headers(fault))
        return injected
    event = server_sent_event(error_body(_scripted(fault), response.headers["request-id"]), "error")
    injected = inject_fault(response, fault, lambda *_: (event,))
    if injected.headers.pop("openai-processing-ms", None):
        injected.headers["server-timing"] = _timing(injected.delay)
    return injected


def headers(content_type: str, request_id: str, seconds: float) -> dict[str, str]:
    """Return the headers that clients read."""
    return {"content-type": content_type, "request-id": request_id, "server-timing": _timing(seconds), **LIMITS}


def _timing(seconds: float) -> str:
    return f"x-originResponse;dur={round(seconds * 1000)}"


def _scripted(fault: Fault) -> ApiError:
    status = fault.status or {"error_event": OVERLOADED}.get(fault.kind, STATUS.get(fault.kind, 500))
    kind, message = ERRORS.get(
        status, ("api_error" if status >= 500 else "invalid_request_error", f"Refused with {status}")
    )
    if fault.kind == "insufficient_quota":
        status, (kind, message) = 402, ERRORS[402]
    return ApiError(status, fault.message or message, fault.code or kind, hint=f"a scripted fault: {fault.kind}.")
