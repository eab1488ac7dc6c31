"""JSON schemas, as far as scripted replies need them: does a value fit, and what would fit?

A small validator, because importing the full one costs more than a second. It checks every keyword that
`strict: true` allows, and allOf, oneOf, not and lengths besides; other keywords do not constrain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

KINDS: dict[str, tuple[type, ...]] = {
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


def misfit(value: Any, schema: Any) -> str | None:
    """Why a value does not fit a schema, or None if it fits.

    Returns:
        The first misfit with its place: "steps[0].tool: 'bake' is not one of 'add', 'multiply'".
    """
    first = next(_misfits(value, schema, schema, ""), None)
    return None if first is None else f"{first[0] or 'the whole value'}: {first[1]}"


def has_kind(value: Any, kind: Any) -> bool:
    """Whether a JSON value is of a JSON type; true is no number, and 2.0 is an integer."""
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    known = KINDS.get(kind, (object,)) if isinstance(kind, str) else (object,)
    return isinstance(value, known) and not (isinstance(value, bool) and kind in ("integer", "number"))


def resolve(reference: Any, root: Any) -> Any:
    """What "#/$defs/Step" stands for; None when there is no such part."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    for key in reference.removeprefix("#").split("/")[1:]:
        root = root.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(root, dict) else None
    return root


def example(schema: Any, root: Any = None, inside: tuple[str, ...] = ()) -> Any:
    """A small value that fits a schema, for a scene to be filled in by its author.

    Args:
        root: the whole schema, where definitions are looked up; by default the schema itself.
        inside: the references followed so far; a list that would begin one of them anew stays empty.
    """
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return None
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return None if reference in inside else example(resolve(reference, root), root, (*inside, reference))
    if "const" in schema:
        return schema["const"]
    if _list(schema, "enum"):
        return schema["enum"][0]
    if variants := _list(schema, "anyOf") or _list(schema, "oneOf"):
        ends = [variant for variant in variants if not _leads_into(variant, inside)]
        return example((ends or variants)[0], root, inside)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        return {name: example(part, root, inside) for name, part in _dict(schema, "properties").items()}
    if kind == "array":
        least = schema.get("minItems", 0 if _leads_into(schema.get("items"), inside) else 1)
        return [example(schema.get("items"), root, inside)] * (min(least, 20) if isinstance(least, int) else 1)
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "null": None}.get(str(kind), "…")


def _leads_into(schema: Any, references: tuple[str, ...]) -> bool:
    return isinstance(schema, dict) and schema.get("$ref") in references


Misfit = tuple[str, str]


def _misfits(value: Any, schema: Any, root: Any, path: str) -> Iterator[Misfit]:
    if schema is False:
        yield path, "nothing may stand here"
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        target = resolve(schema["$ref"], root)
        if target is None:
            yield path, f"the schema refers to {schema['$ref']!r}, which is not in it"
        else:
            yield from _misfits(value, target, root, path)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(has_kind(value, kind) for kind in kinds):
        yield path, f"{_short(value)} is not of type {' or '.join(map(str, kinds))}"
        return
    options = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(options, list) and _text(value) not in map(_text, options):
        yield path, f"{_short(value)} is not one of {', '.join(map(_short, options))}"
    yield from _combined(value, schema, root, path)
    if isinstance(value, dict):
        yield from _object_misfits(value, schema, root, path)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _misfits(item, schema["items"], root, f"{path}[{index}]")
    yield from _bounds(value, schema, path)


def _object_misfits(value: dict[str, Any], schema: dict[str, Any], root: Any, path: str) -> Iterator[Misfit]:
    properties = _dict(schema, "properties")
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in value:
            yield path, f"{name!r} is missing"
    for name, item in value.items():
        part = properties.get(name, schema.get("additionalProperties", True))
        if name not in properties and part is False:
            yield path, f"{name!r} is not allowed; allowed are {', '.join(map(repr, properties)) or 'none'}"
        else:
            yield from _misfits(item, part, root, f"{path}.{name}".removeprefix("."))


def _combined(value: Any, schema: dict[str, Any], root: Any, path: str) -> Iterator[Misfit]:
    for part in _list(schema, "allOf"):
        yield from _misfits(value, part, root, path)
    for keyword in ("anyOf", "oneOf"):
        first = [next(_misfits(value, part, root, path), None) for part in _list(schema, keyword)]
        wrong = [misfit for misfit in first if misfit is not None]
        if first and len(wrong) == len(first):  # the variants that came furthest say it best
            furthest = max(wrong, key=lambda misfit: len(misfit[0]))[0]
            yield furthest, "; or ".join(dict.fromkeys(why for where, why in wrong if where == furthest))
        elif keyword == "oneOf" and len(first) - len(wrong) > 1:
            yield path, "more than one variant of oneOf fits"
    if "not" in schema and next(_misfits(value, schema["not"], root, path), None) is None:
        yield path, f"{_short(value)} is what `not` forbids"


def _bounds(value: Any, schema: dict[str, Any], path: str) -> Iterator[Misfit]:
    for keyword, holds in BOUNDS.items():
        bound = schema.get(keyword)
        if has_kind(value, "number") and has_kind(bound, "number") and not holds(value, bound):
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


def _dict(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}


def _list(schema: dict[str, Any], keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
