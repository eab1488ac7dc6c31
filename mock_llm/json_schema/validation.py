"""Checks values against JSON schemas, as far as scripted replies need it.

This validator is small because importing a complete one takes more than a second. It checks every keyword that `strict:
true` allows, and also allOf, oneOf, not and lengths; it ignores other keywords.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, bound: bool(value >= bound),
    "maximum": lambda value, bound: bool(value <= bound),
    "exclusiveMinimum": lambda value, bound: bool(value > bound),
    "exclusiveMaximum": lambda value, bound: bool(value < bound),
    "multipleOf": lambda value, bound: bound == 0 or (Fraction(str(value)) / Fraction(str(bound))).denominator == 1,
}
LENGTHS: dict[str, tuple[type[list[Any]] | type[str], int]] = {
    "minItems": (list, 1),
    "maxItems": (list, -1),
    "minLength": (str, 1),
    "maxLength": (str, -1),
}


def validation_error(value: Any, schema: Any) -> str | None:
    """Return the reason why a value does not fit a schema, or None if it fits.

    Returns:
        The first error with its path: "steps[0].tool: 'bake' is not one of 'add', 'multiply'".
    """
    first = next(_errors(value, schema, schema, ""), None)
    return None if first is None else f"{first[0] or 'the whole value'}: {first[1]}"


def has_type(value: Any, kind: Any) -> bool:
    """Return whether a JSON value has a JSON type. True is not a number, and 2.0 is an integer."""
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    known = TYPES.get(kind, (object,)) if isinstance(kind, str) else (object,)
    return isinstance(value, known) and not (isinstance(value, bool) and kind in ("integer", "number"))


def resolve(reference: Any, root: Any) -> Any:
    """Return the part of the schema that a reference such as "#/$defs/Step" points to, or None."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    for key in reference.removeprefix("#").split("/")[1:]:
        root = root.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(root, dict) else None
    return root


Located = tuple[str, str]  # the path in the value, and the problem


def _errors(value: Any, schema: Any, root: Any, path: str) -> Iterator[Located]:
    if schema is False:
        yield path, "no value is allowed here"
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        target = resolve(schema["$ref"], root)
        if target is None:
            yield path, f"the schema refers to {schema['$ref']!r}, which is not in it"
        else:
            yield from _errors(value, target, root, path)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(has_type(value, kind) for kind in kinds):
        yield path, f"{_short(value)} is not of type {' or '.join(map(str, kinds))}"
        return
    options = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(options, list) and _text(value) not in map(_text, options):
        yield path, f"{_short(value)} is not one of {', '.join(map(_short, options))}"
    yield from _combined(value, schema, root, path)
    if isinstance(value, dict):
        yield from _object_errors(value, schema, root, path)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _errors(item, schema["items"], root, f"{path}[{index}]")
    yield from _bounds(value, schema, path)


def _object_errors(value: dict[str, Any], schema: dict[str, Any], root: Any, path: str) -> Iterator[Located]:
    properties = object_of(schema, "properties")
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in value:
            yield path, f"{name!r} is missing"
    for name, item in value.items():
        part = properties.get(name, schema.get("additionalProperties", True))
        if name not in properties and part is False:
            yield path, f"{name!r} is not allowed; allowed are {', '.join(map(repr, properties)) or 'none'}"
        else:
            yield from _errors(item, part, root, f"{path}.{name}".removeprefix("."))


def _combined(value: Any, schema: dict[str, Any], root: Any, path: str) -> Iterator[Located]:
    for part in list_of(schema, "allOf"):
        yield from _errors(value, part, root, path)
    for keyword in ("anyOf", "oneOf"):
        first = [next(_errors(value, part, root, path), None) for part in list_of(schema, keyword)]
        errors = [error for error in first if error is not None]
        if first and len(errors) == len(first):  # the variants that match furthest have the best messages
            furthest = max(errors, key=lambda error: len(error[0]))[0]
            yield furthest, "; or ".join(dict.fromkeys(why for where, why in errors if where == furthest))
        elif keyword == "oneOf" and len(first) - len(errors) > 1:
            yield path, "several variants of oneOf fit"
    if "not" in schema and next(_errors(value, schema["not"], root, path), None) is None:
        yield path, f"{_short(value)} is what `not` forbids"


def _bounds(value: Any, schema: dict[str, Any], path: str) -> Iterator[Located]:
    for keyword, holds in BOUNDS.items():
        bound = schema.get(keyword)
        if has_type(value, "number") and has_type(bound, "number") and not holds(value, bound):
            yield path, f"{value} breaks {keyword} {bound}"
    for keyword, (kind, sign) in LENGTHS.items():
        bound = schema.get(keyword)
        if isinstance(value, kind) and isinstance(bound, int) and (len(value) - bound) * sign < 0:
            yield path, f"{len(value)} long breaks {keyword} {bound}"
    pattern = schema.get("pattern")
    if isinstance(value, str) and isinstance(pattern, str):
        try:
            if not re.search(pattern, value):
                yield path, f"{_short(value)} does not match {pattern!r}"
        except re.error as error:
            yield path, f"the schema's pattern {pattern!r} is not a regular expression: {error}"


def object_of(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    """Return the object under a keyword, or an empty one."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def list_of(schema: dict[str, Any], keyword: str) -> list[Any]:
    """Return the list under a keyword, or an empty one."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return json.dumps(_whole(value), sort_keys=True)


def _whole(value: Any) -> Any:
    """Return the value with 1.0 replaced by 1, because they are the same number in a schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
