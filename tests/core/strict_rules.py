"""The rules of OpenAI's strict structured output, as an independent check.

Sources: the guide "Structured model outputs" (supported schemas); openai/openai-python#2193 about equal first keys in anyOf.
"""

from collections.abc import Iterator
from typing import Any

TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
COMMON = {"type", "description", "title", "enum", "const", "anyOf"}
KEYWORDS = {
    "string": {"pattern", "format"},
    "number": {"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "integer": {"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
}


def faults(schema: Any) -> list[str]:
    """Everything for which strict mode would reject `schema`."""
    messages = list(_faults(schema, "$", 0))
    if schema.get("type") != "object" or "anyOf" in schema:
        messages.append("$: the root is an object and no anyOf")
    nodes = list(_nodes(schema))
    properties = [name for node in nodes for name in node.get("properties", {})]
    choices = [choice for node in nodes for choice in node.get("enum", [])]
    if len(properties) > 5000 or len(choices) > 1000:
        messages.append(f"$: {len(properties)} properties (at most 5000), {len(choices)} enum values (at most 1000)")
    if sum(len(str(text)) for text in properties + choices) > 120_000:
        messages.append("$: names and choices have more than 120,000 characters")
    return messages


def _nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for part in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        yield from _nodes(part)
    if isinstance(schema.get("items"), dict):
        yield from _nodes(schema["items"])


def _faults(schema: Any, at: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{at}: {schema!r} is no schema"
        return
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not kinds and not {"anyOf", "enum", "const"} & schema.keys():
        yield f"{at}: no type"
    for kind in kinds:
        if kind not in TYPES:
            yield f"{at}: unknown type {kind!r}"
    for keyword in schema.keys() - COMMON - set().union(*(KEYWORDS.get(kind, set()) for kind in kinds)):
        yield f"{at}: {keyword!r} is not permitted here"
    if "format" in schema and schema["format"] not in FORMATS:
        yield f"{at}: {schema['format']!r} is not a valid format"
    if "enum" in schema and not schema["enum"]:
        yield f"{at}: an empty enum"
    if "object" in kinds:
        depth += 1
        if depth > 10:
            yield f"{at}: more than 10 levels"
        if schema.get("additionalProperties") is not False:
            yield f"{at}: not closed"
        if sorted(schema.get("required", [])) != sorted(schema.get("properties", {})):
            yield f"{at}: not every property is required"
        for name, part in schema.get("properties", {}).items():
            yield from _faults(part, f"{at}.{name}", depth)
    if "array" in kinds:
        yield from _faults(schema.get("items"), f"{at}[]", depth)
    for number, part in enumerate(schema.get("anyOf", [])):
        yield from _faults(part, f"{at}|{number}", depth)


def shared_first_keys(schema: dict[str, Any]) -> Iterator[str]:
    """The places where objects of an anyOf share their first key and it does not distinguish them."""
    for node in _nodes(schema):
        seen: dict[str, set[Any]] = {}
        for part in node.get("anyOf", []):
            for name, first in list(part.get("properties", {}).items())[:1]:
                values = set(first.get("enum", [first["const"]] if "const" in first else []))
                if name in seen and (not values or not seen[name] or values & seen[name]):
                    yield f"objects of anyOf share the first key {name!r}, and it does not tell them apart"
                seen[name] = seen.get(name, set()) | values
