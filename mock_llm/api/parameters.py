"""Request parameters of both endpoints: the numbers, strings, flags and fixed values that the real API accepts."""

from __future__ import annotations

import math
from typing import Any

from mock_llm.types import ApiError, bad_request, invalid_type, invalid_value, too_long_text

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
MOST_METADATA = 16
LONGEST_METADATA_KEY, LONGEST_METADATA_VALUE = 64, 512
TEXTS = "model user safety_identifier prompt_cache_key".split()
FLAGS = "stream parallel_tool_calls".split()
# The reasoning effort does not change a scripted answer, but unknown values are refused.
VALUES: dict[str, tuple[str, ...]] = {
    "reasoning_effort": ("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "verbosity": ("low", "medium", "high"),
    "service_tier": ("auto", "default", "flex", "scale", "priority", "fast"),
}


def common_parameter_error(name: str, value: Any) -> ApiError | None:
    """Return the error of a number, string, flag or metadata object with this name, or None."""
    if name in RANGES:
        return number_error(name, value, *RANGES[name], "decimal")
    if name in INTEGERS:
        return number_error(name, value, *INTEGERS[name], "integer")
    if name in TEXTS and not isinstance(value, str):
        return invalid_type(name, "a string", value)
    if name in FLAGS and not isinstance(value, bool):
        return invalid_type(name, "a boolean", value)
    if name in VALUES and value not in VALUES[name]:
        return invalid_value(name, value, VALUES[name], "choose one of these.")
    return metadata_error(value) if name == "metadata" else None


def metadata_error(value: Any) -> ApiError | None:
    """Return the error of a request's metadata, or None."""
    if not (isinstance(value, dict) and all(isinstance(text, str) for text in value.values())):
        return invalid_type("metadata", "an object of strings", value)
    if len(value) > MOST_METADATA:
        expected = f"Expected an object with at most {MOST_METADATA} properties"
        text = f"Invalid 'metadata': too many properties. {expected}, but got an object with {len(value)} properties"
        return bad_request(f"{text} instead.", "leave some out.", "metadata", "object_above_max_properties")
    for name, text in value.items():
        at = f"metadata.{name}"
        if len(name) > LONGEST_METADATA_KEY:
            expected = f"Expected a string with maximum length {LONGEST_METADATA_KEY}, but got a string with length"
            says = f"Invalid property name in 'metadata': '{name}' is too long. {expected} {len(name)} instead."
            return bad_request(says, "shorten the key.", at, "property_name_above_max_length")
        if error := too_long_text(at, text, LONGEST_METADATA_VALUE, "shorten it."):
            return error
    return None


def number_error(name: str, value: Any, least: float, most: float, kind: str) -> ApiError | None:
    """Return the error of a number with bounds, or None; `kind` is "integer" or "decimal"."""
    kinds = (int,) if kind == "integer" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        return invalid_type(name, "an integer" if kind == "integer" else "a decimal", value)
    if least <= value <= most:
        return None
    side, sign, bound = ("below minimum", ">=", least) if value < least else ("above maximum", "<=", most)
    message = f"Invalid '{name}': {kind} {side} value. Expected a value {sign} {bound}, but got {value} instead."
    code = f"{kind}_{side[:5]}_{'min' if value < least else 'max'}_value"
    return bad_request(message, f"choose a value {sign} {bound}.", name, code)
