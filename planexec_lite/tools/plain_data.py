"""Arguments and results as plain data: the same value gives the same text, in every process."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python


def plain(value: Any) -> Any:
    """Return `value` as data for JSON. Sets are sorted, 3.0 is 3, and what JSON can't hold becomes text."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value if value - value == 0 else repr(value)
    if isinstance(value, dict):
        return {plain(str(name)): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(part) for part in value), key=text_of)
    try:
        return plain(to_jsonable_python(value))
    except Exception:  # an object of any class: its own methods may raise anything
        return f"a {type(value).__name__}"


def text_of(value: Any) -> str:
    """Return `value` as JSON text in one line, with names in alphabetical order."""
    return json.dumps(plain(value), sort_keys=True)
