"""Tools whose parameters a JSON schema describes, of any draft: those of MCP servers, manifests and published lists.

    tool_from_schema(call, schema, name="search", checked_elsewhere=True)

Servers describe their tools in the drafts 4 to 2020-12 and in OpenAPI's variant of them. `plain` rewrites them in the form of
pydantic: each part has a type, an enum or ``anyOf``. `referencing` finds what a ``$ref`` names; it comes with the extra ``mcp``,
and is imported for schemas that have one. No other document is ever loaded. The size of the rewritten schema is bounded
(`MOST_PARTS`), so a stranger's schema costs little time and memory.

The validator comes from the library that checks type hints, so both kinds of tools accept the same values. Keywords that it
can't check are refused, except where the function checks its arguments itself (``checked_elsewhere``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Literal, Unpack

from pydantic_core import CoreSchema, SchemaError, SchemaValidator, core_schema

from planexec_lite.tools import Tool, ToolError, uninterrupted
from planexec_lite.tools.signature import Arguments, Data, Function, Params, same_meaning
from planexec_lite.tools.tool import Options

MOST_PARTS = 6_000
"""How many parts are read of a schema, with each ``$ref`` written out; a part with alternatives is read for each of them."""

_DEEPEST = 40  # levels
_RANGE = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
_TYPES: Mapping[str | None, tuple[str, Mapping[str, str]]] = {
    "array": ("list", {"minItems": "min_length", "maxItems": "max_length"}),
    "boolean": ("bool", {}),
    "integer": ("int", _RANGE),
    "null": ("none", {}),
    "object": ("", {}),
    None: ("any", {}),
    "number": ("float", _RANGE),
    "string": ("str", {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"}),
}
"""Pydantic's name of each type, and of the keywords that bound it."""
_FORMATS = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "duration": "timedelta",
    "uuid": "uuid",
    "uri": "url",
    "binary": "bytes",
    **dict.fromkeys(("password", "path"), "str"),  # any text
}
_OBJECT = {"properties", "required", "additionalProperties", "patternProperties"}
_WORDS = ("title", "description", "default")
_NO_CONDITIONS = {*_WORDS, *"$ref examples deprecated readOnly writeOnly $comment $schema $id $anchor".split()}
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, SchemaError)


@uninterrupted()
def tool_from_schema(
    function: Function, schema: Any, *, checked_elsewhere: bool = False, **options: Unpack[Options]
) -> Tool:
    """Return a tool whose arguments are described by a JSON schema.

    Args:
        function: takes the arguments by name, most often as ``**arguments``. It receives only the given ones; a
            ``default`` in the schema tells planners what it does without one.
        schema: that of an object, whose ``properties`` are the parameters; it is always closed. If an optional
            parameter without a default does not accept null, a null counts as leaving the parameter out.
        checked_elsewhere: the function checks its arguments itself, so the schema can have keywords that can't be
            checked here.
        options: the options of `Tool`; `name` is required.

    Raises `ToolError` for a schema that can't be read, or that has keywords that can't be checked here and is not
    `checked_elsewhere`.
    """
    try:
        arguments = arguments_of(schema, checked_elsewhere=checked_elsewhere)
    except ToolError as error:
        raise ToolError(f"tool {options['name']!r}: {error}") from None
    return Tool(function, arguments=arguments, **options)


def plain(schema: Any) -> Data:
    """Return the schema of a tool's parameters in the plain form.

    Each ``$ref`` is replaced by its target, ``allOf`` is merged, and ``oneOf``, ``nullable`` and tuples become ``anyOf``.
    Conditions that the plain form lacks are left out: the called function has to check them.

    Raises `ToolError` for a schema that can't be read, is too large, contains itself, or is not that of an object with named
    properties.
    """
    try:
        return _Rewriter(json.loads(json.dumps(schema))).whole()
    except RecursionError:
        raise ToolError("its schema is too deep; does it contain itself?") from None
    except ToolError:
        raise
    except _UNREADABLE as error:
        raise ToolError(f"its schema can't be read ({error})") from None


class _Described(Arguments):
    """Arguments that a schema describes. A copy in another process is made from the schema."""

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(arguments_of, checked_elsewhere=True), (self.schema,)


def arguments_of(schema: Any, *, checked_elsewhere: bool) -> Arguments:
    """Return how the arguments of a tool are read, which `schema` describes; see `tool_from_schema`."""
    whole = plain(schema)
    checked = {(keyword, value) for _, keyword, value in _conditions(whole)}
    for where, keyword, value in () if checked_elsewhere else _conditions(schema):
        if (keyword, value) not in checked or (keyword == "format" and value not in _FORMATS):
            raise ToolError(f"{where}its schema has a keyword that can't be checked here: {keyword} {value}")
    required, properties = tuple(whole["required"]), whole["properties"]
    fields: dict[str, CoreSchema] = {}
    optional = set()
    for name, part in properties.items():
        try:
            fields[name] = _node(part)
            takes_null = SchemaValidator(fields[name]).isinstance_python(None)
        except _UNREADABLE as error:  # such as a bound below zero
            raise ToolError(f"{name}: its schema can't be read ({' '.join(str(error).split())})") from None
        if name not in required and "default" not in part and not takes_null:
            optional.add(name)
    validate = SchemaValidator(_object(fields, (), False)).validate_python

    def read(params: Params) -> Any:
        """Read the arguments without the nulls of optional ones: a strict schema forces a model to write them."""
        return validate({name: value for name, value in params.items() if value is not None or name not in optional})

    defaults = {name: part["default"] for name, part in properties.items() if "default" in part}
    return _Described(read, lambda values: values, whole, defaults, {})


def _conditions(schema: Any, where: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the conditions of a schema and its parts: the place, the keyword, and its value as text."""
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword in ("properties", "$defs"):
            for name, part in value.items():
                yield from _conditions(part, f"{where}{name}: ")
        elif keyword == "anyOf":
            for part in value:
                yield from _conditions(part, where)
        elif keyword == "additionalProperties" or (keyword == "items" and not isinstance(value, list)):
            yield from _conditions(value, where)
        elif keyword == "const":
            yield where, "enum", str([value])
        elif keyword not in _NO_CONDITIONS:
            yield where, keyword, str(value)


def _node(part: Params) -> Any:
    """Return pydantic's own form of a schema in the plain form."""
    if "enum" in part:
        return core_schema.literal_schema(part["enum"])
    if "anyOf" in part:
        return _choice(part["anyOf"])
    kind = part.get("type")
    name, bounds = _TYPES[kind]
    node: Any = {"type": name} | {bounds[keyword]: part[keyword] for keyword in bounds.keys() & part.keys()}
    if kind == "object":
        fields = {name: _node(field) for name, field in part.get("properties", {}).items()}
        node = _object(fields, part.get("required", ()), part["additionalProperties"])
    elif kind == "array":
        node["items_schema"] = _node(part.get("items", {}))
    elif kind == "number":
        node = core_schema.no_info_wrap_validator_function(_as_given, node | {"allow_inf_nan": False})
    elif kind == "string" and part.get("format") in _FORMATS:
        as_read: Any = {"type": _FORMATS[part["format"]]}
        node = core_schema.chain_schema([node, core_schema.no_info_wrap_validator_function(_as_given, as_read)])
    return node


def _choice(schemas: list[Data]) -> CoreSchema:
    """Return pydantic's form of ``anyOf``."""
    nodes = [*map(_node, [schema for schema in schemas if schema.get("type") != "null"] or schemas)]
    node = nodes[0] if len(nodes) == 1 else core_schema.union_schema(nodes)
    return core_schema.nullable_schema(node) if len(nodes) < len(schemas) else node


def _object(fields: Mapping[str, CoreSchema], required: Collection[str], others: Params | bool) -> CoreSchema:
    typed = {name: core_schema.typed_dict_field(node, required=name in required) for name, node in fields.items()}
    extras = None if isinstance(others, bool) else _node(others)
    behaviour: Literal["forbid", "allow"] = "forbid" if others is False else "allow"
    return core_schema.typed_dict_schema(typed, extras_schema=extras, extra_behavior=behaviour)


def _as_given(value: Any, judge: Callable[[Any], Any]) -> Any:
    """Check a number, or a text with a format, and keep it as it was given.

    JSON does not distinguish 3 from 3.0, but the result must stay 3. A value of another meaning is returned as it was read.
    """
    read = judge(value)
    kept = type(value) is int if isinstance(read, float) else same_meaning(value, read)
    return value if kept else read


class _Rewriter:
    """Rewrites one schema, and counts its parts."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.parts = self.depth = 0

    @cached_property
    def resolver(self) -> Any:
        """Finds what a ``$ref`` names."""
        from referencing import Registry
        from referencing.jsonschema import DRAFT7, DRAFT202012

        draft = DRAFT7 if '"items": [' in json.dumps(self.root) else DRAFT202012
        return Registry().with_resource("", draft.create_resource(self.root)).resolver()

    def whole(self) -> Data:
        """Return the whole schema: an object with the properties of all alternatives; those that each requires are required."""
        whole = self.part(self.root)
        choices = whole.get("anyOf", [whole])
        properties: dict[str, list[Data]] = {}
        for choice in choices:
            fields = choice.get("properties", {})
            if choice.get("type", "object") != "object":
                raise ToolError('its schema must be that of an object, {"type": "object", "properties": …}')
            if not fields and isinstance(choice.get("additionalProperties"), dict):
                raise ToolError(
                    "its arguments have no names of their own (additionalProperties); a tool needs named parameters"
                )
            for name, part in fields.items():
                properties.setdefault(name, []).append(part)
        required = [choice.get("required", []) for choice in choices]
        return {
            "type": "object",
            "properties": {
                name: {"anyOf": parts} if len(parts) > 1 else parts[0] for name, parts in properties.items()
            },
            "required": [name for name in required[0] if all(name in names for names in required)],
            "additionalProperties": False,
        }

    def part(self, part: Any) -> Data:
        """Return one part in the plain form."""
        self.depth += 1
        rewritten = self.any_kind(self.merged(part))
        self.depth -= 1
        return rewritten

    def any_kind(self, whole: Data) -> Data:
        """Return a part with all that it refers to, perhaps a choice, in the plain form."""
        words = {keyword: whole.pop(keyword) for keyword in _WORDS if keyword in whole}
        choices = whole.pop("anyOf", whole.pop("oneOf", None))
        if choices is None and isinstance(whole.get("type"), list):
            choices = [{"type": kind} for kind in whole.pop("type")]
        null = [{"type": "null"}] if whole.pop("nullable", False) is True else []
        if choices is None and not null:
            return self.one_kind(whole) | words
        choices = [{}] if choices is None else choices
        return {"anyOf": [self.part(_together(self.merged(choice), whole)) for choice in choices] + null} | words

    def one_kind(self, whole: Data) -> Data:
        """Return a part without choices in the plain form."""
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):  # draft 4
            if isinstance(whole.get(exclusive), bool) and whole.pop(exclusive) and bound in whole:
                whole[exclusive] = whole.pop(bound)
        if "const" in whole:
            whole["enum"] = [whole["const"]]
        items = whole.get("prefixItems", whole.get("items"))
        if _OBJECT & whole.keys():
            whole.setdefault("type", "object")
        if items is not None:
            whole.setdefault("type", "array")
        kind = whole.get("type")
        if kind not in _TYPES:
            raise ToolError(f"its schema has a type that can't be read: {json.dumps(whole)[:60]}")
        read = {"type", "enum", "format", "required", *_TYPES[kind][1]}
        kept = {keyword: value for keyword, value in whole.items() if keyword in read}
        if kind == "object":
            kept |= self.fields(whole)
        if kind == "array" and items is not None:
            kept["items"] = self.part({"anyOf": items} if isinstance(items, list) else items)
        if not _is_linear(kept.get("pattern", "")):
            del kept["pattern"]
        return kept if kept.keys() & {"type", "enum"} else {}

    def fields(self, whole: Data) -> Data:
        """Return what a schema says about the fields of an object, in the plain form."""
        named = dict.fromkeys(whole.get("required", ()), True) | whole.get("properties", {})
        fields: Data = {}
        for name, part in named.items():
            try:
                fields[name] = self.part(part)
            except ToolError as error:
                raise ToolError(f"{name}: {error}") from None
        others = True if "patternProperties" in whole else whole.get("additionalProperties", True)
        if not isinstance(others, bool):
            others = self.part(others)
        return {"properties": fields, "additionalProperties": others} if fields else {"additionalProperties": others}

    def merged(self, part: Any) -> Data:
        """Return `part` with the target of its ``$ref`` and its ``allOf`` merged in."""
        self.parts += 1
        if self.parts > MOST_PARTS or self.depth > _DEEPEST:
            bounds = f"more than {MOST_PARTS:,} parts with each $ref written out, or {_DEEPEST} levels"
            raise ToolError(f"its schema has {bounds}; does it contain itself?")
        if part is True:
            return {}
        if not isinstance(part, dict):
            raise ToolError(f"a schema is an object, not {json.dumps(part)[:60]}")
        whole = dict(part)
        others = whole.pop("allOf", [])
        if "$ref" in whole:
            others = [self.target(whole.pop("$ref")), *others]
        for other in others:
            whole = _together(whole, self.merged(other))
        return whole

    def target(self, reference: str) -> Any:
        """Return the part that a ``$ref`` names."""
        from referencing.exceptions import Unresolvable

        try:
            return self.resolver.lookup(reference).contents
        except (Unresolvable, ValueError):
            raise ToolError(f"$ref {json.dumps(reference)} names nothing in this schema; no other is read") from None


def _together(one: Data, other: Data) -> Data:
    """Return one schema of two. Of two values of a keyword, or of a property, the first is kept."""
    both = {**other, **one}
    if "required" in both:
        both["required"] = [*one.get("required", ()), *other.get("required", ())]
    if "properties" in both:
        both["properties"] = {**other.get("properties", {}), **one.get("properties", {})}
    return both


def _is_linear(pattern: Any) -> bool:
    """Whether a pattern takes time in proportion to the text; one with look-arounds or back references might not."""
    try:
        return isinstance(pattern, str) and bool(SchemaValidator({"type": "str", "pattern": pattern}))
    except SchemaError:
        return False
