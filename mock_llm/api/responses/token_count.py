"""Counts the input tokens of a Responses API request without asking the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_llm.api import refusals
from mock_llm.engine import input_tokens
from mock_llm.types import ApiError

from .conversion import read
from .validation import validate

COUNTED = (
    "input instructions model parallel_tool_calls previous_response_id reasoning text tool_choice tools truncation"
).split()


def token_count(body: Any) -> dict[str, Any] | ApiError:
    """Return the token count of a request, or the API's error for it. It is an estimate, like all usage that a
    script does not state.
    """
    if isinstance(body, Mapping):
        for name in body:
            if name not in COUNTED:
                return refusals.unknown_parameter(name, f"a count of tokens takes {', '.join(COUNTED)}.")
        body = {"model": "any", "input": "", **{name: value for name, value in body.items() if value is not None}}
    if error := validate(body):
        return error
    return {"object": "response.input_tokens", "input_tokens": input_tokens(read(body))}
