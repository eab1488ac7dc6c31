"""Request validation that both endpoints share: tools, tool choice, and JSON schemas for answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_llm.json_schema import loose_mode_error, strict_mode_error
from mock_llm.types import (
    NAME,
    SERVICE_TOOLS,
    ApiError,
    bad_request,
    invalid_name,
    invalid_type,
    missing_parameter,
    not_supported,
    too_long_array,
)

MOST_TOOLS = 128
FORMATS = ("json_object", "json_schema", "text")


def json_schema_error(shape: Mapping[str, Any], at: str, param: str) -> ApiError | None:
    """Return the error of a named JSON schema for answers, or None.

    Args:
        shape: an object with `name`, `schema` and optionally `strict`.
        at: its path in the request.
        param: the parameter that the API names if strict mode refuses the schema.
    """
    name, schema = shape.get("name"), shape.get("schema")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return invalid_name(f"{at}.name", name)
    if schema is None and not shape.get("strict"):
        return None
    if not isinstance(schema, dict):
        return missing_parameter(f"{at}.schema", "add the schema of the answer.")
    if shape.get("strict") and (error := strict_mode_error(schema)):
        text = f"Invalid schema for response_format '{name}': {error[0]}"
        return bad_request(text, f"{error[1]}.", param)
    return None


def tools_error(tools: Any, choice: Any, inside: str = "") -> ApiError | None:
    """Return the error of the offered tools or of the tool choice, or None.

    Args:
        tools: the request's list of tools.
        choice: its `tool_choice`.
        inside: "function" for a chat, where a tool contains an object named by its type; "" for a response, which can
            offer the service's own tools too.
    """
    if not isinstance(tools, list):
        return invalid_type("tools", "an array of objects", tools)
    if error := too_long_array("tools", tools, MOST_TOOLS, "offer the tools that this step needs."):
        return error
    offered: list[str] = []
    for index, tool in enumerate(tools):
        at = f"tools[{index}]"
        if error := _tool_type_error(tool, at, bool(inside)):
            return error
        if tool["type"] in SERVICE_TOOLS:
            continue
        function, where = (tool.get(tool["type"]), f"{at}.{tool['type']}") if inside else (tool, at)
        if not isinstance(function, dict):
            hint = 'a tool is {"type": "function", "function": {"name": "…", "parameters": {…}}}.'
            return missing_parameter(where, hint)
        if error := _function_error(function, where):
            return error
        offered.append(function["name"])
    chosen = choice.get(choice.get("type") or inside) if inside and isinstance(choice, dict) else choice
    return _choice_error(choice, chosen.get("name") if isinstance(chosen, dict) else None, offered)


def without_tools_error(body: Mapping[str, Any]) -> ApiError | None:
    """Return the error of a tool choice in a request without tools, or None."""
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None:
            text = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
            return bad_request(text, f"offer tools, or omit '{name}'.", name)
    return None


def _function_error(function: Mapping[str, Any], at: str) -> ApiError | None:
    """Return the error of a function that is offered as a tool (`name`, `parameters`, `strict`), or None."""
    name, parameters = function.get("name"), function.get("parameters")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return invalid_name(f"{at}.name", name)
    error = None
    if not isinstance(parameters, dict | None):
        error = f"{parameters!r} is not of type 'object'.", "parameters is a JSON schema"
    elif function.get("strict"):
        error = strict_mode_error(parameters or {})
    elif parameters is not None:
        error = loose_mode_error(parameters)
    if error is None:
        return None
    text = f"Invalid schema for function '{name}': {error[0]}"
    return bad_request(text, f"{error[1]}.", f"{at}.parameters", "invalid_function_parameters")


def _choice_error(choice: Any, name: Any, offered: Sequence[str]) -> ApiError | None:
    """Return the error of a tool_choice that names a tool that is not offered, or None."""
    if isinstance(choice, dict) and choice.get("type") not in ("function", "custom", None):
        what = f"'tool_choice' of type {choice['type']!r}"
        return not_supported(what, "name one function, or use 'auto'.", "tool_choice")
    if choice in (None, "auto", "none", "required") or (isinstance(choice, dict) and name in offered):
        return None
    text = f"Invalid value for 'tool_choice': {name or choice!r} is no tool that 'tools' offers."
    return bad_request(text, f"offered are {', '.join(offered)}.", "tool_choice")


def _tool_type_error(tool: Any, at: str, chat: bool) -> ApiError | None:
    """Return the error of a tool with a type that the scripted model does not support, or None."""
    kind = tool.get("type") if isinstance(tool, dict) else None
    if kind in ("function", "custom") or (isinstance(kind, str) and kind in SERVICE_TOOLS and not chat):
        return None
    if isinstance(kind, str) and kind:
        known = "'function' and 'custom'" if chat else f"'function', 'custom', {', '.join(sorted(SERVICE_TOOLS))}"
        return not_supported(f"a tool of type {kind!r}", f"offer tools of type {known}.", f"{at}.type")
    return missing_parameter(f"{at}.type", "a tool is an object with the type 'function'.")
