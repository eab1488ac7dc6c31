"""The police: what the real API would refuse, refused the same way, and explained to a learner.

A pure function over the request's JSON. The first fault is reported, as the API does. Messages
(`conversation`), the answer's format and the tools (`offers`) have checks of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from .conversation import messages_problem
from .exchange import ApiError
from .offers import format_problem, tools_problem
from .refusals import missing, refuse, unknown, unsupported, wrong_type, wrong_value

RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
INTEGERS: dict[str, tuple[float, float]] = {
    "seed": (-(2**63), 2**63 - 1),
    "max_tokens": (1, math.inf),
    "max_completion_tokens": (1, math.inf),
    "n": (1, 128),
}
OTHERS = (
    "model messages metadata stop response_format tools tool_choice parallel_tool_calls stream stream_options".split()
)
TEXTS = "model user safety_identifier prompt_cache_key".split()
FLAGS = "stream parallel_tool_calls".split()
# How hard a model thinks does not change what a script says; but only values that the API knows may pass.
VALUES: dict[str, tuple[str, ...]] = {
    "reasoning_effort": ("none", "minimal", "low", "medium", "high", "xhigh"),
    "verbosity": ("low", "medium", "high"),
    "service_tier": ("auto", "default"),
}
# What the API knows and a script can't do is accepted only with the value that asks for nothing.
ASKS_NOTHING: dict[str, Any] = {"logprobs": False, "store": False, "modalities": ["text"], "logit_bias": {}}
UNSUPPORTED = [
    *ASKS_NOTHING,
    *"audio function_call functions moderation prediction prompt_cache_options prompt_cache_retention".split(),
    *"top_logprobs web_search_options".split(),
]
KNOWN = {*RANGES, *INTEGERS, *OTHERS, *TEXTS, *VALUES, *UNSUPPORTED}


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
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        return refuse(message, "leave it out, or ask with stream=True.", "stream_options")
    return None


def _parameter_problem(name: str, value: Any) -> ApiError | None:
    if name not in KNOWN:
        return unknown(name, "the API has no such parameter; is the name spelled right?")
    if value is None:
        return None
    if name in UNSUPPORTED and (name not in ASKS_NOTHING or value != ASKS_NOTHING[name]):
        return unsupported(f"'{name}'", "leave it out.", name)
    return plain_problem(name, value) or SPECIAL.get(name, lambda value: None)(value)


def plain_problem(name: str, value: Any) -> ApiError | None:
    """What is wrong with a number, a text, a flag or a metadata object of this name, or None."""
    if name in RANGES:
        return number_problem(name, value, *RANGES[name], "decimal")
    if name in INTEGERS:
        return number_problem(name, value, *INTEGERS[name], "integer")
    if name in TEXTS and not isinstance(value, str):
        return wrong_type(name, "a string", value)
    if name in FLAGS and not isinstance(value, bool):
        return wrong_type(name, "a boolean", value)
    if name in VALUES and value not in VALUES[name]:
        return wrong_value(name, value, VALUES[name], "choose one of these.")
    if name == "metadata" and not (isinstance(value, dict) and all(isinstance(v, str) for v in value.values())):
        return wrong_type(name, "an object of strings", value)
    return None


def number_problem(name: str, value: Any, least: float, most: float, kind: str) -> ApiError | None:
    """What is wrong with a number that has bounds, or None; `kind` is "integer" or "decimal"."""
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


def _stream_options_problem(value: Any) -> ApiError | None:
    if not isinstance(value, dict):
        return wrong_type("stream_options", "an object", value)
    for name, flag in value.items():
        if name not in ("include_usage", "include_obfuscation"):
            return unknown(f"stream_options.{name}", "it has include_usage and include_obfuscation.")
        if not isinstance(flag, bool):
            return wrong_type(f"stream_options.{name}", "a boolean", flag)
    return None


SPECIAL: Final[Mapping[str, Callable[[Any], ApiError | None]]] = {
    "stop": _stop_problem,
    "stream_options": _stream_options_problem,
}
