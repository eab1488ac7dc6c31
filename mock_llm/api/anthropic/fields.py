"""Checks of JSON values in the words of Anthropic's API, such as "messages.0.content.1.tool_use.id: Field required".

A check takes a value and its path, and returns the API's error or None. Checks are combined to the shape of a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from mock_llm.api import refusals
from mock_llm.types import ApiError

Check = Callable[[Any, str], ApiError | None]


def invalid(message: str) -> ApiError:
    """Return the API's 400 error."""
    return ApiError(400, message)


def anything(value: Any, at: str) -> ApiError | None:
    """Accept every value."""
    return None


def an_object(value: Any, at: str) -> ApiError | None:
    """Accept every object."""
    return None if isinstance(value, dict) else _wrong(at, "Input should be an object")


def flag(value: Any, at: str) -> ApiError | None:
    """Accept true and false."""
    return None if isinstance(value, bool) else _wrong(at, "Input should be a valid boolean")


def unsupported(value: Any, at: str) -> ApiError | None:
    """Refuse a field that the real API accepts, unless it is null or false."""
    return None if value in (None, False) else refusals.not_supported(f"'{at}'", "leave it out.")


def no_thread(value: Any, at: str) -> ApiError | None:
    """Refuse a thread with the code of requests that can't have one: then the client's tool runner sends the whole conversation."""
    hint = "mock_llm keeps no threads; the client goes on without one, or with unsupported_request_behavior='continue_unthreaded'."
    error = ApiError(400, f"{at}: this request can't be part of a thread", code="thread_unsupported_request", hint=hint)
    return None if value is None else error


def text(pattern: str = "", least: int = 0, most: int | None = None) -> Check:
    """Return a check for strings that match a pattern and have so many characters."""

    def check(value: Any, at: str) -> ApiError | None:
        if not isinstance(value, str):
            return _wrong(at, "Input should be a valid string")
        if len(value) < least:
            return _wrong(at, f"String should have at least {least} character{'s' * (least > 1)}")
        if most is not None and len(value) > most:
            return _wrong(at, f"String should have at most {most} characters")
        if pattern and not re.fullmatch(pattern, value):
            return _wrong(at, f"String should match pattern '^{pattern}$'")
        return None

    return check


def number(least: float, most: float | None = None, *, whole: bool = False) -> Check:
    """Return a check for numbers within bounds; `whole` for integers only."""

    def check(value: Any, at: str) -> ApiError | None:
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            return _wrong(at, f"Input should be a valid {'integer' if whole else 'number'}")
        if value < least:
            return _wrong(at, f"Input should be greater than or equal to {least}")
        if most is not None and value > most:
            return _wrong(at, f"Input should be less than or equal to {most}")
        return None

    return check


def one_of(*values: str) -> Check:
    """Return a check for one of these strings."""
    *first, last = map(repr, values)
    named = f"{', '.join(first)} or {last}" if first else last
    return lambda value, at: None if value in values else _wrong(at, f"Input should be {named}")


def nullable(check: Check) -> Check:
    """Return a check that accepts null too."""
    return lambda value, at: None if value is None else check(value, at)


def items(check: Check) -> Check:
    """Return a check for arrays whose items pass a check."""

    def check_all(value: Any, at: str) -> ApiError | None:
        if not isinstance(value, list):
            return _wrong(at, "Input should be a valid array")
        return next((error for n, item in enumerate(value) if (error := check(item, f"{at}.{n}"))), None)

    return check_all


def text_or(blocks: Check) -> Check:
    """Return a check for a string, or an array of blocks."""
    return lambda value, at: None if isinstance(value, str) else blocks(value, at)


def record(required: Mapping[str, Check], optional: Mapping[str, Check]) -> Check:
    """Return a check for objects with these fields and no others."""
    known = {**required, **optional}

    def check(value: Any, at: str) -> ApiError | None:
        if not isinstance(value, dict):
            return _wrong(at, "Input should be an object")
        start = f"{at}." if at else ""
        for name, inner in known.items():
            if name not in value:
                if name in required:
                    return _wrong(f"{start}{name}", "Field required")
            elif error := inner(value[name], f"{start}{name}"):
                return error
        unknown = next((name for name in value if name not in known), None)
        return None if unknown is None else _wrong(f"{start}{unknown}", "Extra inputs are not permitted")

    return check


def tagged(variants: Mapping[str, Check], default: str | None = None) -> Check:
    """Return a check for objects whose `type` selects their shape. The path of an error contains the type."""

    def check(value: Any, at: str) -> ApiError | None:
        if not isinstance(value, dict):
            return _wrong(at, "Input should be an object")
        tag = default if value.get("type") is None else value["type"]
        if tag is None:
            return _wrong(f"{at}.type", "Field required")
        if not isinstance(tag, str) or tag not in variants:
            expected = ", ".join(map(repr, sorted(variants)))
            text = f"Input tag {tag!r} found using 'type' does not match any of the expected tags: {expected}"
            return _wrong(at, text)
        return variants[tag](value, f"{at}.{tag}")

    return check


def _wrong(at: str, what: str) -> ApiError:
    return invalid(f"{at}: {what}" if at else what)
