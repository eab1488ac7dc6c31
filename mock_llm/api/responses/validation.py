"""Request validation of the Responses API. `input` checks the request's input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_llm.api import refusals
from mock_llm.api.model_profiles import model_error
from mock_llm.api.parameters import RESPONSES, errors, unknown_error, unsupported_error
from mock_llm.api.tools import (
    allowed_tools_error,
    callable_error,
    choice_word_error,
    format_type_error,
    json_schema_error,
    tool_list_error,
)
from mock_llm.types import ApiError

from .conversion import messages
from .input import input_error

FORMATS = ("json_object", "text", "json_schema")
CALLABLE = ("function", "custom")
TOOL_FIELDS: Mapping[str, Sequence[str]] = {
    kind: f"type {fields}".split()
    for kind, fields in {
        "function": "name description parameters strict output_schema defer_loading allowed_callers async",
        "custom": "name description format defer_loading allowed_callers async",
        "web_search": "filters search_context_size user_location external_web_access",
        "web_search_2025_08_26": "filters search_context_size user_location external_web_access",
        "web_search_preview_2025_03_11": "search_content_types search_context_size user_location",
        "web_search_preview": "search_content_types search_context_size user_location",
        "file_search": "vector_store_ids filters max_num_results ranking_options",
        "code_interpreter": "container allowed_callers",
        "mcp": "server_label server_url server_description connector_id tunnel_id authorization headers allowed_tools "
        "require_approval defer_loading allowed_callers",
        "image_generation": "action background complexity frame_count frame_duration_ms input_fidelity input_image_mask "
        "model moderation output_compression output_format partial_images quality size svg n",
        "local_shell": "",
        "shell": "environment allowed_callers",
        "apply_patch": "allowed_callers",
        "computer": "",
        "computer_use_preview": "display_height display_width environment",
    }.items()
}
REQUIRED = {"file_search": "vector_store_ids", "code_interpreter": "container", "mcp": "server_label"}
HOSTED = (
    "file_search computer computer_use_preview web_search web_search_2025_08_26 mcp code_interpreter "
    "programmatic_tool_calling image_generation local_shell shell custom namespace tool_search web_search_preview "
    "web_search_preview_2025_03_11 apply_patch"
).split()
CHOICE = "one of an object or 'none', 'auto', or 'required'"
# Parameters of a chat that this API has under another name.
MOVED = {
    "messages": "input",
    "response_format": "text.format",
    "reasoning_effort": "reasoning.effort",
    "max_completion_tokens": "max_output_tokens",
}
# Parameters that a script can't support, each with the value that has no effect.
UNSUPPORTED: Mapping[str, Any] = {
    **dict.fromkeys(("prompt", "moderation", "image", "access_programs")),
    "background_options": None,
    "background": False,
    "top_logprobs": 0,
}


def validate(body: Any, unproven: bool = True) -> ApiError | None:
    """Return the API's error for a Responses API request, or None if the request is valid.

    Args:
        body: the request's JSON, of any type.
        unproven: whether rules for models apply that have no public evidence.
    """
    if not isinstance(body, dict):
        return refusals.not_an_object()
    return (
        _required_error(body)
        or (input_error(body["input"]) if body.get("input") is not None else None)
        or _offered_tools_error(body)
        or next(errors(body, RESPONSES), None)
        or _format_error(body)
        or model_error("responses", body, unproven)
        or unsupported_error(body, UNSUPPORTED)
        or _logprobs_error(body)
    )


def _required_error(body: Mapping[str, Any]) -> ApiError | None:
    null = next((name for name in ("model", "input") if name in body and body[name] is None), None)
    if "model" not in body:
        return refusals.missing_parameter("model", 'any name works here, such as model="gpt-4.1".')
    if null:
        return refusals.invalid_type(null, "a string", {}, "send it, or omit it.")  # the API takes null for an object
    if not body["model"]:
        return refusals.bad_request(
            "The requested model '' does not exist.", "give the model a name.", "model", "model_not_found"
        )
    if body.get("input") is None and body.get("prompt") is None:
        return refusals.missing_parameter("input", 'send the conversation: input="…", or a list of messages.')
    for name in body:
        if name in MOVED:
            text = (
                f"Unsupported parameter: '{name}'. In the Responses API, this parameter has moved to '{MOVED[name]}'. "
            )
            text += "Try again with the new parameter. See the API documentation for more information: "
            text += "https://platform.openai.com/docs/api-reference/responses/create."
            return refusals.bad_request(text, f"use {MOVED[name]}.", None, "unsupported_parameter")
        if name not in RESPONSES:
            return unknown_error(name, body, RESPONSES, "the Responses API has no such parameter; check the spelling.")
    return None


def _offered_tools_error(body: Mapping[str, Any]) -> ApiError | None:
    tools, choice = body.get("tools") or [], body.get("tool_choice")  # unlike a chat, this API accepts an empty list
    if error := tool_list_error(tools, "tools", _tool_error):
        return error
    if choice is None:
        return None
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        return allowed_tools_error(choice, tools, "tool_choice")
    return choice_word_error(choice, CHOICE) or _choice_error(choice, tools)


def _tool_error(tool: Mapping[str, Any], at: str) -> ApiError | None:
    kind = tool["type"]
    if kind not in list(TOOL_FIELDS):
        hint = f"offer tools of the types {', '.join(TOOL_FIELDS)}."
        if kind in HOSTED:
            return refusals.not_supported(f"a tool of type {kind!r}", hint, f"{at}.type")
        return refusals.invalid_value(f"{at}.type", kind, ("function", *HOSTED), hint)
    if kind in CALLABLE and (error := callable_error(kind, tool, at)):
        return error
    if kind in REQUIRED and tool.get(REQUIRED[kind]) is None:
        return refusals.missing_parameter(f"{at}.{REQUIRED[kind]}", f"a tool of type '{kind}' needs it.")
    unknown = next((name for name in tool if name not in TOOL_FIELDS[kind]), None)
    hint = f"a tool of type '{kind}' has no such field; check the spelling."
    return refusals.unknown_parameter(f"{at}.{unknown}", hint) if unknown else None


def _choice_error(choice: Any, tools: Sequence[Mapping[str, Any]]) -> ApiError | None:
    """Return the error of a tool choice that demands a tool that is not offered, or None."""
    if isinstance(choice, str):
        if choice == "required" and not tools:
            text = "Tool choice 'required' must be specified with 'tools' parameter."
            return refusals.bad_request(text, "offer tools, or omit 'tool_choice'.", "tool_choice")
        return None
    kind = choice.get("type")
    if kind not in list(TOOL_FIELDS):
        return refusals.not_supported(f"'tool_choice' of type {kind!r}", "name one tool, or use 'auto'.", "tool_choice")
    offered = [tool["name"] if tool["type"] in CALLABLE else tool["type"] for tool in tools]
    name = choice.get("name") if kind in CALLABLE else kind
    hint = f"name one of the tools {', '.join(offered)}."
    if name is None:
        return refusals.missing_parameter("tool_choice.name", hint)
    if name in offered:
        return None
    return refusals.bad_request(f"Tool choice '{name}' not found in 'tools' parameter.", hint, "tool_choice")


def _format_error(body: Mapping[str, Any]) -> ApiError | None:
    shape = (body.get("text") or {}).get("format")
    if shape is None:
        return None
    if error := format_type_error(shape, "text.format", FORMATS):
        return error
    if shape["type"] == "json_schema":
        error = json_schema_error(shape, "text.format", "text.format.schema", "invalid_json_schema")
        if error is None and shape.get("schema") is None:
            return refusals.missing_parameter("text.format.schema", "add the schema of the answer.")
        return error
    conversation = " ".join(str(message["content"]) for message in messages({**body, "instructions": None}))
    if shape["type"] == "json_object" and "json" not in conversation.lower():
        text = "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
        return refusals.bad_request(
            f"{text}'json_object'.", "ask for JSON in the input; the API does not search the instructions.", "input"
        )
    return None


def _logprobs_error(body: Mapping[str, Any]) -> ApiError | None:
    if "message.output_text.logprobs" in (body.get("include") or ()):
        return refusals.not_supported("'include' of logprobs", "leave it out.", "include")
    return None
