"""Results of steps as data: what a tool returns is saved, copied, sent and put into prompts, so it must be JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_jsonable_python

from planexec_lite.plan.data import fixed
from planexec_lite.plan.step import Step
from planexec_lite.tools import ToolError

_NUMBERS = (bool, int, float)
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any, config={"defer_build": True})


def as_data(value: Any, step: Step) -> Any:
    """Return the result of `step` as immutable JSON data.

    Models and dataclasses become objects, tuples lists, sets sorted lists. Raises `ToolError` for a value that JSON
    can't represent.
    """
    if _is_plain(value):
        return value
    try:
        return fixed(_data(value))
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        cause = str(error).splitlines()[0]
        tool = "" if step.tool is None else f": {step.tool}"
        kind = type(value).__name__
        raise ToolError(
            f"step {step.id}{tool} returned a value of type {kind}, which JSON can't hold ({cause}); return data"
        ) from None


def _is_plain(value: Any) -> bool:
    """Whether `value` is JSON as it is: the fast path for most results."""
    if type(value) is str:
        return value.isascii()
    return value is None or (type(value) in _NUMBERS and abs(value) < 2**63)


def _data(value: Any) -> Any:
    if isinstance(value, int | float):  # a subclass of a number, nan, or a large number
        return json.loads(json.dumps(value, allow_nan=False))
    data = to_jsonable_python(_ordered(_ANYTHING.dump_python(value)))
    # a string can contain characters that can't be saved
    json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    return data


def _ordered(value: Any) -> Any:
    """Sort the sets at any depth, because their order changes from process to process."""
    if isinstance(value, set | frozenset):
        parts = [_ordered(part) for part in value]
        try:
            return sorted(parts)
        except TypeError:
            return sorted(parts, key=repr)
    if isinstance(value, Mapping):
        has_other_keys = any(type(key) is not str for key in value)
        if has_other_keys and len(to_jsonable_python(dict.fromkeys(value))) < len(value):
            raise ValueError("two of its keys are the same in JSON")
        return {key: _ordered(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_ordered(part) for part in value]
    return value
