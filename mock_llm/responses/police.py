"""What the real Responses API refuses of a request as a whole; its input has checks of its own (`input`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mock_llm.exchange import ApiError
from mock_llm.offers import (
    FORMATS,
    function_problem,
    not_offered,
    shape_problem,
    tool_type_problem,
    without_tools_problem,
)
from mock_llm.police import number_problem, plain_problem
from mock_llm.refusals import missing, refuse, unknown, unsupported, wrong_type, wrong_value

from .input import input_problem
from .reading import messages

PLAIN = (
    "temperature top_p user safety_identifier prompt_cache_key service_tier metadata stream parallel_tool_calls".split()
)
OTHERS = (
    "model input instructions max_output_tokens store text tools tool_choice truncation reasoning include "
    "previous_response_id".split()
)
OPTIONS: dict[str, tuple[str, ...]] = {
    "text": ("format", "verbosity"),
    "reasoning": ("effort", "summary", "generate_summary"),
    "stream_options": ("include_obfuscation",),
}
# What the API knows and a script can't do is accepted only with the value that asks for nothing.
ASKS_NOTHING: dict[str, Any] = {"background": False, "top_logprobs": 0}
UNSUPPORTED = [
    *ASKS_NOTHING,
    *"conversation prompt max_tool_calls moderation context_management image".split(),
    *"access_programs background_options prompt_cache_options prompt_cache_retention".split(),
]
KNOWN = {*PLAIN, *OTHERS, *OPTIONS, *UNSUPPORTED}
MENDS = {"conversation": "send it as input, or use previous_response_id."}
INCLUDABLE = ("reasoning.encrypted_content",)  # a scripted model has no reasoning to include


def police(body: Any) -> ApiError | None:
    """The refusal that a request for a response deserves, or None when it may pass.

    Args:
        body: the request's JSON, whatever it is.
    """
    if not isinstance(body, dict):
        message = "We could not parse the JSON body of your request: it is not an object."
        return refuse(message, "send a JSON object.")
    if not body.get("model"):
        return missing("model", 'any name will do here, as in model="gpt-4.1".')
    if body.get("input") is None:
        return missing("input", 'send the conversation: input="…", or a list of messages.')
    return (
        next((problem for name in body if (problem := _parameter_problem(name, body[name]))), None)
        or input_problem(body["input"])
        or _tools_problem(body)
        or _format_problem(body)
    )


def _parameter_problem(name: str, value: Any) -> ApiError | None:
    if name not in KNOWN:
        return unknown(name, "the Responses API has no such parameter; is the name spelled right?")
    if value is None:
        return None
    if name in UNSUPPORTED and (name not in ASKS_NOTHING or value != ASKS_NOTHING[name]):
        return unsupported(f"'{name}'", MENDS.get(name, "leave it out."), name)
    if name in PLAIN or name == "model":
        return plain_problem(name, value)
    if name == "max_output_tokens":
        return number_problem(name, value, 16, math.inf, "integer")
    if name == "instructions" and not isinstance(value, str):
        return wrong_type(name, "a string", value)
    if name == "store" and not isinstance(value, bool):
        return wrong_type(name, "a boolean", value)
    if name == "truncation" and value not in ("auto", "disabled"):
        return wrong_value(name, value, ("auto", "disabled"), "choose one of these.")
    if name == "include" and not (isinstance(value, list) and all(one in INCLUDABLE for one in value)):
        return unsupported(f"'include' of {value!r}", "leave it out.", name)
    return _options_problem(name, value) if name in OPTIONS else None


def _options_problem(name: str, value: Any) -> ApiError | None:
    if not isinstance(value, dict):
        return wrong_type(name, "an object", value)
    for option in value:
        if option not in OPTIONS[name]:
            return unknown(f"{name}.{option}", f"'{name}' has {', '.join(OPTIONS[name])}.")
    for option, known in (("effort", "reasoning_effort"), ("verbosity", "verbosity")):
        if value.get(option) is not None and (problem := plain_problem(known, value[option])):
            return problem
    return None


def _tools_problem(body: Mapping[str, Any]) -> ApiError | None:
    tools = body.get("tools")
    if not isinstance(tools, list | None):
        return wrong_type("tools", "an array of objects", tools)
    if not tools:  # this API takes an empty list for none, and flags without tools
        demanded = body.get("tool_choice") not in (None, "auto", "none")
        return without_tools_problem({"tool_choice": body["tool_choice"]}) if demanded else None
    for index, tool in enumerate(tools):
        at = f"tools[{index}]"
        if problem := tool_type_problem(tool, at) or function_problem(tool, at):
            return problem
    choice = body.get("tool_choice")
    name = choice.get("name") if isinstance(choice, dict) else None
    return not_offered(choice, name, [tool["name"] for tool in tools])


def _format_problem(body: Mapping[str, Any]) -> ApiError | None:
    shape = (body.get("text") or {}).get("format")
    if shape is None:
        return None
    kind = shape.get("type") if isinstance(shape, dict) else None
    if not isinstance(kind, str) or kind not in FORMATS:
        hint = 'text.format is {"type": "json_schema", "name": …, "schema": …}, or of another of these types.'
        return wrong_value("text.format.type", kind, FORMATS, hint)
    if kind == "json_schema":
        if shape.get("schema") is None:
            return missing("text.format.schema", "say which schema the answer must fit.")
        return shape_problem(shape, "text.format", "text.format.schema")
    said = " ".join(str(message["content"]) for message in messages(body))
    if kind == "json_object" and "json" not in said.lower():
        text = "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
        return refuse(f"{text}'json_object'.", "tell the model in the instructions to answer in JSON.", "input")
    return None
