"""The messages with which the API refuses a request, each with an explanation for learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mock_llm.types import SCRIPT_ERROR, ApiError


def bad_request(
    message: str, hint: str, param: str | None = None, code: str | None = None, status: int = 400
) -> ApiError:
    """Return the real API's error, 400 by default."""
    return ApiError(status, message, param=param, code=code, hint=hint)


def not_an_object() -> ApiError:
    """The body is JSON, but not an object."""
    return bad_request("We could not parse the JSON body of your request: it is not an object.", "send a JSON object.")


def missing_parameter(name: str, hint: str) -> ApiError:
    """A required parameter is missing."""
    return bad_request(f"Missing required parameter: '{name}'.", hint, name, "missing_required_parameter")


def unknown_parameter(name: str, hint: str, near: Sequence[str] = ()) -> ApiError:
    """The API has no such parameter; `near` are those of its parameters that it suggests."""
    question = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return bad_request(f"Unknown parameter: '{name}'.{question}", hint, name, "unknown_parameter")


def invalid_type(name: str, expected: str, value: Any, hint: str = "") -> ApiError:
    """A value has the wrong JSON type; `expected` includes the article: "a decimal"."""
    message = f"Invalid type for '{name}': expected {expected}, but got {type_name(value)} instead."
    return bad_request(message, hint or f"'{name}' takes {expected}.", name, "invalid_type")


def invalid_value(name: str, value: Any, supported: Sequence[str], hint: str) -> ApiError:
    """A value is not among the supported ones."""
    message = f"Invalid value: {value!r}. Supported values are: {listed(supported)}."
    return bad_request(message, hint, name, "invalid_value")


def listed(values: Sequence[str], last: str = "and") -> str:
    """Return values as the API lists them: "'a'", "'a' and 'b'", "'a', 'b', and 'c'"."""
    *most, end = map(repr, values)
    return f"{', '.join(most)}{',' if len(most) > 1 else ''}{f' {last} ' if most else ''}{end}"


def _invalid(name: str, what: str, expected: str, got: str, hint: str, code: str) -> ApiError:
    message = f"Invalid '{name}': {what}. Expected {expected}, but got {got} instead."
    return bad_request(message, hint, name, code)


def number_above(name: str, value: float, most: float, kind: str) -> ApiError:
    """A number is too large; `kind` is "integer" or "decimal"."""
    what, hint = f"{kind} above maximum value", f"the bound is {most}."
    return _invalid(name, what, f"a value <= {most}", str(value), hint, f"{kind}_above_max_value")


def number_below(name: str, value: float, least: float, kind: str) -> ApiError:
    """A number is too small."""
    what, hint = f"{kind} below minimum value", f"the bound is {least}."
    return _invalid(name, what, f"a value >= {least}", str(value), hint, f"{kind}_below_min_value")


def invalid_name(name: str, value: Any) -> ApiError:
    """A name contains characters other than letters, digits, _ and -."""
    pattern = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    message = f"Invalid '{name}': string does not match pattern. {pattern}"
    return bad_request(
        message, f"{value!r} needs another name: at most 64 letters, digits, _ and -.", name, "invalid_value"
    )


def empty_text(name: str, hint: str) -> ApiError:
    """A string is empty, but the API requires at least one character."""
    return _invalid(name, "empty string", "a string with minimum length 1", "an empty string", hint, "empty_string")


def empty_array(name: str, hint: str) -> ApiError:
    """A list is empty, but the API requires at least one item."""
    return _invalid(name, "empty array", "an array with minimum length 1", "an empty array", hint, "empty_array")


def too_long(name: str, value: str | Sequence[Any], most: float, hint: str) -> ApiError | None:
    """Return the error of a string with too many characters or of a list with too many items, or None."""
    if len(value) <= most:
        return None
    kind, got = ("string", "a string") if isinstance(value, str) else ("array", "an array")
    expected, got = f"{got} with maximum length {most}", f"{got} with length {len(value)}"
    return _invalid(name, f"{kind} too long", expected, got, hint, f"{kind}_above_max_length")


def type_name(value: Any) -> str:
    """Return a JSON value's type as the API's errors name it: "a string", "null"."""
    names: dict[type, str] = {str: "a string", bool: "a boolean", int: "an integer", float: "a decimal number"}
    return (names | {list: "an array", dict: "an object"}).get(type(value), "null")


def not_supported(what: str, hint: str, param: str | None = None, status: int = 400) -> ApiError:
    """The real API would accept this, but the scripted model does not support it, and reports that instead of
    ignoring it.
    """
    # If the mock ignored this, an agent could pass here and behave differently on the real API.
    message = f"{what} is not supported by mock_llm: {hint}"
    return ApiError(status, message, SCRIPT_ERROR, param, "not_supported")
