"""The JSON schemas that structured outputs and strict tools accept, and those of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mock_llm.types import ApiError

from .fields import invalid

NUMBERS = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split())
UNSUPPORTED: Mapping[str, frozenset[str]] = {
    "integer": NUMBERS,
    "number": NUMBERS,
    "string": frozenset({"minLength", "maxLength"}),
    "array": frozenset({"maxItems", "uniqueItems", "contains"}),
}
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def structured_error(schema: Any, at: str) -> ApiError | None:
    """Return the API's error for the schema of a structured output or of a strict tool, or None."""
    return next((invalid(f"{at}: {what}") for what in _problems(schema)), None)


def tool_error(tool: Mapping[str, Any], at: str) -> ApiError | None:
    """Return the API's error for the schema of a tool, or None."""
    schema, path = tool["input_schema"], f"{at}.custom.input_schema"
    if "type" not in schema:
        return invalid(f"{path}.type: Field required")
    if schema["type"] != "object":
        return invalid(f"{path}.type: Input should be 'object'")
    if {"oneOf", "allOf", "anyOf"} & schema.keys():
        return invalid(f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level")
    properties = schema.get("properties") or {}
    if isinstance(properties, dict) and not all(map(PROPERTY.fullmatch, properties)):
        return invalid(f"{path}.properties: Property keys should match pattern '^{PROPERTY.pattern}$'")
    return structured_error(schema, f"{at}.custom") if tool.get("strict") else None


def _problems(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind == "object" and schema.get("additionalProperties") is not False:
            yield "For 'object' type, 'additionalProperties' must be explicitly set to false"
        refused = sorted(UNSUPPORTED.get(kind, frozenset()) & schema.keys()) if isinstance(kind, str) else []
        if len(refused) > 1:
            yield f"For '{kind}' type, properties {', '.join(refused)} are not supported"
        elif refused:
            yield f"For '{kind}' type, property '{refused[0]}' is not supported"
        if kind == "array" and schema.get("minItems", 0) not in (0, 1):
            yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    for name in ("properties", "$defs", "definitions"):
        parts = schema.get(name)
        for part in parts.values() if isinstance(parts, dict) else ():
            yield from _problems(part)
    for name in ("anyOf", "allOf"):
        variants = schema.get(name)
        for part in variants if isinstance(variants, list) else ():
            yield from _problems(part)
    yield from _problems(schema.get("items"))
