"""The words of refusal: the real API's own sentences, each with a line that explains it to a learner."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .exchange import ApiError

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def refuse(message: str, hint: str, param: str | None = None, code: str | None = None) -> ApiError:
    """The 400 that the real API gives, in its words, with a hint on a line of its own."""
    return ApiError(400, f"{message}\n[mock_llm] {hint}", param=param, code=code)


def missing(name: str, hint: str) -> ApiError:
    """A parameter that must be there is not."""
    return refuse(f"Missing required parameter: '{name}'.", hint, name, "missing_required_parameter")


def unknown(name: str, hint: str) -> ApiError:
    """A parameter that the API does not have."""
    return refuse(f"Unknown parameter: '{name}'.", hint, name, "unknown_parameter")


def wrong_type(name: str, expected: str, value: Any, hint: str = "") -> ApiError:
    """A value of the wrong JSON type; `expected` has its article: "a decimal"."""
    message = f"Invalid type for '{name}': expected {expected}, but got {named(value)} instead."
    return refuse(message, hint or f"'{name}' takes {expected}.", name, "invalid_type")


def wrong_value(name: str, value: Any, supported: Sequence[str], hint: str) -> ApiError:
    """A value that is none of those that the API knows."""
    *most, last = map(repr, supported)
    message = f"Invalid value: {value!r}. Supported values are: {', '.join(most)}, and {last}."
    return refuse(message, hint, name, "invalid_value")


def wrong_name(name: str, value: Any) -> ApiError:
    """A name that is not made of letters, digits, _ and -."""
    pattern = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    message = f"Invalid '{name}': string does not match pattern. {pattern}"
    return refuse(
        message, f"{value!r} needs another name: letters, digits, _ and -, 64 at most.", name, "invalid_value"
    )


def empty_array(name: str, hint: str) -> ApiError:
    """A list without items, where the API wants one at least."""
    expected = "Expected an array with minimum length 1, but got an empty array instead."
    return refuse(f"Invalid '{name}': empty array. {expected}", hint, name, "empty_array")


def named(value: Any) -> str:
    """A JSON value's type as the API's errors name it: "a string", "null"."""
    names: dict[type, str] = {str: "a string", bool: "a boolean", int: "an integer", float: "a decimal"}
    return (names | {list: "an array", dict: "an object"}).get(type(value), "null")


def unsupported(what: str, hint: str, param: str | None = None, status: int = 400) -> ApiError:
    """The real API would accept this, the scripted model can't: say so instead of ignoring it."""
    message = f"{what} is not supported by mock_llm: {hint}"
    return ApiError(status, message, "mock_llm_error", param, "not_supported")


def unscripted(code: str, message: str) -> ApiError:
    """The script has no single fit answer. The real API never says 422, so the two can't be mixed up."""
    return ApiError(422, message, "mock_llm_error", None, code)
