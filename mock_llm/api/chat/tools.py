"""Validation of the response format and the tools of a chat completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_llm.api.tools import FORMATS, json_schema_error, tools_error, without_tools_error
from mock_llm.types import (
    ApiError,
    Request,
    bad_request,
    empty_array,
    invalid_value,
    missing_parameter,
    unknown_parameter,
)


def format_error(body: Mapping[str, Any]) -> ApiError | None:
    """Return the API's error for `response_format`, or None."""
    wanted = body.get("response_format")
    if wanted is None:
        return None
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if not isinstance(kind, str) or kind not in FORMATS:
        hint = 'response_format is {"type": "json_schema", "json_schema": {…}}, or of another of these types.'
        return invalid_value("response_format.type", kind, FORMATS, hint)
    for name in wanted:
        if name not in ("type", "json_schema"):
            hint = "name, strict and schema belong into response_format.json_schema."
            return unknown_parameter(f"response_format.{name}", hint)
    if kind == "json_object" and not any("json" in m.text.lower() for m in Request(body).messages):
        text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type "
        return bad_request(f"{text}'json_object'.", "tell the model in the instructions to answer in JSON.", "messages")
    if kind != "json_schema":
        return None
    at, shape = "response_format.json_schema", wanted.get("json_schema")
    if not isinstance(shape, dict):
        return missing_parameter(at, 'give a name and a schema: {"name": "plan", "strict": True, "schema": {…}}.')
    return json_schema_error(shape, at, "response_format")


def offered_tools_error(body: Mapping[str, Any]) -> ApiError | None:
    """Return the API's error for `tools`, `tool_choice` and `parallel_tool_calls`, or None."""
    tools = body.get("tools")
    if tools is None:
        return without_tools_error(body)
    if tools == []:
        return empty_array("tools", "omit 'tools' if you offer no tools.")
    return tools_error(tools, body.get("tool_choice"), inside="function")
