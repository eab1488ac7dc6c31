"""The schemas that `strict: true` accepts: closed objects, every property required, and only a few keywords.

Rules and messages follow OpenAI's guide "Structured model outputs", its SDKs and the API's errors. The API accepts
`prefixItems` but does not use it: an array needs `items`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .keywords import keyword_error, parts
from .validation import resolve

ALLOWED = frozenset(
    "type properties required additionalProperties items prefixItems enum const anyOf $ref $defs definitions $schema $id "
    "$comment description title default examples readOnly writeOnly pattern format minLength maxLength minimum maximum "
    "exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems".split()
)
FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())

HINTS = {
    "additionalProperties": 'give every object "additionalProperties": false, so that the model can add nothing',
    "required": 'list every property in "required"; an optional one is written as a union with null',
    "$ref": "put the other keywords into the definition that the $ref names",
    "invalid": "use each keyword as JSON Schema defines it",
    "root": "wrap the value in an object with one property",
    "permitted": "strict schemas allow only a few keywords; describe the rule in a description, and check the value yourself",
    "type": 'add a "type", or use anyOf, enum, const or $ref',
    "format": f"strict schemas allow these formats: {', '.join(sorted(FORMATS))}; describe others in a description",
    "size": "make the schema smaller: at most 10 levels, 5000 properties, 1000 values of enums, and 120,000 characters of "
    "names and values; a list of more than 250 values has at most 15,000 characters",
}

Path = tuple[str, ...]
StrictModeError = tuple[str, str]  # the API's message, and a fix


def strict_mode_error(schema: Any) -> StrictModeError | None:
    """Return the API's message and a fix if strict mode refuses a schema; None if it is accepted."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        got = schema.get("type") if isinstance(schema, dict) else schema
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{got}\"'.", HINTS["root"]
    if message := keyword_error(schema):
        return message, HINTS["invalid"]
    if "anyOf" in schema:
        return "In context=(), 'anyOf' is not permitted at the root.", HINTS["root"]
    for measure, text, most in LIMITS:
        if (size := measure(schema)) > most:
            return text.format(size=size, most=most), HINTS["size"]
    return _error(schema, (), schema)


def missing_items_error(schema: dict[str, Any], path: Path) -> StrictModeError | None:
    """Return the error of an array without `items`, in strict mode or not."""
    kinds = schema.get("type")
    if "items" in schema or not (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)):
        return None
    at = path if kinds == "array" else (*path, "type", str(list(kinds or ()).index("array")))
    return f"In context={at}, array schema missing items.", "add a schema for the array's items"


def _error(schema: Any, path: Path, root: Any) -> StrictModeError | None:
    context = f"In context={path}, "
    if not isinstance(schema, dict):
        return f"{context}{schema!r} is not of type 'object'.", HINTS["type"]
    for keyword in schema:
        if keyword not in ALLOWED and not (keyword == "discriminator" and "anyOf" in schema):
            return f"{context}'{keyword}' is not permitted.", HINTS["permitted"]
    if "$ref" in schema:
        if others := sorted(set(schema) - {"$ref"} - {"$defs", "definitions"}):
            return f"context={path}, $ref cannot have keywords {{{', '.join(map(repr, others))}}}.", HINTS["$ref"]
        if resolve(schema["$ref"], root) is None:
            return f"{context}reference can't be resolved: {schema['$ref']!r}.", "define it under $defs"
    elif not {"type", "anyOf", "enum", "const"} & set(schema):
        return f"{context}schema must have a 'type' key.", HINTS["type"]
    if "format" in schema and str(schema["format"]) not in FORMATS:
        at = path if isinstance(schema.get("type"), str) else (*path, "type", "0")
        return f"In context={at}, {schema['format']!r} is not a valid format.", HINTS["format"]
    inside = (
        _error(part, (*path, *at), root)
        for at, part in parts(schema)
        if at[0] not in ("additionalProperties", "prefixItems")
    )
    own = _object_error(schema, path, context) or missing_items_error(schema, path)
    return own or next(filter(None, inside), None)


def _object_error(schema: dict[str, Any], path: Path, context: str) -> StrictModeError | None:
    kinds = schema.get("type", ())
    if "object" not in ([kinds] if isinstance(kinds, str) else kinds):
        return None
    if schema.get("additionalProperties") is not False:
        text = "'additionalProperties' is required to be supplied and to be false."
        return context + text, HINTS["additionalProperties"]
    properties = schema.get("properties", {})
    required = schema.get("required", [] if not properties else None)
    text = "'required' is required to be supplied and to be an array including every key in properties."
    if required is None:
        return context + text, HINTS["required"]
    for name in properties:
        if name not in required:
            return f"{context}{text} Missing '{name}'.", HINTS["required"]
    for name in required:
        if name not in properties:
            return f"{context}{text} Extra required key '{name}' supplied.", HINTS["required"]
    return None


def _depth(schema: Any) -> int:
    if not isinstance(schema, dict):
        return 0
    # Only properties add a level of nesting; definitions don't.
    return max((_depth(part) + (at[0] == "properties") for at, part in parts(schema)), default=0)


def _count(keyword: str) -> Callable[[Any], int]:
    def count(schema: Any) -> int:
        if not isinstance(schema, dict):
            return 0
        return len(schema.get(keyword, ())) + sum(count(part) for _, part in parts(schema))

    return count


# The guide states these two limits; the words are not those of the API, which no public source quotes.
STRINGS = "Expected at most {most} characters in total in"
RECEIVED = "when using structured outputs, but received {size}."


def _characters(schema: Any) -> int:
    """Count the characters of the names of properties and definitions, and of the values of `enum` and `const`."""
    if not isinstance(schema, dict):
        return 0
    names = [name for keyword in ("properties", "$defs", "definitions") for name in schema.get(keyword, ())]
    values = [*schema.get("enum", ()), schema.get("const", "")]
    own = sum(len(text) for text in (*names, *values) if isinstance(text, str))
    return own + sum(_characters(part) for _, part in parts(schema))


def _longest_enum(schema: Any) -> int:
    """Count the characters of the longest enum with more than 250 values, all of them strings."""
    if not isinstance(schema, dict):
        return 0
    values = schema.get("enum", ())
    many = len(values) > 250 and all(isinstance(value, str) for value in values)
    inside = max((_longest_enum(part) for _, part in parts(schema)), default=0)
    return max(sum(map(len, values)) if many else 0, inside)


LIMITS: Sequence[tuple[Callable[[Any], int], str, int]] = (
    (_depth, "{size} levels of nesting exceeds limit of {most}.", 10),
    (_count("properties"), "{size} parameters exceed the limit of {most}.", 5000),
    (
        _count("enum"),
        "Expected at most {most} enum values in total within a single schema when using structured outputs, but received "
        "{size}. Consider reducing the number of enums, or use 'strict: false' to opt out of structured outputs.",
        1000,
    ),
    (_characters, f"{STRINGS} names and values {RECEIVED}", 120_000),
    (_longest_enum, f"{STRINGS} the values of one enum {RECEIVED}", 15_000),
)
