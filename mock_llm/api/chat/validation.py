"""Request validation: refuses requests as the real API does, and adds an explanation for learners.

A pure function over the request's JSON. Like the API, it reports only the first error. `messages` checks the messages,
and `tools` checks the tools and the response format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mock_llm.api.model_profiles import model_error
from mock_llm.api.parameters import INTEGERS, RANGES, TEXTS, VALUES, common_parameter_error
from mock_llm.types import (
    ApiError,
    bad_request,
    invalid_type,
    missing_parameter,
    not_an_object,
    not_supported,
    too_long_array,
    unknown_parameter,
)

from .messages import messages_error
from .tools import format_error, offered_tools_error

OTHERS = (
    "model messages metadata stop response_format tools tool_choice parallel_tool_calls stream stream_options".split()
)
# Parameters that a script can't support are accepted only with a value that has no effect.
ASKS_NOTHING: dict[str, Any] = {"logprobs": False, "store": False, "modalities": ["text"], "logit_bias": {}}
UNSUPPORTED = [
    *ASKS_NOTHING,
    *"audio function_call functions moderation prediction prompt_cache_options prompt_cache_retention".split(),
    *"top_logprobs web_search_options".split(),
]
KNOWN = {*RANGES, *INTEGERS, *OTHERS, *TEXTS, *VALUES, *UNSUPPORTED}


def validate(body: Any) -> ApiError | None:
    """Return the API's error for a chat completion request, or None if the request is valid.

    Args:
        body: the request's JSON, of any type.
    """
    if not isinstance(body, dict):
        return not_an_object()
    # The order matters: later checks rely on earlier ones, for example that there are messages and that a role is a string.
    return (
        _required_error(body)
        or next((error for name in body if (error := _parameter_error(name, body[name]))), None)
        or messages_error(body["messages"])
        or offered_tools_error(body)
        or format_error(body)
        or model_error(body)
    )


def _required_error(body: Mapping[str, Any]) -> ApiError | None:
    if not body.get("model"):
        hint = 'any name works here, such as model="gpt-4.1".'
        return bad_request("you must provide a model parameter", hint)
    if body.get("messages") is None:
        return missing_parameter("messages", 'send the conversation: messages=[{"role": "user", "content": "…"}].')
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        hint = "keep 'max_completion_tokens'; 'max_tokens' is the older name."
        return bad_request(message, hint, "max_tokens", "invalid_parameter_combination")
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        return bad_request(message, "omit it, or set stream=True.", "stream_options")
    return None


def _parameter_error(name: str, value: Any) -> ApiError | None:
    if name not in KNOWN:
        hint = "the API has no such parameter; check the spelling."
        return bad_request(f"Unrecognized request argument supplied: {name}", hint)
    if value is None:
        return None
    if name in UNSUPPORTED and (name not in ASKS_NOTHING or value != ASKS_NOTHING[name]):
        return not_supported(f"'{name}'", "leave it out.", name)
    return common_parameter_error(name, value) or SPECIAL.get(name, lambda value: None)(value)


def _stop_error(value: Any) -> ApiError | None:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        return invalid_type("stop", "a string or an array of non-empty strings", value)
    return too_long_array("stop", stops, 4, "give at most four stop sequences.")


def _stream_options_error(value: Any) -> ApiError | None:
    if not isinstance(value, dict):
        return invalid_type("stream_options", "an object", value)
    for name, flag in value.items():
        if name not in ("include_usage", "include_obfuscation"):
            return unknown_parameter(f"stream_options.{name}", "it has include_usage and include_obfuscation.")
        if not isinstance(flag, bool):
            return invalid_type(f"stream_options.{name}", "a boolean", flag)
    return None


SPECIAL: Final[Mapping[str, Callable[[Any], ApiError | None]]] = {
    "stop": _stop_error,
    "stream_options": _stream_options_error,
}
