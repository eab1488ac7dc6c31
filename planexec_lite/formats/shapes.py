"""From text to checked data: JSON in, the declared shape out, and a fault that says where and how to mend it."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from planexec_lite.plan import PlanError, Problem

T = TypeVar("T")


def fault(message: str, mend: str, code: str = "wrong_shape") -> PlanError:
    """Return the error that says what can't be read, where, and how to mend it."""
    return PlanError([Problem(code, None, message, mend)])


def load(text: str) -> Any:
    """Return what JSON `text` holds; raise `PlanError` with the line when it is not JSON."""
    try:
        return from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:
        raise fault(
            f"this is not JSON: {error}", "pass one plan at a time, and nothing around it", "not_json"
        ) from None


def shaped(kind: type[T], data: Any, shape: str) -> T:
    """Return `data` as a `kind`; raise `PlanError` with every item that does not fit and the right `shape`."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        errors = [(".".join(map(str, e["loc"])) or "it", e["msg"]) for e in error.errors(include_url=False)]
        raise PlanError(Problem("wrong_shape", None, f"{where}: {what}", shape) for where, what in errors) from None


def plain(value: Any) -> Any:
    """Return `value` as JSON holds it; raise `ValueError` when JSON can't: a set, bytes, infinity, half a character."""
    try:
        return from_json(json.dumps(value, allow_nan=False))
    except TypeError as error:
        raise ValueError(str(error)) from None
