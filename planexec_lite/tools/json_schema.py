"""From a JSON schema to validated arguments, for tools that describe their parameters so: MCP servers, manifests, lists.

`written_out` brings a schema of any draft from 4 to 2020-12 into one plain form: each ``$ref`` is replaced by its target,
``allOf`` is merged, and ``const``, ``oneOf``, tuples and lists of types become ``enum`` and ``anyOf``. The planner's response
schema and the validator both read this form. It is bounded (`MOST_PARTS`), and a schema that contains itself is refused, so
a stranger's schema costs little time and memory. No other document is ever loaded.

The validator comes from the library that checks type hints, so both kinds of tools accept the same values. Keywords that
it can't check are refused, except where the function checks its arguments itself (``checked_elsewhere``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from math import ceil, floor
from typing import Any
from urllib.parse import unquote

from pydantic_core import CoreSchema, SchemaError, SchemaValidator, core_schema

from planexec_lite import references
from planexec_lite.tools.signature import Arguments, ToolError, kind_of, uninterrupted

MOST_PARTS = 2_000
"""How many schemas a tool's schema can contain, with each ``$ref`` written out."""

_DEEPEST = 40  # levels of schemas in schemas
_UNCHECKED = frozenset(
    "format not if then else uniqueItems contains minContains maxContains unevaluatedItems unevaluatedProperties multipleOf "
    "patternProperties propertyNames minProperties maxProperties dependencies dependentRequired dependentSchemas".split()
)
_KINDS = ("array", "boolean", "integer", "null", "number", "object", "string")
_NO_CONDITIONS = {"title", "description", "default", "examples", "$anchor", "$defs", "definitions"}
_BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
_NUMBERS = {*_BOUNDS, "minLength", "maxLength", "minItems", "maxItems"}


@uninterrupted()
def arguments_from(name: str, schema: Mapping[str, Any], *, checked_elsewhere: bool = False) -> Arguments:
    """Return the validators and the closed schema of the tool `name`, whose arguments `schema` describes.

    The object is closed: a plan can name only the parameters in ``properties``. If an optional parameter does not
    accept null, a null counts as leaving the parameter out.

    Raises `ToolError` for a schema that can't be read. It also raises it for a schema with keywords that can't be
    checked here, unless the arguments are `checked_elsewhere`.
    """
    reader = _Reader(name, schema, checked_elsewhere)
    properties, required = reader.read()
    properties |= {one: {} for one in required if one not in properties}
    named = {one: part for one, part in reader.root.get("properties", {}).items() if part is not True}
    shown = {**properties, **named}  # a ``$ref`` has a name that a signature shows
    closed = {**reader.root, "type": "object", "properties": shown, "additionalProperties": False}
    closed |= {"required": required} if required else {}
    defaults = {one: part["default"] for one, part in properties.items() if "default" in part}
    try:
        some = {one: _node(part, spare_references=True) for one, part in properties.items()}
        optional = {one for one, node in some.items() if not SchemaValidator(node).isinstance_python(None)} - {
            *required
        }
        whole = {one: _node(part) for one, part in properties.items()}
        validators = _validator(whole, required, optional), _validator(some, (), optional)
    except (SchemaError, ValueError, OverflowError) as error:  # a bound below zero, without end or too large
        raise ToolError(f"tool {name!r}: its schema can't be read ({' '.join(str(error).split())})") from None
    return Arguments(*validators, lambda: closed, defaults, reader.root)


def written_out(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the tool `name` by name, in the plain form; `schema` is that of an object.

    Raises `ToolError` for a schema that can't be read, is too large or contains itself.
    """
    return _Reader(name, schema, checked_elsewhere=True).read()[0]


class _Reader:
    """Writes one schema out, and counts its parts."""

    def __init__(self, tool: str, schema: Mapping[str, Any], checked_elsewhere: bool) -> None:
        self.tool = tool
        self.checked_elsewhere = checked_elsewhere
        self.parts = 0
        try:
            self.root: Any = json.loads(json.dumps(schema))  # a copy that the caller can't change
        except (TypeError, ValueError, RecursionError) as error:
            raise self.error("", f"its schema is not JSON ({error})") from None

    def error(self, where: str, why: str) -> ToolError:
        place = f", parameter {where!r}" if where else ""
        return ToolError(f"tool {self.tool!r}{place}: {why}")

    def skip(self, where: str, keyword: str) -> None:
        """Leave a keyword unchecked. Raises `ToolError` where nothing else checks it."""
        if not self.checked_elsewhere:
            raise self.error(where, f"its schema has a keyword that can't be checked here: {keyword}")

    def read(self) -> tuple[dict[str, Any], list[str]]:
        """Return the properties of the whole schema in the plain form, and the names of the required ones."""
        try:
            return self.composed(self.root, ())
        except RecursionError:
            raise self.error("", f"its schema is deeper than {_DEEPEST} levels") from None

    def composed(self, part: Any, inside: tuple[str, ...]) -> tuple[dict[str, Any], list[str]]:
        """Return the properties of an object and the names of the required ones, including the properties of its alternatives.

        A property is required if each alternative of ``anyOf`` or ``oneOf`` requires it.
        """
        whole, inside = self.merged(part, "", inside)
        if whole.get("type", "object") != "object":
            raise self.error("", 'its schema must be that of an object, {"type": "object", "properties": …}')
        for keyword in whole.keys() & (_UNCHECKED | {"anyOf", "oneOf", "enum", "const"}):
            self.skip("", keyword)
        names, required = self.names(whole, "")
        properties = {name: self.schema(inner, name, inside) for name, inner in names.items()}
        for keyword in ("anyOf", "oneOf"):
            choices = [self.composed(one, inside) for one in self.listed(whole, keyword, "")]
            for name in dict.fromkeys(name for inner, _ in choices for name in inner):
                kinds = _distinct([inner[name] for inner, _ in choices if name in inner])
                properties.setdefault(name, kinds[0] if len(kinds) == 1 else {"anyOf": kinds})
            required += sorted(set.intersection(*({*names} for _, names in choices))) if choices else []
        return properties, list(dict.fromkeys(required))

    def schema(self, part: Any, where: str, inside: tuple[str, ...]) -> dict[str, Any]:
        """Return `part` in the plain form. `inside` are the schemas around it."""
        whole, inside = self.merged(part, where, (*inside, ""))
        self.modernize(whole, where)
        names, required = self.names(whole, where)
        if names or required:
            names |= {one: True for one in required if one not in names}
            whole["properties"] = {name: self.schema(one, f"{where}.{name}", inside) for name, one in names.items()}
        for keyword, place in (("items", "[]"), ("additionalProperties", ".*")):
            if keyword in whole and (keyword == "items" or whole[keyword] is not False):
                whole[keyword] = self.schema(whole[keyword], where + place, inside)
        if "anyOf" in whole:
            whole["anyOf"] = [self.schema(one, where, inside) for one in _distinct(self.listed(whole, "anyOf", where))]
        return whole

    def modernize(self, whole: dict[str, Any], where: str) -> None:
        """Rewrite the keywords of one schema in the plain form, and check their values."""
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(whole.get(exclusive), bool) and whole.pop(exclusive) and bound in whole:  # draft 4
                whole[exclusive] = whole.pop(bound)
        places = whole.pop("items") if isinstance(whole.get("items"), list) else whole.pop("prefixItems", None)
        if places:
            self.skip(where, "the places of a tuple")
            whole["items"] = {"anyOf": places}
        if "const" in whole:
            whole["enum"] = [whole.pop("const")]
        if "oneOf" in whole:
            self.skip(where, "oneOf, that only one of them fits")
            whole.setdefault("anyOf", whole.pop("oneOf"))
        options = whole.get("enum", [""])
        if not isinstance(options, list) or not options or any(isinstance(one, list | dict) for one in options):
            raise self.error(where, "enum is a list of strings, numbers, true, false or null, and not empty")
        if "type" not in whole and "enum" not in whole:
            implied = "object" if {"properties", "required", "additionalProperties"} & whole.keys() else "array"
            whole |= {"type": implied} if implied == "object" or "items" in whole else {}
        kinds = whole.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not all(kind in _KINDS for kind in kinds):
            raise self.error(where, f"the type {json.dumps(whole['type'])} is not one of {', '.join(_KINDS)}")
        if len(kinds) > 1 and "anyOf" in whole:
            self.skip(where, "type beside anyOf")
        elif len(kinds) > 1 and "enum" not in whole:
            alike = {keyword: whole.pop(keyword) for keyword in whole.keys() - _NO_CONDITIONS}
            whole["anyOf"] = [{**alike, "type": kind} for kind in kinds]
        for keyword in whole.keys() & {*_NUMBERS, "pattern", *_UNCHECKED}:
            if keyword in _UNCHECKED or ("type" not in whole and keyword != "pattern"):
                self.skip(where, f"{keyword} {whole[keyword]}")
            elif keyword == "pattern" and not _is_linear(whole[keyword]):
                self.skip(where, f"pattern {whole.pop(keyword)}")
            elif keyword != "pattern" and type(whole[keyword]) not in (int, float):
                raise self.error(where, f"{keyword} is a number, not {json.dumps(whole[keyword])}")

    def merged(self, part: Any, where: str, inside: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return `part` with the target of its ``$ref`` and its ``allOf`` merged in, and the schemas that it is inside."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise self.error("", f"its schema has more than {MOST_PARTS:,} parts with each $ref written out")
        if inside.count("") > _DEEPEST:
            raise self.error(where, f"the schema is deeper than {_DEEPEST} levels")
        if part is True:
            return {}, inside
        if not isinstance(part, dict):
            raise self.error(where, f"a schema is an object, not {json.dumps(part)[:60]}")
        whole = {
            keyword: inner
            for keyword, inner in part.items()
            if keyword not in ("$ref", "allOf", "$defs", "definitions")
        }
        others = self.listed(part, "allOf", where)
        if "$ref" in part:
            reference = str(part["$ref"])
            if reference in inside:
                name = reference.rsplit("/", 1)[-1]
                raise self.error(where, f"{name} contains itself, which strict output can't close; use a flat type")
            others, inside = [self.target(reference, where), *others], (*inside, reference)
        within = inside
        for one in others:
            other, around = self.merged(one, where, inside)
            whole, within = self.together(whole, other, where), (*within, *around[len(inside) :])
        return whole, within

    def together(self, one: dict[str, Any], other: dict[str, Any], where: str) -> dict[str, Any]:
        """Return one schema of two that a value must fit both. Of two values of a keyword the first is checked."""
        (names, required), (more, also) = self.names(one, where), self.names(other, where)
        for keyword in one.keys() & other.keys() - _NO_CONDITIONS - {"properties", "required"}:
            if one[keyword] != other[keyword]:
                self.skip(where, f"{keyword} of each part of allOf")
        both = {**other, **one}
        if names or more:
            clash = [name for name in names.keys() & more.keys() if names[name] != more[name]]
            both["properties"] = {**more, **names, **{name: {"allOf": [names[name], more[name]]} for name in clash}}
        return both | ({"required": [*required, *also]} if required or also else {})

    def names(self, part: dict[str, Any], where: str) -> tuple[dict[str, Any], list[str]]:
        """Return the properties of a schema, and the names that it requires."""
        properties, required = part.get("properties", {}), part.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise self.error(where, "properties is an object and required a list of names")
        return dict(properties), [*map(str, required)]

    def listed(self, part: dict[str, Any], keyword: str, where: str) -> list[Any]:
        """Return the schemas that a keyword lists; none where it is missing."""
        parts = part.get(keyword, [])
        if not isinstance(parts, list) or (keyword in part and not parts):
            raise self.error(where, f"{keyword} is a list of schemas, and not empty")
        return parts

    def target(self, reference: str, where: str) -> Any:
        """Return the schema that a ``$ref`` names, by a path or an ``$anchor``."""
        part: Any = self.root if reference.startswith(("#/", "#")) else None
        if reference[1:2] not in ("", "/"):
            part = next(_anchored(part, reference[1:]), None)
        for key in reference.split("/")[1:]:
            key = unquote(key).replace("~1", "/").replace("~0", "~")
            if isinstance(part, list):
                part = part[int(key)] if key.isdecimal() and len(key) < 6 and int(key) < len(part) else None
            else:
                part = part.get(key) if isinstance(part, dict) else None
        if part is None:
            raise self.error(where, f"$ref {json.dumps(reference)} names nothing in this schema; no other is read")
        return part


def _anchored(part: Any, anchor: str) -> Iterator[Any]:
    if isinstance(part, dict) and part.get("$anchor") == anchor:
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _anchored(inner, anchor)


def _distinct(schemas: list[Any]) -> list[Any]:
    return list({json.dumps(one, sort_keys=True): one for one in schemas}.values())


def _is_linear(pattern: Any) -> bool:
    """Whether a pattern takes time in proportion to the text; one with look-arounds or back references might not."""
    try:
        return bool(SchemaValidator(core_schema.str_schema(pattern=pattern)))
    except SchemaError:
        return False


def _node(schema: dict[str, Any], *, spare_references: bool = False) -> CoreSchema:
    """Return the validator of a schema in the plain form; with `spare_references`, a reference is accepted everywhere."""

    def inner(part: dict[str, Any]) -> CoreSchema:
        return _node(part, spare_references=spare_references)

    parts: list[CoreSchema] = []
    if "enum" in schema:
        parts.append(core_schema.literal_schema(schema["enum"]))
    elif isinstance(schema.get("type"), str):
        parts.append(_typed(schema, inner))
    if "anyOf" in schema:
        parts.append(_choice(schema["anyOf"], inner))
    node = parts[0] if len(parts) == 1 else core_schema.chain_schema(parts) if parts else core_schema.any_schema()
    return core_schema.no_info_wrap_validator_function(_spared, node) if spare_references else node


def _typed(schema: dict[str, Any], inner: Callable[[Any], CoreSchema]) -> CoreSchema:
    kind = schema["type"]
    of = "Length" if kind == "string" else "Items"
    named = {f"min{of}": "min_length", f"max{of}": "max_length"}
    lengths: Any = {ours: int(schema[theirs]) for theirs, ours in named.items() if theirs in schema}
    bounds: Any = {ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema}
    if kind == "string":
        return core_schema.str_schema(**lengths, pattern=schema.get("pattern"))
    if kind == "array":
        return core_schema.list_schema(inner(schema.get("items") or {}), **lengths)
    if kind == "object":
        fields = {name: inner(part) for name, part in schema.get("properties", {}).items()}
        others = schema.get("additionalProperties", {})
        return _object(fields, schema.get("required", ()), None if others is False else inner(others))
    if kind == "integer":
        whole = {ours: (floor if ours in ("le", "gt") else ceil)(bound) for ours, bound in bounds.items()}
        return core_schema.int_schema(**whole)
    if kind == "number":
        number = core_schema.float_schema(**bounds, allow_inf_nan=False)
        return core_schema.no_info_wrap_validator_function(_still_whole, number)
    return core_schema.bool_schema() if kind == "boolean" else core_schema.none_schema()


def _choice(schemas: list[Any], inner: Callable[[Any], CoreSchema]) -> CoreSchema:
    """Return the validator of ``anyOf``. All choices share one message, because each choice has many faults."""
    others = [one for one in schemas if one.get("type") != "null"]
    if len(others) == 1:
        node = inner(others[0])
    else:
        words = f"Input should be {' or '.join(dict.fromkeys(map(kind_of, others)))}"
        choices: Any = [inner(one) for one in others] or [core_schema.none_schema()]
        node = core_schema.union_schema(choices, custom_error_type="no_choice_fits", custom_error_message=words)
    return core_schema.nullable_schema(node) if len(others) < len(schemas) else node


def _object(fields: dict[str, CoreSchema], required: Any, others: CoreSchema | None) -> CoreSchema:
    typed = {name: core_schema.typed_dict_field(node, required=name in required) for name, node in fields.items()}
    return core_schema.typed_dict_schema(typed, extras_schema=others, extra_behavior="allow" if others else "forbid")


def _validator(fields: dict[str, CoreSchema], required: Any, optional: set[str]) -> Callable[[Any], Any]:
    """Return the validator of all arguments. It leaves out the nulls of `optional` ones: a strict schema forces a model
    to write them."""
    validate = SchemaValidator(_object(fields, required, None)).validate_python
    return lambda params: validate(
        {name: value for name, value in params.items() if value is not None or name not in optional}
    )


def _spared(value: Any, judge: Callable[[Any], Any]) -> Any:
    return value if references.is_whole(value) else judge(value)


def _still_whole(value: Any, judge: Callable[[Any], Any]) -> Any:
    """Keep an int an int: JSON does not distinguish 3 from 3.0, but the result must stay 3."""
    number = judge(value)
    return value if type(value) is int else number
