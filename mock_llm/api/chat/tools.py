"""Validation of the response format and the tools of a chat completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_llm.api import refusals
from mock_llm.api.tools import (
    allowed_tools_error,
    callable_error,
    choice_word_error,
    format_type_error,
    json_schema_error,
    tool_list_error,
)
from mock_llm.types import ApiError, Request

FORMATS = ("json_object", "json_schema", "text")
KINDS = ("function", "custom")
CHOICE = "one of one of 'none', 'auto', or 'required' or object"


def format_error(body: Mapping[str, Any]) -> ApiError | None:
    """Return the API's error for `response_format`, or None."""
    wanted = body.get("response_format")
    if wanted is None:
        return None
    if error := format_type_error(wanted, "response_format", FORMATS):
        return error
    for name in wanted:
        if name not in ("type", "json_schema"):
            hint = "name, strict and schema belong into response_format.json_schema."
            return refusals.unknown_parameter(f"response_format.{name}", hint)
    if wanted["type"] == "json_object" and not any("json" in m.text.lower() for m in Request(body).messages):
        text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type "
        return refusals.bad_request(
            f"{text}'json_object'.", "tell the model in the instructions to answer in JSON.", "messages"
        )
    if wanted["type"] != "json_schema":
        return None
    at, shape = "response_format.json_schema", wanted.get("json_schema")
    if not isinstance(shape, dict):
        return refusals.missing_parameter(
            at, 'give a name and a schema: {"name": "plan", "strict": True, "schema": {…}}.'
        )
    return json_schema_error(shape, at, "response_format")


def offered_tools_error(body: Mapping[str, Any]) -> ApiError | None:
    """Return the API's error for `tools`, `tool_choice` and `parallel_tool_calls`, or None."""
    tools, choice = body.get("tools"), body.get("tool_choice")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) is not None:
                text = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
                return refusals.bad_request(text, f"offer tools, or omit '{name}'.", name)
        return None
    if tools == []:
        return refusals.empty_array("tools", "omit 'tools' if you offer no tools.")
    if error := tool_list_error(tools, "objects", _tool_error):
        return error
    if choice is None:
        return None
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        return allowed_tools_error(choice.get("allowed_tools"), tools, "tool_choice.allowed_tools")
    offered = [tool[tool["type"]]["name"] for tool in tools]
    return choice_word_error(choice, CHOICE) or _choice_error(choice, offered)


def _tool_error(tool: Mapping[str, Any], at: str) -> ApiError | None:
    kind = tool["type"]
    if kind not in KINDS:
        return refusals.invalid_value(f"{at}.type", kind, KINDS, "offer tools of type 'function'.")
    if not isinstance(tool.get(kind), dict):
        hint = 'a tool is {"type": "function", "function": {"name": "…", "parameters": {…}}}.'
        return refusals.missing_parameter(f"{at}.{kind}", hint)
    return callable_error(kind, tool[kind], f"{at}.{kind}")


def _choice_error(choice: Any, offered: Sequence[str]) -> ApiError | None:
    """Return the error of a tool choice that names no function of the list, or None."""
    if isinstance(choice, str):
        return None
    kind = "custom" if choice.get("type") == "custom" else "function"
    hint = f"name one of the tools {', '.join(offered)}."
    if not isinstance(choice.get(kind), dict):
        return refusals.missing_parameter(f"tool_choice.{kind}", hint)
    name = choice[kind].get("name")
    if name is None:
        return refusals.missing_parameter(f"tool_choice.{kind}.name", hint)
    if choice.get("type") not in (None, *KINDS):
        return refusals.invalid_value("tool_choice.type", choice["type"], ("function", "allowed_tools", "custom"), hint)
    if name in offered:
        return None
    text = f"Invalid value for 'function_call': no function named '{name}' was specified in the 'functions' parameter."
    return refusals.bad_request(text, hint, "function_call")
