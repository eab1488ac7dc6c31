"""JSON schemas of any draft in the plain form that `planexec_lite.Tool.from_schema` reads.

    Tool.from_schema(call, plain(schema), name="search", checked_elsewhere=True)

Servers describe their tools in the drafts 4 to 2020-12 and in OpenAPI's variant of them. The plain form is that of pydantic: each
part has a type, an enum or ``anyOf``. `referencing` finds what a ``$ref`` names; it comes with the extra ``mcp``, and is imported
for schemas that are not plain. No other document is ever loaded.
"""

from __future__ import annotations

import json
from functools import partial, reduce
from typing import Any

from pydantic_core import SchemaError, SchemaValidator

from planexec_lite.tools import Tool, ToolError

MOST_PARTS = 6_000
"""How many parts are read of a schema, with each ``$ref`` written out; a part with alternatives is read for each of them."""

_DEEPEST = 40  # levels
_WORDS = ("title", "description", "default")
_KEPT = frozenset(
    "type enum required format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems "
    "maxItems".split()
)
_OBJECT = {"properties", "required", "additionalProperties", "patternProperties"}


def plain(schema: Any) -> Any:
    """Return the schema of a tool's parameters in the plain form.

    Each ``$ref`` is replaced by its target, ``allOf`` is merged, and ``oneOf``, ``nullable`` and tuples become ``anyOf``.
    Conditions that the plain form lacks are left out: whoever is called has to check them. A schema that is plain already is
    returned as it is.

    Raises `ToolError` for a schema that can't be read, is too large, contains itself, or is not that of an object with named
    properties.
    """
    if (
        isinstance(schema, dict)
        and not schema.get("properties")
        and isinstance(schema.get("additionalProperties"), dict)
    ):
        raise ToolError(
            "its arguments have no names of their own (additionalProperties); a tool needs named parameters"
        )
    try:
        Tool.from_schema(dict, schema, name="plain")
    except ToolError:
        try:
            return _Rewriter(json.dumps(schema)).whole()
        except (AttributeError, LookupError, RecursionError, TypeError) as error:
            raise ToolError(f"its schema can't be read ({error})") from None
    return schema


class _Rewriter:
    """Rewrites one schema, which is JSON text, and counts its parts."""

    def __init__(self, schema: str) -> None:
        from referencing import Registry
        from referencing.jsonschema import DRAFT7, DRAFT202012, specification_with

        self.parts = 0
        self.root = json.loads(schema)
        newest = DRAFT7 if '"items": [' in schema else DRAFT202012
        specification = specification_with(str(self.root.get("$schema")), default=newest)
        self.resolver = Registry().with_resource("", specification.create_resource(self.root)).resolver()

    def whole(self) -> dict[str, Any]:
        """Return the whole schema, which is that of an object."""
        return self.one_kind({"type": "object", **self.object(self.root, 0)}, "", 0)

    def object(self, part: Any, depth: int) -> dict[str, Any]:
        """Return an object with the properties of all its alternatives; those that each requires are required."""
        whole = self.merged(part, "", depth)
        if whole.get("type", "object") != "object":
            raise ToolError('its schema must be that of an object, {"type": "object", "properties": …}')
        choices = [self.object(one, depth + 1) for one in whole.pop("anyOf", None) or whole.pop("oneOf", [])]
        if choices:
            either = reduce(partial(_together, shared="anyOf"), choices)
            required = set.intersection(*({*one.get("required", ())} for one in choices))
            whole = _together(whole, either | {"required": sorted(required)})
        return whole

    def part(self, part: Any, where: str, depth: int) -> dict[str, Any]:
        """Return one part in the plain form."""
        whole = self.merged(part, where, depth)
        words = {keyword: whole.pop(keyword) for keyword in _WORDS if keyword in whole}
        choices = whole.pop("anyOf", None) or whole.pop("oneOf", [])
        if not choices and isinstance(whole.get("type"), list):
            choices = [{"type": kind} for kind in whole.pop("type")]
        null = [{"type": "null"}] if whole.pop("nullable", False) is True else []
        if not choices and not null:
            return self.one_kind(whole, where, depth) | words
        options = [self.part({"allOf": [choice, whole]}, where, depth + 1) for choice in choices or [{}]]
        return {"anyOf": options + null} | words

    def one_kind(self, whole: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
        """Return a part without choices in the plain form."""
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):  # draft 4
            if isinstance(whole.get(exclusive), bool) and whole.pop(exclusive) and bound in whole:
                whole[exclusive] = whole.pop(bound)
        kept = {keyword: value for keyword, value in whole.items() if keyword in _KEPT}
        if _OBJECT & whole.keys() and kept.get("type", "object") == "object":
            kept.setdefault("type", "object")
            kept |= self.fields(whole, where, depth + 1)
        items = whole.get("prefixItems", whole.get("items"))
        if items is not None:
            kept.setdefault("type", "array")
            kept["items"] = self.part({"anyOf": items} if isinstance(items, list) else items, f"{where}[]", depth + 1)
        if "const" in whole:
            kept["enum"] = [whole["const"]]
        if _is_linear(whole.get("pattern")):
            kept["pattern"] = whole["pattern"]
        return kept if kept.keys() & {"type", "enum"} else {}

    def fields(self, whole: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
        """Return what a schema says about the fields of an object, in the plain form."""
        named = whole.get("properties", {})
        named = named | {name: True for name in whole.get("required", ()) if name not in named}
        fields: dict[str, Any] = {name: self.part(one, f"{where}.{name}", depth) for name, one in named.items()}
        others = True if "patternProperties" in whole else whole.get("additionalProperties", True)
        if not isinstance(others, bool):
            others = self.part(others, f"{where}.*", depth)
        return {"properties": fields, "additionalProperties": others} if fields else {"additionalProperties": others}

    def merged(self, part: Any, where: str, depth: int) -> dict[str, Any]:
        """Return `part` with the target of its ``$ref`` and its ``allOf`` merged in."""
        self.parts += 1
        if self.parts > MOST_PARTS or depth > _DEEPEST:
            bounds = f"more than {MOST_PARTS:,} parts with each $ref written out, or {_DEEPEST} levels"
            raise _error(where, f"its schema has {bounds}")
        if part is True:
            return {}
        if not isinstance(part, dict):
            raise _error(where, f"a schema is an object, not {json.dumps(part)[:60]}")
        whole = {keyword: inner for keyword, inner in part.items() if keyword not in ("$ref", "allOf")}
        others = part.get("allOf", [])
        if "$ref" in part:
            others = [self.target(part["$ref"], where), *others]
        for other in others:
            whole = _together(whole, self.merged(other, where, depth + 1))
        return whole

    def target(self, reference: str, where: str) -> Any:
        """Return the part that a ``$ref`` names."""
        from referencing.exceptions import Unresolvable

        try:
            return self.resolver.lookup(reference).contents
        except (Unresolvable, ValueError):
            words = f"$ref {json.dumps(reference)} names nothing in this schema; no other is read"
            raise _error(where, words) from None


def _error(where: str, why: str) -> ToolError:
    return ToolError(f"parameter {where.lstrip('.')!r}: {why}" if where else why)


def _together(one: dict[str, Any], other: dict[str, Any], shared: str = "allOf") -> dict[str, Any]:
    """Return one schema of two; of two values of a keyword the first is kept. A value of a property in both must fit all of them,
    or any if `shared` is "anyOf".
    """
    both = {**other, **one}
    if "required" in both:
        both["required"] = [*one.get("required", ()), *other.get("required", ())]
    first, second = one.get("properties", {}), other.get("properties", {})
    if names := first | second:
        in_both = {name: {shared: [first[name], second[name]]} for name in first.keys() & second.keys()}
        both["properties"] = names | in_both
    return both


def _is_linear(pattern: Any) -> bool:
    """Whether a pattern takes time in proportion to the text; one with look-arounds or back references might not."""
    try:
        return isinstance(pattern, str) and bool(SchemaValidator({"type": "str", "pattern": pattern}))
    except SchemaError:
        return False
