"""From a parameter's schema to a field of a form, and from a value to the text in the field and back. No widgets here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from planexec_lite.tools import kind_of

LONG = 70  # characters; a longer value gets a field of several lines
STEP = ("description", "tool", "waits for", "done when")  # the labels of a step's own fields


def options(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the allowed values of a parameter as texts for a field, if the schema lists them."""
    return tuple(map(written, _choices(schema)))


def hint(schema: Mapping[str, Any], required: bool) -> str:
    """Return the allowed texts of a parameter's field."""
    if not schema:
        return "not a parameter of this tool: clear the field to drop it"
    default = f", by default {json.dumps(schema['default'], default=str)}" if "default" in schema else ""
    return kind_of(schema) + (default or ("" if required else ", can be empty"))


def long(text: str) -> bool:
    """Whether a text needs a field of several lines; a one-line field drops line breaks."""
    return len(text) > LONG or len(text.splitlines()) > 1 or text != text.strip("\n\r")


def label(name: str) -> str:
    """Return what the field of a parameter is called: its name, unless a field of the step itself is called so."""
    return name if name.isidentifier() and name not in STEP else f"argument {name}".strip()


def written(value: Any) -> str:
    """Return a value as the text of a field: a string unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the value of a field's text for a parameter with this `schema`.

    If the schema allows a string, the text is the value. Otherwise it is read as JSON. A text that is not JSON stays a
    string: it is a reference, or the plan's check reports it.
    """
    for choice in _choices(schema):
        if text == written(choice):
            return choice
    if "string" in _types(schema):
        return text
    try:
        return json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        return text


def written_out(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a ``$ref`` stands for, or the schema itself."""
    name = str(schema.get("$ref", "")).rsplit("/", 1)[-1]
    meant: Mapping[str, Any] = whole.get("$defs", {}).get(name, schema)
    return meant


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    if "enum" in schema or "const" in schema:
        return list(schema.get("enum") or [schema["const"]])
    return [True, False] if schema.get("type") == "boolean" else []


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    """The types that a value can have; a schema without a type allows all types, and its field takes JSON."""
    for part in schema.get("anyOf") or [schema]:
        if "type" in part:
            yield str(part["type"])
        elif any(isinstance(choice, str) for choice in part.get("enum", [])):
            yield "string"
