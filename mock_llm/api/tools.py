"""Request validation that both endpoints share: function tools, and JSON schemas for answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mock_llm.api import refusals
from mock_llm.json_schema import loose_mode_error, strict_mode_error
from mock_llm.types import NAME, ApiError

MOST_TOOLS = 128
LONGEST_NAME = 64
CHOICES = ("none", "auto", "required")
MODES = ("auto", "required")


def name_error(name: Any, at: str, hint: str) -> ApiError | None:
    """Return the error of the name of a function or of a schema, or None."""
    if name is None:
        return refusals.missing_parameter(at, hint)
    if not isinstance(name, str):
        return refusals.invalid_type(at, "a string", name)
    if not name:
        return refusals.empty_text(at, hint)
    return refusals.too_long(at, name, LONGEST_NAME, hint) or (
        None if NAME.fullmatch(name) else refusals.invalid_name(at, name)
    )


def json_schema_error(shape: Mapping[str, Any], at: str, param: str, code: str | None = None) -> ApiError | None:
    """Return the error of a named JSON schema for answers, or None.

    Args:
        shape: an object with `name`, `schema` and optionally `strict`.
        at: its path in the request.
        param: the parameter that the API names if strict mode refuses the schema.
        code: the code of this error.
    """
    name, schema = shape.get("name"), shape.get("schema")
    if error := name_error(name, f"{at}.name", "give the schema a name."):
        return error
    if schema is None and not shape.get("strict"):
        return None
    if not isinstance(schema, dict):
        return refusals.missing_parameter(f"{at}.schema", "add the schema of the answer.")
    if shape.get("strict") and (reason := strict_mode_error(schema)):
        text = f"Invalid schema for response_format '{name}': {reason[0]}"
        return refusals.bad_request(text, f"{reason[1]}.", param, code)
    return None


def format_type_error(shape: Any, at: str, kinds: tuple[str, ...]) -> ApiError | None:
    """Return the error of the type of an answer format, or None."""
    if not isinstance(shape, dict):
        return refusals.invalid_type(at, "an object", shape)
    kind = shape.get("type")
    hint = f"a format has one of the types {', '.join(kinds)}."
    if kind is None:
        return refusals.missing_parameter(f"{at}.type", hint)
    return None if kind in kinds else refusals.invalid_value(f"{at}.type", kind, kinds, hint)


def tool_list_error(
    tools: Any, items: str, tool_error: Callable[[Mapping[str, Any], str], ApiError | None]
) -> ApiError | None:
    """Return the error of a list of tools, or None.

    Args:
        tools: the list, as the client sent it.
        items: the API's word for its items.
        tool_error: returns the error of one tool at a path of the request.
    """
    if not isinstance(tools, list):
        return refusals.invalid_type("tools", f"an array of {items}", tools)
    if error := refusals.too_long("tools", tools, MOST_TOOLS, "offer the tools that this step needs."):
        return error
    for index, tool in enumerate(tools):
        at = f"tools[{index}]"
        if not isinstance(tool, dict):
            return refusals.invalid_type(at, "an object", tool)
        if tool.get("type") is None:
            return refusals.missing_parameter(f"{at}.type", "a tool is an object with the type 'function'.")
    errors = (tool_error(tool, f"tools[{index}]") for index, tool in enumerate(tools))
    return next(filter(None, errors), None)


def callable_error(kind: str, function: Mapping[str, Any], at: str) -> ApiError | None:
    """Return the error of a function or custom tool that is offered (`name`; `parameters`, `strict`), or None."""
    name, parameters = function.get("name"), function.get("parameters")
    if error := name_error(name, f"{at}.name", "give the tool a name."):
        return error
    if not isinstance(function.get("description"), str | None):
        return refusals.invalid_type(f"{at}.description", "a string", function["description"])
    if kind == "custom":
        return None
    if not isinstance(function.get("strict"), bool | None):
        return refusals.invalid_type(f"{at}.strict", "a boolean", function["strict"])
    refused = None
    if not isinstance(parameters, dict | None):
        refused = f"{parameters!r} is not of type 'object'.", "parameters is a JSON schema"
    elif function.get("strict"):
        refused = strict_mode_error(parameters or {})
    elif parameters is not None:
        refused = loose_mode_error(parameters)
    if refused is None:
        return None
    text = f"Invalid schema for function '{name}': {refused[0]}"
    return refusals.bad_request(text, f"{refused[1]}.", f"{at}.parameters", "invalid_function_parameters")


def allowed_tools_error(allowed: Any, tools: Sequence[Mapping[str, Any]], at: str) -> ApiError | None:
    """Return the error of a tool choice that limits the offered tools, or None.

    Args:
        allowed: an object with `mode` and `tools`, as the client sent it.
        tools: the offered tools.
        at: the path of `allowed` in the request.
    """
    if not isinstance(allowed, dict):
        return refusals.missing_parameter(at, 'add the allowed tools: {"mode": "auto", "tools": […]}.')
    for name in ("mode", "tools"):
        if allowed.get(name) is None:
            return refusals.missing_parameter(f"{at}.{name}", f"a choice of allowed tools needs {name}.")
    if allowed["mode"] not in MODES:
        return refusals.invalid_value(f"{at}.mode", allowed["mode"], MODES, "choose one of these.")
    if not isinstance(allowed["tools"], list):
        return refusals.invalid_type(f"{at}.tools", "an array of objects", allowed["tools"])
    offered = [_identity(tool) for tool in tools]
    for index, tool in enumerate(allowed["tools"]):
        if not isinstance(tool, dict):
            return refusals.invalid_type(f"{at}.tools[{index}]", "an object", tool)
        if _identity(tool) not in offered:
            text = f"Tool choice '{_identity(tool)[1]}' not found in 'tools' parameter."
            return refusals.bad_request(text, "allow only tools that the request offers.", "tool_choice")
    return None


def _identity(tool: Mapping[str, Any]) -> tuple[str, str]:
    """Return what identifies a tool: its type, and its name or server."""
    kind = str(tool.get("type"))
    named = tool[kind] if isinstance(tool.get(kind), dict) else tool
    return kind, str(named.get("name") or named.get("server_label") or kind)


def choice_word_error(choice: Any, expected: str) -> ApiError | None:
    """Return the error of a tool choice that is neither an object nor one of the API's words, or None."""
    if isinstance(choice, str):
        hint = "choose one of these, or name a tool."
        return None if choice in CHOICES else refusals.invalid_value("tool_choice", choice, CHOICES, hint)
    return None if isinstance(choice, dict) else refusals.invalid_type("tool_choice", expected, choice)
