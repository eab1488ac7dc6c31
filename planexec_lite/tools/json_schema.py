"""From a JSON schema to validated arguments, for tools that describe their parameters so: MCP servers, manifests, lists.

A schema is read in the form in which pydantic writes one: each part has a ``type``, an ``enum``, ``anyOf`` or a ``$ref`` to one
of the ``$defs``. `planexec_lab.json_schema` rewrites other dialects in this form. The planner's response schema and the
validator both read it with each ``$ref`` written out. That is bounded (`MOST_PARTS`), and a schema that contains itself is
refused, so a stranger's schema costs little time and memory. No other document is ever loaded.

The validator comes from the library that checks type hints, so both kinds of tools accept the same values. Keywords that
it can't check are refused, except where the function checks its arguments itself (``checked_elsewhere``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema

from planexec_lite.tools.signature import Arguments, ToolError, same_meaning, uninterrupted

MOST_PARTS = 2_000
"""How many schemas a tool's schema can contain, with each ``$ref`` written out."""

_DEEPEST = 40  # levels of schemas in schemas
_KINDS = {
    "array": "list",
    "boolean": "bool",
    "integer": "int",
    "null": "none",
    "number": "float",
    "object": "",
    "string": "str",
}
_FORMATS = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "duration": "timedelta",
    "uuid": "uuid",
    "uri": "url",
}
_FORMATS |= dict.fromkeys(("binary", "password", "path"), "str")  # any text
_LIMITS = {
    "minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt", "multipleOf": "multiple_of",
    "minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length", "pattern": "pattern",
}  # fmt: skip
_WORDS = frozenset("title description default examples deprecated readOnly writeOnly $comment $schema $defs".split())
_READ = {*_WORDS, *_LIMITS, *"type format properties required additionalProperties items enum const anyOf $ref".split()}


@uninterrupted()
def arguments_from(name: str, schema: Mapping[str, Any], *, checked_elsewhere: bool = False) -> Arguments:
    """Return how the arguments of the tool `name` are read, which `schema` describes.

    The object is closed: a plan can name only the parameters in ``properties``. If an optional parameter does not
    accept null, a null counts as leaving the parameter out.

    Raises `ToolError` for a schema that can't be read. It also raises it for a schema with keywords that can't be
    checked here, unless the arguments are `checked_elsewhere`.
    """
    try:
        root = json.loads(json.dumps(schema))  # a copy that the caller can't change
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"tool {name!r}: its schema is not JSON ({error})") from None
    properties = _Reader(name, root, strict=not checked_elsewhere).parameters()
    required = tuple(root.get("required", ()))
    closed = {**root, "type": "object", "additionalProperties": False}
    closed["properties"] = {one: {} if part is True else part for one, part in root.get("properties", {}).items()}
    fields, optional = {}, set()
    for one, part in properties.items():
        try:
            fields[one] = _node(part)
            takes_null = SchemaValidator(fields[one]).isinstance_python(None)
        except (SchemaError, LookupError) as error:  # a bound below zero, without end or too large
            words = " ".join(str(error).split())
            raise ToolError(f"tool {name!r}, parameter {one!r}: its schema can't be read ({words})") from None
        if one not in required and not takes_null:
            optional.add(one)
    validate = SchemaValidator(_object(fields, (), None)).validate_python

    def given(params: Mapping[str, Any]) -> Any:
        """Read the arguments without the nulls of optional ones: a strict schema forces a model to write them."""
        return validate({one: value for one, value in params.items() if value is not None or one not in optional})

    defaults = {one: part["default"] for one, part in properties.items() if "default" in part}
    return Arguments(given, lambda values: values, lambda: closed, required, defaults, root)


def written_out(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the tool `name` by name, each ``$ref`` written out; `schema` is that of an object.

    Raises `ToolError` for a schema that can't be read, is too large or contains itself.
    """
    return _Reader(name, schema, strict=False).parameters()


class _Reader:
    """Writes one schema out, and counts its parts. If it is `strict`, each keyword must be one that can be checked."""

    def __init__(self, tool: str, root: Any, *, strict: bool) -> None:
        self.tool, self.root, self.strict = tool, root, strict
        self.parts = 0

    def parameters(self) -> dict[str, Any]:
        """Return the properties of the whole schema, which is that of an object."""
        kind = self.root.get("type", "object") if isinstance(self.root, dict) else None
        if kind != "object" or {"$ref", "allOf", "anyOf", "oneOf", "enum"} & self.root.keys():
            raise self.error("", 'its schema must be that of an object, {"type": "object", "properties": …}')
        properties: dict[str, Any] = self.part({**self.root, "type": "object"}, "", 0).get("properties", {})
        return properties

    def error(self, where: str, why: str) -> ToolError:
        place = f", parameter {where[1:]!r}" if where else ""
        return ToolError(f"tool {self.tool!r}{place}: {why}")

    def part(self, part: Any, where: str, depth: int) -> dict[str, Any]:
        """Return `part` written out."""
        self.parts += 1
        if self.parts > MOST_PARTS or depth > _DEEPEST:
            bounds = f"more than {MOST_PARTS:,} parts with each $ref written out, or is deeper than {_DEEPEST} levels"
            raise self.error(where, f"its schema has {bounds}; does it contain itself?")
        if part is True:
            return {}
        try:
            if not (unread := self.strict and _unread(part)):
                return self.written(part, where, depth + 1)
            why = f"a keyword that can't be checked here: {unread} {part[unread]}"
        except (AttributeError, KeyError, TypeError):
            why = f"a form that can't be read here: {json.dumps(part)[:60]}"
        fix = "; planexec_lab.json_schema.plain rewrites other dialects" if self.strict else ""
        raise self.error(where, f"its schema has {why}{fix}")

    def written(self, part: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
        """Return `part` written out; it is a schema."""
        whole = part.copy()
        if reference := whole.pop("$ref", None):
            target = self.root["$defs"][reference.removeprefix("#/$defs/")]
            return self.part(target, where, depth) | {one: whole[one] for one in whole if one in _WORDS}
        if isinstance(part.get("type"), list):
            whole = {"anyOf": [{**part, "type": kind} for kind in part["type"]]}
        elif part.get("type", "null") not in _KINDS or any(isinstance(part.get(one), bool) for one in _LIMITS):
            raise KeyError
        if "const" in whole:
            whole["enum"] = [whole.pop("const")]
        if choices := whole.pop("oneOf", whole.get("anyOf")):
            distinct = {json.dumps(choice, sort_keys=True): choice for choice in choices}
            whole["anyOf"] = [self.part(choice, where, depth) for choice in distinct.values()]
        if places := whole.pop("prefixItems", None):
            whole["items"] = {"anyOf": places}
        if "items" in whole:
            whole["items"] = self.part(whole["items"], f"{where}[]", depth)
        if whole.get("additionalProperties", False) is not False:
            whole["additionalProperties"] = self.part(whole["additionalProperties"], f"{where}.*", depth)
        if "properties" in whole:
            named = whole["properties"].items()
            whole["properties"] = {name: self.part(one, f"{where}.{name}", depth) for name, one in named}
        return whole


def _unread(part: Mapping[str, Any]) -> str:
    """Return a keyword that can't be checked, or not beside the others; "" if there is none."""
    conditions = part.keys() - _WORDS
    unread = conditions - _READ
    if alone := conditions & {"anyOf", "$ref"}:
        unread |= conditions - alone
    elif not conditions & {"type", "enum", "const"}:
        unread |= conditions
    if part.get("format", "path") not in _FORMATS:
        unread.add("format")
    if not {*part.get("required", ())} <= part.get("properties", {}).keys():
        unread.add("required")
    return min(unread, default="")


def _node(schema: Mapping[str, Any]) -> Any:
    """Return pydantic's own form of a schema that is written out."""
    if "enum" in schema:
        return core_schema.literal_schema(schema["enum"])
    if "anyOf" in schema:
        return _choice(schema["anyOf"])
    if "type" not in schema:
        return core_schema.any_schema()
    limits = {ours: schema[theirs] for theirs, ours in _LIMITS.items() if theirs in schema}
    node = {"type": _KINDS[schema["type"]], **limits}
    match schema["type"]:
        case "object":
            fields = {name: _node(part) for name, part in schema.get("properties", {}).items()}
            others = schema.get("additionalProperties", {})
            return _object(fields, schema.get("required", ()), None if others is False else _node(others))
        case "array":
            node["items_schema"] = _node(schema.get("items", {}))
        case "number":
            return core_schema.no_info_wrap_validator_function(_still_whole, node | {"allow_inf_nan": False})
        case "string" if schema.get("format") in _FORMATS:
            return core_schema.no_info_wrap_validator_function(_as_text, node | {"type": _FORMATS[schema["format"]]})
    return node


def _choice(schemas: list[dict[str, Any]]) -> Any:
    """Return pydantic's form of ``anyOf``."""
    others = [one for one in schemas if one.get("type") != "null"] or schemas
    node = _node(others[0])
    if len(others) > 1:
        node = core_schema.union_schema([*map(_node, others)])
    return core_schema.nullable_schema(node) if len(others) < len(schemas) else node


def _object(fields: Mapping[str, Any], required: Any, others: Any) -> Any:
    typed = {name: core_schema.typed_dict_field(node, required=name in required) for name, node in fields.items()}
    return core_schema.typed_dict_schema(typed, extras_schema=others, extra_behavior="allow" if others else "forbid")


def _still_whole(value: Any, judge: Callable[[Any], Any]) -> Any:
    """Keep an int an int: JSON does not distinguish 3 from 3.0, but the result must stay 3."""
    number = judge(value)
    return value if type(value) is int else number


def _as_text(value: Any, judge: Callable[[Any], Any]) -> Any:
    """Check a text that has a format, such as a date, and keep it; a value of another meaning is returned as it was read."""
    read = judge(value)
    return value if same_meaning(value, read) else read
