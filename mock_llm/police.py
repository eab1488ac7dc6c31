"""The police: what the real API would refuse, refused the same way, and explained to a learner.

A pure function over the request's JSON. The first fault is reported, as the API does. Messages
(`conversation`), the answer's format and the tools (`offers`) have checks of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .conversation import messages_problem
from .exchange import ApiError
from .offers import format_problem, tools_problem
from .refusals import missing, refuse, unknown, unsupported, wrong_type

RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
INTEGERS: dict[str, float] = {"seed": -math.inf, "max_tokens": 1, "max_completion_tokens": 1}
OTHERS = "model messages user metadata stop response_format tools tool_choice parallel_tool_calls".split()
# What the API knows and a script can't do is accepted only with the value that asks for nothing.
ASKS_NOTHING: dict[str, Any] = {
    "n": 1,
    "stream": False,
    "logprobs": False,
    "store": False,
    "modalities": ["text"],
    "service_tier": "auto",
    "logit_bias": {},
}
NOT_YET = [
    *ASKS_NOTHING,
    *"audio function_call functions moderation prediction reasoning_effort safety_identifier stream_options".split(),
    *"prompt_cache_key prompt_cache_options prompt_cache_retention top_logprobs verbosity web_search_options".split(),
]
KNOWN = {*RANGES, *INTEGERS, *OTHERS, *NOT_YET}


def police(body: Any) -> ApiError | None:
    """The refusal that a request for a chat completion deserves, or None when it may pass.

    Args:
        body: the request's JSON, whatever it is.
    """
    if not isinstance(body, dict):
        message = "We could not parse the JSON body of your request: it is not an object."
        return refuse(message, "send a JSON object.")
    return (
        _required_problem(body)
        or next((problem for name in body if (problem := _parameter_problem(name, body[name]))), None)
        or messages_problem(body["messages"])
        or tools_problem(body)
        or format_problem(body)
    )


def _required_problem(body: Mapping[str, Any]) -> ApiError | None:
    if not body.get("model"):
        hint = 'any name will do here, as in model="gpt-4.1".'
        return refuse("you must provide a model parameter", hint, "model")
    if body.get("messages") is None:
        return missing("messages", 'send the conversation: messages=[{"role": "user", "content": "…"}].')
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        hint = "keep 'max_completion_tokens'; 'max_tokens' is its older name."
        return refuse(message, hint, "max_tokens", "invalid_parameter_combination")
    return None


def _parameter_problem(name: str, value: Any) -> ApiError | None:
    if name not in KNOWN:
        return unknown(name, "the API has no such parameter; is the name spelled right?")
    if value is None:
        return None
    if name in NOT_YET and (name not in ASKS_NOTHING or value != ASKS_NOTHING[name]):
        return unsupported(f"'{name}'", "leave it out.", name)
    if name in RANGES:
        return _number_problem(name, value, *RANGES[name], "decimal")
    if name in INTEGERS:
        return _number_problem(name, value, INTEGERS[name], math.inf, "integer")
    if name in ("user", "model") and not isinstance(value, str):
        return wrong_type(name, "a string", value)
    if name == "parallel_tool_calls" and not isinstance(value, bool):
        return wrong_type(name, "a boolean", value)
    if name == "stop":
        return _stop_problem(value)
    if name == "metadata" and not (isinstance(value, dict) and all(isinstance(v, str) for v in value.values())):
        return wrong_type(name, "an object of strings", value)
    return None


def _number_problem(name: str, value: Any, least: float, most: float, kind: str) -> ApiError | None:
    kinds = (int,) if kind == "integer" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        return wrong_type(name, "an integer" if kind == "integer" else "a decimal", value)
    if least <= value <= most:
        return None
    side, sign, bound = ("below minimum", ">=", least) if value < least else ("above maximum", "<=", most)
    message = f"Invalid '{name}': {kind} {side} value. Expected a value {sign} {bound}, but got {value} instead."
    code = f"{kind}_{side[:5]}_{'min' if value < least else 'max'}_value"
    return refuse(message, f"choose a value {sign} {bound}.", name, code)


def _stop_problem(value: Any) -> ApiError | None:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        return wrong_type("stop", "a string or an array of non-empty strings", value)
    if len(stops) <= 4:
        return None
    expected = f"Expected an array with maximum length 4, but got an array with length {len(stops)} instead."
    message = f"Invalid 'stop': array too long. {expected}"
    return refuse(message, "give at most four stop texts.", "stop", "array_above_max_length")
