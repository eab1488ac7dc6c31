"""Request validation of the Messages API, in the order of the real one: shape, model, conversation, tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mock_llm.api import refusals
from mock_llm.types import ApiError

from .body import VERSIONS, body_error
from .fields import invalid
from .models import model_errors
from .schemas import structured_error, tool_error
from .turns import conversation_errors


def validate(body: Any, unproven: bool = True, *, headers: Mapping[str, str], counted: bool = False) -> ApiError | None:
    """Return the API's error for a request, or None if it is valid.

    Args:
        body: the request's JSON, of any type.
        unproven: makes no difference, because each rule here has a source.
        headers: the request's headers, in lower case.
        counted: the request is for a count of its tokens.
    """
    version = headers.get("anthropic-version")
    if version is None:
        return invalid("anthropic-version: header is required")
    if version not in VERSIONS:
        return refusals.not_supported(f"anthropic-version: {version}", f"it has {' and '.join(VERSIONS)}.")
    return body_error(body, headers, counted) or next(_errors(body), None)


def _errors(body: Mapping[str, Any]) -> Iterator[ApiError]:
    yield from model_errors(body)
    yield from conversation_errors(body)
    yield from _tool_errors(body)
    shape = (body.get("output_config") or {}).get("format")
    if shape and (error := structured_error(shape["schema"], "output_config.format.schema")):
        yield error
    for stop in body.get("stop_sequences") or ():
        if not stop.strip():
            yield invalid("stop_sequences: each stop sequence must contain non-whitespace")


def _tool_errors(body: Mapping[str, Any]) -> Iterator[ApiError]:
    tools, choice = body.get("tools") or [], body.get("tool_choice")
    names = [tool["name"] for tool in tools]
    for n, tool in enumerate(tools):
        if error := tool_error(tool, f"tools.{n}"):
            yield error
    if len(set(names)) < len(names):
        yield invalid("tools: Tool names must be unique.")
    if choice and not tools:
        yield invalid(f"tool_choice.{choice['type']} may only be specified while providing tools")
    if choice and choice["type"] == "tool" and choice["name"] not in names:
        yield invalid(f"Tool '{choice['name']}' not found in provided tools")
