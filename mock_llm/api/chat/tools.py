"""Validation of what a chat completion asks for besides words: the answer's format, and the tools it offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_llm.api.tools import (
    FORMATS,
    function_error,
    json_schema_error,
    too_many_tools_error,
    tool_choice_error,
    tool_type_error,
    without_tools_error,
)
from mock_llm.types import (
    ApiError,
    Request,
    bad_request,
    empty_array,
    invalid_type,
    invalid_value,
    missing_parameter,
    unknown_parameter,
)


def format_error(body: Mapping[str, Any]) -> ApiError | None:
    """The API's error for `response_format`, or None."""
    wanted = body.get("response_format")
    if wanted is None:
        return None
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if not isinstance(kind, str) or kind not in FORMATS:
        hint = 'response_format is {"type": "json_schema", "json_schema": {…}}, or of another of these types.'
        return invalid_value("response_format.type", kind, FORMATS, hint)
    for name in wanted:
        if name not in ("type", "json_schema"):
            hint = "name, strict and schema stand in response_format.json_schema."
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


def tools_error(body: Mapping[str, Any]) -> ApiError | None:
    """The API's error for `tools`, `tool_choice` and `parallel_tool_calls`, or None."""
    tools = body.get("tools")
    if tools is None:
        return without_tools_error(body)
    if not isinstance(tools, list):
        return invalid_type("tools", "an array of objects", tools)
    if not tools:
        return empty_array("tools", "leave 'tools' out when there is none to offer.")
    if error := too_many_tools_error(tools):
        return error
    for index, tool in enumerate(tools):
        if error := _tool_error(tool, f"tools[{index}]"):
            return error
    return _choice_error(body.get("tool_choice"), [tool["function"]["name"] for tool in tools])


def _tool_error(tool: Any, at: str) -> ApiError | None:
    if error := tool_type_error(tool, at):
        return error
    function = tool.get("function")
    if not isinstance(function, dict):
        hint = 'a tool is {"type": "function", "function": {"name": "…", "parameters": {…}}}.'
        return missing_parameter(f"{at}.function", hint)
    return function_error(function, f"{at}.function")


def _choice_error(choice: Any, offered: list[str]) -> ApiError | None:
    function = choice.get("function") if isinstance(choice, dict) else None
    return tool_choice_error(choice, function.get("name") if isinstance(function, dict) else None, offered)
