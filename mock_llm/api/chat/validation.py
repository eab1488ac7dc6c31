"""Request validation: refuses requests as the real API does, and adds an explanation for learners.

A pure function over the request's JSON. Like the API, it reports only the first error. `messages` checks the messages,
`tools` checks the tools and the response format, and `model_profiles` knows what the model refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_llm.api import refusals
from mock_llm.api.model_profiles import model_error, profile_of
from mock_llm.api.parameters import CHAT, errors, unknown_error, unsupported_error
from mock_llm.types import ApiError

from .messages import conversation_error, messages_error
from .tools import format_error, offered_tools_error

# Parameters that a script can't support, each with the value that has no effect.
UNSUPPORTED: Mapping[str, Any] = {
    **dict.fromkeys(("audio", "function_call", "functions", "moderation", "web_search_options")),
    "logprobs": False,
    "modalities": ["text"],
}


def validate(body: Any, unproven: bool = True) -> ApiError | None:
    """Return the API's error for a chat completion request, or None if the request is valid.

    Args:
        body: the request's JSON, of any type.
        unproven: whether rules for models apply that have no public evidence.
    """
    if not isinstance(body, dict):
        return refusals.not_an_object()
    # The order matters: later checks rely on earlier ones, for example that there are messages and that a role is a string.
    return (
        _required_error(body)
        or messages_error(body["messages"])
        or offered_tools_error(body)
        or next(errors(body, CHAT), None)
        or format_error(body)
        or _combination_error(body)
        or model_error("chat", body, unproven)
        or conversation_error(body["messages"])
        or unsupported_error(body, UNSUPPORTED)
    )


def _required_error(body: Mapping[str, Any]) -> ApiError | None:
    if not body.get("model"):
        hint = 'any name works here, such as model="gpt-4.1".'
        return refusals.bad_request("you must provide a model parameter", hint)
    if "messages" not in body:
        return refusals.missing_parameter(
            "messages", 'send the conversation: messages=[{"role": "user", "content": "…"}].'
        )
    for name in body:
        if name not in CHAT:
            hint = "the API has no such parameter; check the spelling."
            profile = profile_of(str(body["model"]))
            if profile and not profile.efforts:  # older models answer in older words
                return refusals.bad_request(f"Unrecognized request argument supplied: {name}", hint)
            return unknown_error(name, body, CHAT, hint)
    return None


def _combination_error(body: Mapping[str, Any]) -> ApiError | None:
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        hint = "keep 'max_completion_tokens'; 'max_tokens' is the older name."
        return refusals.bad_request(message, hint, "max_tokens", "invalid_parameter_combination")
    for name, needed, value in (
        ("stream_options", "stream", "stream=True"),
        ("top_logprobs", "logprobs", "logprobs=True"),
    ):
        if body.get(name) is not None and not body.get(needed):
            message = f"The '{name}' parameter is only allowed when '{needed}' is enabled."
            return refusals.bad_request(message, f"omit it, or set {value}.", name)
    return None
