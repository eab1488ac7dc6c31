"""What a request asks for besides words: the answer's format, and the tools it offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .exchange import ApiError, Request
from .refusals import NAME, empty_array, missing, refuse, unsupported, wrong_name, wrong_type, wrong_value
from .strict import strict_problem

FORMATS = ("json_object", "json_schema", "text")


def format_problem(body: Mapping[str, Any]) -> ApiError | None:
    """The API's refusal of `response_format`, or None."""
    wanted = body.get("response_format")
    if wanted is None:
        return None
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if not isinstance(kind, str) or kind not in FORMATS:
        hint = 'response_format is {"type": "json_schema", "json_schema": {…}}, or of another of these types.'
        return wrong_value("response_format.type", kind, FORMATS, hint)
    if kind == "json_object" and not any("json" in m.text.lower() for m in Request(body).messages):
        text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type "
        return refuse(f"{text}'json_object'.", "tell the model in the instructions to answer in JSON.", "messages")
    if kind != "json_schema":
        return None
    at, shape = "response_format.json_schema", wanted.get("json_schema")
    if not isinstance(shape, dict):
        return missing(at, 'give a name and a schema: {"name": "plan", "strict": True, "schema": {…}}.')
    return shape_problem(shape, at, "response_format")


def tools_problem(body: Mapping[str, Any]) -> ApiError | None:
    """The API's refusal of `tools`, `tool_choice` and `parallel_tool_calls`, or None."""
    tools = body.get("tools")
    if tools is None:
        return without_tools_problem(body)
    if not isinstance(tools, list):
        return wrong_type("tools", "an array of objects", tools)
    if not tools:
        return empty_array("tools", "leave 'tools' out when there is none to offer.")
    for index, tool in enumerate(tools):
        if problem := _tool_problem(tool, f"tools[{index}]"):
            return problem
    return _choice_problem(body.get("tool_choice"), [tool["function"]["name"] for tool in tools])


def shape_problem(shape: Mapping[str, Any], at: str, param: str) -> ApiError | None:
    """What is wrong with a named JSON schema for answers, or None.

    Args:
        shape: has `name`, `schema` and perhaps `strict`.
        at: where it stands in the request.
        param: what the API names when the schema is unfit for strict mode.
    """
    name, schema = shape.get("name"), shape.get("schema")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return wrong_name(f"{at}.name", name)
    if schema is None and not shape.get("strict"):
        return None
    if not isinstance(schema, dict):
        return missing(f"{at}.schema", "say which schema the answer must fit.")
    if shape.get("strict") and (problem := strict_problem(schema)):
        text = f"Invalid schema for response_format '{name}': {problem[0]}"
        return refuse(text, f"{problem[1]}.", param)
    return None


def function_problem(function: Mapping[str, Any], at: str) -> ApiError | None:
    """What is wrong with a function that is offered as a tool (`name`, `parameters`, `strict`), or None."""
    name, parameters = function.get("name"), function.get("parameters")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return wrong_name(f"{at}.name", name)
    problem = None
    if not isinstance(parameters, dict | None):
        problem = f"{parameters!r} is not of type 'object'.", "parameters is a JSON schema"
    elif function.get("strict"):
        problem = strict_problem(parameters or {})
    if problem is None:
        return None
    text = f"Invalid schema for function '{name}': {problem[0]}"
    return refuse(text, f"{problem[1]}.", f"{at}.parameters", "invalid_function_parameters")


def not_offered(choice: Any, name: Any, offered: Sequence[str]) -> ApiError | None:
    """The refusal of a tool_choice that names no offered tool, or None."""
    if isinstance(choice, dict) and choice.get("type") not in ("function", None):
        what = f"'tool_choice' of type {choice['type']!r}"
        return unsupported(what, "name one function, or use 'auto'.", "tool_choice")
    if choice in (None, "auto", "none", "required") or (isinstance(choice, dict) and name in offered):
        return None
    text = f"Invalid value for 'tool_choice': {name or choice!r} is no tool that 'tools' offers."
    return refuse(text, f"offered are {', '.join(offered)}.", "tool_choice")


def tool_type_problem(tool: Any, at: str) -> ApiError | None:
    """The refusal of a tool that is no function, or None."""
    if isinstance(tool, dict) and tool.get("type") == "function":
        return None
    kind = tool.get("type") if isinstance(tool, dict) else None
    if isinstance(kind, str) and kind:
        return unsupported(f"a tool of type {kind!r}", "offer tools of type 'function'.", f"{at}.type")
    return missing(f"{at}.type", "a tool is an object with the type 'function'.")


def without_tools_problem(body: Mapping[str, Any]) -> ApiError | None:
    """The refusal of a choice among tools where none is offered, or None."""
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None:
            text = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
            return refuse(text, f"offer tools, or leave '{name}' out.", name)
    return None


def _tool_problem(tool: Any, at: str) -> ApiError | None:
    if problem := tool_type_problem(tool, at):
        return problem
    function = tool.get("function")
    if not isinstance(function, dict):
        hint = 'a tool is {"type": "function", "function": {"name": "…", "parameters": {…}}}.'
        return missing(f"{at}.function", hint)
    return function_problem(function, f"{at}.function")


def _choice_problem(choice: Any, offered: list[str]) -> ApiError | None:
    function = choice.get("function") if isinstance(choice, dict) else None
    return not_offered(choice, function.get("name") if isinstance(function, dict) else None, offered)
