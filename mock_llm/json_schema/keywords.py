"""What JSON Schema itself requires of the values of keywords, in the words of the validator that the API uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .validation import TYPES, has_type

# Keywords with a schema, with a list of schemas, and with named schemas; then the others by the type of their values.
ONE = ("items", "additionalProperties", "not", "contains", "if", "then", "else", "propertyNames")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "$defs", "definitions")
KINDS = {
    **dict.fromkeys(NAMED, "object"),
    **dict.fromkeys((*LISTS, "enum", "required", "examples"), "array"),
    **dict.fromkeys(("title", "description", "pattern", "format", "$ref", "$id", "$schema", "$comment"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), "integer"),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), "boolean"),
}


def keyword_error(schema: Any) -> str | None:
    """Return the API's message if a schema has a keyword with a value that JSON Schema doesn't allow, or None."""
    if not isinstance(schema, dict):
        return None if isinstance(schema, bool) else f"{schema!r} is not of type 'object', 'boolean'."
    kinds = schema.get("type", "object")
    names = kinds if isinstance(kinds, list) else [kinds]
    if not names or not all(isinstance(name, str) and name in TYPES for name in names):
        return f"{kinds!r} is not valid under any of the given schemas."
    for keyword, value in schema.items():
        if keyword in KINDS and not has_type(value, KINDS[keyword]):
            return f"{value!r} is not of type '{KINDS[keyword]}'."
        if keyword in LISTS and not value:
            return "[] should be non-empty."
    for name in schema.get("required", ()):
        if not isinstance(name, str):
            return f"{name!r} is not of type 'string'."
    return next((error for _, part in parts(schema) if (error := keyword_error(part))), None)


def parts(schema: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the schemas inside a valid schema, each with its path."""
    for keyword, value in schema.items():
        if keyword in ONE:
            yield (keyword,), value
        elif keyword in LISTS:
            yield from (((keyword, str(index)), part) for index, part in enumerate(value))
        elif keyword in NAMED:
            yield from (((keyword, name), part) for name, part in value.items())
