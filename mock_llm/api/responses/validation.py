"""Request validation of the Responses API. `input` checks the request's input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mock_llm.api.model_profiles import model_error
from mock_llm.api.parameters import common_parameter_error, number_error
from mock_llm.api.tools import FORMATS, json_schema_error, tools_error, without_tools_error
from mock_llm.types import (
    ApiError,
    bad_request,
    invalid_type,
    invalid_value,
    missing_parameter,
    not_an_object,
    not_supported,
    unknown_parameter,
)

from .conversion import messages
from .input import input_error

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
# Parameters that a script can't support are accepted only with a value that has no effect.
ASKS_NOTHING: dict[str, Any] = {"background": False, "top_logprobs": 0}
UNSUPPORTED = [
    *ASKS_NOTHING,
    *"conversation prompt max_tool_calls moderation context_management image".split(),
    *"access_programs background_options prompt_cache_options prompt_cache_retention".split(),
]
KNOWN = {*PLAIN, *OTHERS, *OPTIONS, *UNSUPPORTED}
MENDS = {"conversation": "send it as input, or use previous_response_id."}
INCLUDABLE = ("reasoning.encrypted_content",)  # a scripted model has no reasoning to include


def validate(body: Any) -> ApiError | None:
    """Return the API's error for a Responses API request, or None if the request is valid.

    Args:
        body: the request's JSON, of any type.
    """
    if not isinstance(body, dict):
        return not_an_object()
    if not body.get("model"):
        return missing_parameter("model", 'any name works here, such as model="gpt-4.1".')
    if body.get("input") is None:
        return missing_parameter("input", 'send the conversation: input="…", or a list of messages.')
    return (
        next((error for name in body if (error := _parameter_error(name, body[name]))), None)
        or input_error(body["input"])
        or _offered_tools_error(body)
        or _format_error(body)
        or model_error(body, responses=True)
    )


def _parameter_error(name: str, value: Any) -> ApiError | None:
    if name not in KNOWN:
        return unknown_parameter(name, "the Responses API has no such parameter; check the spelling.")
    if value is None:
        return None
    if name in UNSUPPORTED and (name not in ASKS_NOTHING or value != ASKS_NOTHING[name]):
        return not_supported(f"'{name}'", MENDS.get(name, "leave it out."), name)
    if name in PLAIN or name == "model":
        return common_parameter_error(name, value)
    if name == "max_output_tokens":
        return number_error(name, value, 16, math.inf, "integer")
    if name == "instructions" and not isinstance(value, str):
        return invalid_type(name, "a string", value)
    if name == "store" and not isinstance(value, bool):
        return invalid_type(name, "a boolean", value)
    if name == "truncation" and value not in ("auto", "disabled"):
        return invalid_value(name, value, ("auto", "disabled"), "choose one of these.")
    if name == "include" and not (isinstance(value, list) and all(one in INCLUDABLE for one in value)):
        return not_supported(f"'include' of {value!r}", "leave it out.", name)
    return _options_error(name, value) if name in OPTIONS else None


def _options_error(name: str, value: Any) -> ApiError | None:
    if not isinstance(value, dict):
        return invalid_type(name, "an object", value)
    for option in value:
        if option not in OPTIONS[name]:
            return unknown_parameter(f"{name}.{option}", f"'{name}' has {', '.join(OPTIONS[name])}.")
    for option, known in (("effort", "reasoning_effort"), ("verbosity", "verbosity")):
        if value.get(option) is not None and (error := common_parameter_error(known, value[option])):
            return error
    return None


def _offered_tools_error(body: Mapping[str, Any]) -> ApiError | None:
    tools = body.get("tools")
    if tools in (None, []):  # this API accepts an empty list, and flags without tools
        demanded = body.get("tool_choice") not in (None, "auto", "none")
        return without_tools_error({"tool_choice": body["tool_choice"]}) if demanded else None
    return tools_error(tools, body.get("tool_choice"))


def _format_error(body: Mapping[str, Any]) -> ApiError | None:
    shape = (body.get("text") or {}).get("format")
    if shape is None:
        return None
    kind = shape.get("type") if isinstance(shape, dict) else None
    if not isinstance(kind, str) or kind not in FORMATS:
        hint = 'text.format is {"type": "json_schema", "name": …, "schema": …}, or of another of these types.'
        return invalid_value("text.format.type", kind, FORMATS, hint)
    if kind == "json_schema":
        if shape.get("schema") is None:
            return missing_parameter("text.format.schema", "add the schema of the answer.")
        return json_schema_error(shape, "text.format", "text.format.schema")
    conversation = " ".join(str(message["content"]) for message in messages(body))
    if kind == "json_object" and "json" not in conversation.lower():
        text = "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
        return bad_request(f"{text}'json_object'.", "tell the model in the instructions to answer in JSON.", "input")
    return None
