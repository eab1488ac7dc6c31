"""The schemas that the API accepts for a tool that is not strict: valid ones, with an object at the root and complete
arrays.
"""

from __future__ import annotations

from typing import Any

from .keywords import keyword_error, parts
from .strict import HINTS, Path, StrictModeError, missing_items_error

NOT_AT_THE_ROOT = ("oneOf", "anyOf", "allOf", "enum", "not")


def loose_mode_error(schema: dict[str, Any]) -> StrictModeError | None:
    """Return the API's message and a fix if a schema is refused for a tool that is not strict; None if it is
    accepted.
    """
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'.", HINTS[
            "root"
        ]
    if any(keyword in schema for keyword in NOT_AT_THE_ROOT):
        keywords = "/".join(map(repr, NOT_AT_THE_ROOT))
        return f"schema must have type 'object' and not have {keywords} at the top level.", HINTS["root"]
    if message := keyword_error(schema):
        return message, HINTS["invalid"]
    if "properties" not in schema:
        return "In context=(), object schema missing properties.", 'a tool without parameters has "properties": {}'
    return _array_error(schema, ())


def _array_error(schema: Any, path: Path) -> StrictModeError | None:
    if not isinstance(schema, dict):
        return None
    inside = (_array_error(part, (*path, *at)) for at, part in parts(schema))
    return missing_items_error(schema, path) or next(filter(None, inside), None)
