"""What a request asks for besides words: the answer's format, and the tools it offers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .exchange import ApiError, Request
from .refusals import empty_array, missing, refuse, unsupported, wrong_name, wrong_type, wrong_value
from .strict import strict_problem

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
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
    return _schema_problem(wanted.get("json_schema")) if kind == "json_schema" else None


def tools_problem(body: Mapping[str, Any]) -> ApiError | None:
    """The API's refusal of `tools`, `tool_choice` and `parallel_tool_calls`, or None."""
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) is not None:
                text = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
                return refuse(text, f"offer tools, or leave '{name}' out.", name)
        return None
    if not isinstance(tools, list):
        return wrong_type("tools", "an array of objects", tools)
    if not tools:
        return empty_array("tools", "leave 'tools' out when there is none to offer.")
    for index, tool in enumerate(tools):
        if problem := _tool_problem(tool, f"tools[{index}]"):
            return problem
    return _choice_problem(body.get("tool_choice"), [tool["function"]["name"] for tool in tools])


def _schema_problem(wanted: Any) -> ApiError | None:
    at = "response_format.json_schema"
    if not isinstance(wanted, dict):
        return missing(at, 'give a name and a schema: {"name": "plan", "strict": True, "schema": {…}}.')
    name, schema = wanted.get("name"), wanted.get("schema")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return wrong_name(f"{at}.name", name)
    if schema is None and not wanted.get("strict"):
        return None
    if not isinstance(schema, dict):
        return missing(f"{at}.schema", "say which schema the answer must fit.")
    if wanted.get("strict") and (problem := strict_problem(schema)):
        text = f"Invalid schema for response_format '{name}': {problem[0]}"
        return refuse(text, f"{problem[1]}.", "response_format")
    return None


def _tool_problem(tool: Any, at: str) -> ApiError | None:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not isinstance(function, dict):
        hint = 'a tool is {"type": "function", "function": {"name": "…", "parameters": {…}}}.'
        return missing(f"{at}.function", hint)
    name, parameters = function.get("name"), function.get("parameters", {})
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return wrong_name(f"{at}.function.name", name)
    problem = None
    if not isinstance(parameters, dict):
        problem = f"{parameters!r} is not of type 'object'.", "parameters is a JSON schema"
    elif function.get("strict"):
        problem = strict_problem(parameters)
    if problem is None:
        return None
    text = f"Invalid schema for function '{name}': {problem[0]}"
    return refuse(text, f"{problem[1]}.", f"{at}.function.parameters", "invalid_function_parameters")


def _choice_problem(choice: Any, offered: list[str]) -> ApiError | None:
    if choice in (None, "auto", "none"):
        return None
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if choice != "required" and name not in offered:
        text = f"Invalid value for 'tool_choice': {name or choice!r} is no tool that 'tools' offers."
        return refuse(text, f"offered are {', '.join(offered)}.", "tool_choice")
    return unsupported("'tool_choice' that demands a call", "scenes can't call tools yet; use 'auto'.", "tool_choice")
