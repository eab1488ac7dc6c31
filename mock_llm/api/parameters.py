"""The parameters of both endpoints and the values that the real API accepts, in the order in which it checks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from mock_llm.api import refusals
from mock_llm.types import ApiError

Check = Callable[[str, Any], ApiError | None]  # a parameter's name and its value, which is not null

MOST_METADATA = 16
LONGEST_METADATA_KEY, LONGEST_METADATA_VALUE = 64, 512
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
INCLUDABLE = (
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
)


def errors(body: Mapping[str, Any], checks: Mapping[str, Check]) -> Iterator[ApiError]:
    """Yield the errors of parameters, in the order of the checks; a null value counts as a missing one."""
    for name, check in checks.items():
        if body.get(name) is not None and (error := check(name, body[name])):
            yield error


def unsupported_error(body: Mapping[str, Any], unsupported: Mapping[str, Any]) -> ApiError | None:
    """Return the error of a parameter that a script can't support, or None; each has a value without an effect."""
    for name, neutral in unsupported.items():
        if body.get(name) not in (None, neutral):
            return refusals.not_supported(f"'{name}'", "leave it out.", name)
    return None


def unknown_error(name: str, body: Mapping[str, Any], checks: Mapping[str, Check], hint: str) -> ApiError:
    """Return the error of a parameter that an endpoint doesn't know. The API suggests parameters that the request does
    not have, at most two edits away, the nearest first.
    """
    near = [(_edits(name, known), known) for known in checks if known not in body and abs(len(known) - len(name)) < 3]
    return refusals.unknown_parameter(name, hint, [known for edits, known in sorted(near) if edits < 3])


def _edits(one: str, other: str) -> int:
    """Count the characters to insert, delete or replace in order to get from one text to the other."""
    row = list(range(len(other) + 1))
    for n, a in enumerate(one, 1):
        above, row[0] = row[0], n
        for m, b in enumerate(other, 1):
            above, row[m] = row[m], min(row[m] + 1, row[m - 1] + 1, above + (a != b))
    return row[-1]


def anything(name: str, value: Any) -> None:
    """Accept any value: another module checks it."""


def flag(name: str, value: Any) -> ApiError | None:
    """Return the error of a value that is not a boolean, or None."""
    return None if isinstance(value, bool) else refusals.invalid_type(name, "a boolean", value)


def text(most: float = inf) -> Check:
    """Return the check of a string with at most so many characters."""

    def check(name: str, value: Any) -> ApiError | None:
        if not isinstance(value, str):
            return refusals.invalid_type(name, "a string", value)
        return refusals.too_long(name, value, most, "shorten it.")

    return check


def integer(least: float, most: float = inf) -> Check:
    """Return the check of an integer with bounds."""
    return lambda name, value: _number_error(name, value, least, most, "integer")


def decimal(least: float, most: float) -> Check:
    """Return the check of a number with bounds."""
    return lambda name, value: _number_error(name, value, least, most, "decimal")


def one_of(*values: str, also: Sequence[str] = (), types: str = "one of {}", refusal: str = "") -> Check:
    """Return the check of a string with fixed values.

    Args:
        also: further values that the API's messages don't list.
        refusal: the API's message for another value, if it is not the usual one.
        types: how the API names the expected types, with {} for the values.
    """

    def check(name: str, value: Any) -> ApiError | None:
        if not isinstance(value, str):
            return refusals.invalid_type(name, types.format(refusals.listed(values, "or")), value)
        if value in (*values, *also):
            return None
        hint = f"choose one of {refusals.listed(values, 'or')}."
        return (
            refusals.bad_request(refusal, hint, name) if refusal else refusals.invalid_value(name, value, values, hint)
        )

    return check


def record(**fields: Check) -> Check:
    """Return the check of an object with only these fields."""

    def check(name: str, value: Any) -> ApiError | None:
        if not isinstance(value, dict):
            return refusals.invalid_type(name, "an object", value)
        if unknown := next((field for field in value if field not in fields), None):
            return refusals.unknown_parameter(f"{name}.{unknown}", f"'{name}' has {', '.join(fields)}.")
        named = {f"{name}.{field}": part for field, part in value.items()}
        return next(errors(named, {f"{name}.{field}": part for field, part in fields.items()}), None)

    return check


def _number_error(name: str, value: Any, least: float, most: float, kind: str) -> ApiError | None:
    kinds = (int,) if kind == "integer" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        return refusals.invalid_type(name, "an integer" if kind == "integer" else "a decimal", value)
    if value < least:
        return refusals.number_below(name, value, least, kind)
    return refusals.number_above(name, value, most, kind) if value > most else None


def _object_error(name: str, value: Any) -> ApiError | None:
    return None if isinstance(value, dict) else refusals.invalid_type(name, "an object", value)


def _objects_error(name: str, value: Any) -> ApiError | None:
    fits = isinstance(value, list) and all(isinstance(part, dict) for part in value)
    return None if fits else refusals.invalid_type(name, "an array of objects", value)


def _conversation_error(name: str, value: Any) -> ApiError | None:
    return None if isinstance(value, str) else record(id=text())(name, value)


def metadata_error(at: str, value: Any) -> ApiError | None:
    """Return the error of metadata, or None."""
    if not isinstance(value, dict):
        return refusals.invalid_type(at, "a metadata object", value)
    if len(value) > MOST_METADATA:
        expected = f"Expected an object with at most {MOST_METADATA} properties"
        says = f"Invalid '{at}': too many properties. {expected}, but got an object with {len(value)} properties"
        return refusals.bad_request(f"{says} instead.", "leave some out.", at, "object_above_max_properties")
    for name, part in value.items():
        if len(name) > LONGEST_METADATA_KEY:
            expected = f"Expected a string with maximum length {LONGEST_METADATA_KEY}, but got a string with length"
            says = f"Invalid property name in '{at}': '{name[:3]}...{name[-3:]}' is too long. {expected} {len(name)} instead."
            return refusals.bad_request(says, "shorten the key.", f"{at}.{name}", "property_name_above_max_length")
        if error := text(LONGEST_METADATA_VALUE)(f"{at}.{name}", part):
            return error
    return None


def _stop_error(name: str, value: Any) -> ApiError | None:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        return refusals.invalid_type(name, "a string or an array of non-empty strings", value)
    return refusals.too_long(name, stops, 4, "give at most four stop sequences.")


def _include_error(name: str, value: Any) -> ApiError | None:
    if not isinstance(value, list):
        short = refusals.listed([f"{item[:3]}...{item[-3:]}" for item in INCLUDABLE], "or")
        return refusals.invalid_type(name, f"an array of one of {short}", value)
    unknown = [(index, item) for index, item in enumerate(value) if item not in INCLUDABLE]
    return (
        refusals.invalid_value(f"{name}[{unknown[0][0]}]", unknown[0][1], INCLUDABLE, "choose from these.")
        if unknown
        else None
    )


def _with(field: str) -> Check:
    """Return the check of an object that needs a field."""

    def check(name: str, value: Any) -> ApiError | None:
        if not isinstance(value, dict):
            return _object_error(name, value)
        return (
            refusals.missing_parameter(f"{name}.{field}", f"'{name}' needs it.") if value.get(field) is None else None
        )

    return check


SERVICE_TIER = one_of("auto", "default", "fast", "flex", "priority", also=("scale", "ultrafast"))
VERBOSITY = one_of("low", "medium", "high")
RETENTIONS = ("in_memory", "24h")
PENALTY = decimal(-2, 2)

CHAT: Mapping[str, Check] = {
    "model": text(),
    **dict.fromkeys(("messages", "functions", "function_call", "tools", "tool_choice"), anything),
    "parallel_tool_calls": flag,
    "max_completion_tokens": integer(1),
    "n": integer(1, 128),
    "temperature": decimal(0, 2),
    "top_p": decimal(0, 1),
    "presence_penalty": PENALTY,
    "frequency_penalty": PENALTY,
    "logprobs": flag,
    "top_logprobs": integer(0, 20),
    "user": text(),
    "seed": integer(-(2**63), 2**63 - 1),
    "moderation": _with("model"),
    "safety_identifier": text(128),
    "prompt_cache_options": record(mode=one_of("implicit", "explicit"), ttl=one_of("30m")),
    "prompt_cache_key": text(64),
    "prompt_cache_retention": one_of(*RETENTIONS, refusal="Invalid prompt_cache_retention argument"),
    "response_format": anything,
    "service_tier": SERVICE_TIER,
    "max_tokens": integer(1),
    "reasoning_effort": one_of(*EFFORTS),
    "logit_bias": _object_error,
    "stop": _stop_error,
    "stream": flag,
    "stream_options": record(include_usage=flag, include_obfuscation=flag),
    "store": flag,
    "metadata": metadata_error,
    "prediction": record(type=one_of("content"), content=anything),
    "verbosity": VERBOSITY,
    **dict.fromkeys(("audio", "modalities", "web_search_options"), anything),
}
RESPONSES: Mapping[str, Check] = {
    "model": text(),
    "input": anything,
    "previous_response_id": text(),
    "prompt": _with("id"),
    "moderation": _with("model"),
    "include": _include_error,
    **dict.fromkeys(("tools", "tool_choice"), anything),
    "metadata": metadata_error,
    "text": record(format=anything, verbosity=VERBOSITY),
    "temperature": decimal(0, 2),
    "top_p": decimal(0, 1),
    "presence_penalty": PENALTY,
    "frequency_penalty": PENALTY,
    "parallel_tool_calls": flag,
    "stream": flag,
    "stream_options": record(include_obfuscation=flag),
    "background": flag,
    "max_output_tokens": integer(16),
    "max_tool_calls": integer(1),
    "reasoning": record(
        effort=one_of(*EFFORTS, types="one of one of {} or integer"),
        summary=one_of("concise", "detailed", "auto"),
        context=one_of("auto", "current_turn", "all_turns"),
        mode=one_of("standard", "pro"),
    ),
    "user": text(),
    "safety_identifier": text(128),
    "prompt_cache_options": record(
        mode=one_of("implicit", "explicit"), ttl=one_of("30m", "12h"), comparison_response_id=text(), prewarm=flag
    ),
    "prompt_cache_key": text(64),
    "prompt_cache_retention": one_of(*RETENTIONS),
    "truncation": one_of("auto", "disabled"),
    "instructions": text(),
    "store": flag,
    "service_tier": SERVICE_TIER,
    "top_logprobs": integer(0, 20),
    "context_management": _objects_error,
    "conversation": _conversation_error,
    **dict.fromkeys(("image", "access_programs", "background_options"), anything),
}
