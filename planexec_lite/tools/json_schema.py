"""From a JSON schema to validated arguments, for tools that describe their parameters so: MCP servers, manifests, lists.

A schema has the form in which pydantic writes one: each part has a ``type``, an ``enum`` or ``anyOf``, or is a ``$ref``
to one of the ``$defs``. `planexec_lab.json_schema` rewrites other dialects in this form. The planner's response schema
and the validator both read it with each ``$ref`` written out. That is bounded (`MOST_PARTS`), and a schema that
contains itself is refused, so a stranger's schema costs little time and memory.

The validator comes from the library that checks type hints, so both kinds of tools accept the same values. Keywords
that it can't check are refused, except where the function checks its arguments itself (``checked_elsewhere``). The keyword
``x-condition`` of a type hint's schema is such a one: a strict type, a type of keys, a time zone, a number of digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from pydantic_core import CoreSchema, SchemaError, SchemaValidator, core_schema

from planexec_lite.tools.signature import (
    Arguments,
    Data,
    Params,
    ToolError,
    same_meaning,
    uninterrupted,
)

MOST_PARTS = 2_000
"""How many schemas a tool's schema can contain, with each ``$ref`` written out."""

_DEEPEST = 40  # levels of schemas in schemas
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
    "string": (
        "str",
        {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    ),
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
_WORDS = frozenset(
    "title description default examples deprecated readOnly writeOnly $comment $schema $defs".split()
)
_OBJECT = frozenset(("type", "properties", "required", "additionalProperties"))
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, SchemaError)


@uninterrupted()
def arguments_from(name: str, schema: Params, *, checked_elsewhere: bool = False) -> Arguments:
    """Return how the arguments of the tool `name` are read, which `schema` describes.

    The object is closed: a plan can name only the parameters in ``properties``. If an optional parameter without a
    default does not accept null, a null counts as leaving the parameter out.

    Raises `ToolError` for a schema that can't be read. It also raises it for a schema with keywords that can't be
    checked here, unless the arguments are `checked_elsewhere`.
    """
    try:
        root = json.loads(json.dumps(schema))  # a copy that the caller can't change
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"tool {name!r}: its schema is not JSON ({error})") from None
    properties = written_out(name, root)
    required = tuple(root.get("required", ()))
    fields: dict[str, CoreSchema] = {}
    optional = set()
    unread = _unread(root, _OBJECT)
    if unread and not checked_elsewhere:
        raise ToolError(f"tool {name!r}: {_not_checked(unread)}")
    for parameter, part in properties.items():
        try:
            fields[parameter] = node = _node(part, unread)
            takes_null = SchemaValidator(node).isinstance_python(None)
        except _UNREADABLE as error:  # such as a bound below zero
            words = " ".join(str(error).split())
            raise _error(name, parameter, f"its schema can't be read ({words})") from None
        if unread and not checked_elsewhere:
            raise _error(name, parameter, _not_checked(unread))
        if parameter not in required and "default" not in part and not takes_null:
            optional.add(parameter)
    validate = SchemaValidator(_object(fields, required=(), others=None)).validate_python

    def given(params: Params) -> Any:
        """Read the arguments without the nulls of optional ones: a strict schema forces a model to write them."""
        left_out = {name for name in optional if params.get(name) is None}
        return validate({name: value for name, value in params.items() if name not in left_out})

    named = root.get("properties", {})
    for parameter, part in named.items():
        if part is True:
            named[parameter] = {}
    closed = {
        **root,
        "type": "object",
        "additionalProperties": False,
        "properties": named,
    }
    defaults = {name: part["default"] for name, part in properties.items() if "default" in part}
    return Arguments(given, lambda values: values, lambda: closed, required, defaults, root)


def _error(tool: str, parameter: str, why: str) -> ToolError:
    return ToolError(f"tool {tool!r}, parameter {parameter!r}: {why}")


def _not_checked(unread: Params) -> str:
    keyword = min(unread)
    words = f"its schema has a keyword that can't be checked here: {keyword} {unread[keyword]}"
    return f"{words}; planexec_lab.json_schema.plain rewrites other dialects"


def written_out(tool: str, schema: Any) -> Data:
    """Return the parameters of a tool by name, each ``$ref`` written out; `schema` is that of an object.

    Raises `ToolError` for a schema that can't be read, is too large or contains itself.
    """
    if not _is_of_object(schema):
        raise ToolError(
            f'tool {tool!r}: its schema must be that of an object, {{"type": "object", "properties": …}}'
        )
    definitions = schema.get("$defs", {})
    parts = count(1)

    def written(part: Any, depth: int) -> Data:
        if next(parts) > MOST_PARTS or depth > _DEEPEST:
            raise RecursionError
        whole: Data = {} if part is True else dict(part)
        if "$ref" in whole:
            target = written(definitions[whole["$ref"].removeprefix("#/$defs/")], depth + 1)
            words = {keyword: whole[keyword] for keyword in whole if keyword in _WORDS}
            if len(words) + 1 < len(whole):
                words["$ref"] = whole["$ref"]  # it stays, because there are conditions beside it
            return target | words
        _TYPES[whole.get("type")]  # raises for an unknown type
        if "const" in whole:
            whole["enum"] = [whole.pop("const")]
        if choices := whole.get("oneOf", whole.get("anyOf")):
            distinct = {json.dumps(choice, sort_keys=True): choice for choice in choices}
            whole["anyOf"] = [written(choice, depth + 1) for choice in distinct.values()]
        if "prefixItems" in whole:
            whole["items"] = {"anyOf": whole["prefixItems"]}
        for keyword in ("items", "additionalProperties"):
            if whole.get(keyword, False) is not False:
                whole[keyword] = written(whole[keyword], depth + 1)
        if "properties" in whole:
            fields = whole["properties"].items()
            whole["properties"] = {name: written(field, depth + 1) for name, field in fields}
        return whole

    parameters: Data = {}
    try:
        for parameter, part in schema.get("properties", {}).items():
            parameters[parameter] = written(part, 1)
    except RecursionError:
        bounds = f"more than {MOST_PARTS:,} parts with each $ref written out, or is deeper than {_DEEPEST} levels"
        raise _error(
            tool, parameter, f"its schema has {bounds}; does it contain itself?"
        ) from None
    except _UNREADABLE:
        form = json.dumps(part)[:60]
        raise _error(
            tool, parameter, f"its schema has a form that can't be read here: {form}"
        ) from None
    return parameters


def _is_of_object(schema: Any) -> bool:
    if not isinstance(schema, dict) or schema.keys() & {
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "enum",
    }:
        return False
    if not isinstance(schema.get("properties", {}), dict):
        return False
    if not isinstance(schema.get("required", []), list):
        return False
    return bool(schema.get("type", "object") == "object")


def _unread(part: Params, read: frozenset[str] | set[str]) -> Data:
    """Return the conditions of a schema that are not among those `read`."""
    unread = {keyword: part[keyword] for keyword in part.keys() - read - _WORDS}
    fields = part.get("properties", {})
    if any(name not in fields for name in part.get("required", ())):
        unread["required"] = part["required"]
    return unread


def _node(part: Params, unread: Data) -> Any:
    """Return pydantic's own form of a schema that is written out, and add the conditions that it lacks to `unread`."""
    kind = part.get("type")
    name, bounds = _TYPES[kind]
    read = {
        keyword for keyword in bounds if not isinstance(part.get(keyword), bool)
    }  # as draft 4 has them
    node: Any = {"type": name}
    for keyword in read & part.keys():
        node[bounds[keyword]] = part[keyword]
    read.add("type")
    if "enum" in part:
        node = core_schema.literal_schema(part["enum"])
        read.add("enum")
    elif "anyOf" in part:
        node = _choice(part["anyOf"], unread)
        read = {"anyOf"}
    elif kind == "object":
        inner = part.get("properties", {})
        fields = {name: _node(field, unread) for name, field in inner.items()}
        others = part.get("additionalProperties", {})
        extra = None if others is False else _node(others, unread)
        node = _object(fields, part.get("required", ()), extra)
        read |= _OBJECT
    elif kind == "array":
        node["items_schema"] = _node(part.get("items", {}), unread)
        read.add("items")
    elif kind == "number":
        node = core_schema.no_info_wrap_validator_function(
            _still_whole, node | {"allow_inf_nan": False}
        )
    elif kind == "string" and part.get("format") in _FORMATS:
        read.add("format")
        as_read: Any = {"type": _FORMATS[part["format"]]}
        of_format = core_schema.no_info_wrap_validator_function(_as_text, as_read)
        bounded = len(node) > 1
        node = core_schema.chain_schema([node, of_format]) if bounded else of_format
    unread |= _unread(part, read)
    return node


def _choice(schemas: list[Data], unread: Data) -> CoreSchema:
    """Return pydantic's form of ``anyOf``."""
    others = [one for one in schemas if one.get("type") != "null"] or schemas
    node = _node(others[0], unread)
    if len(others) > 1:
        rest = [_node(other, unread) for other in others[1:]]
        node = core_schema.union_schema([node, *rest])
    return core_schema.nullable_schema(node) if len(others) < len(schemas) else node


def _object(
    fields: Mapping[str, CoreSchema], required: Any, others: CoreSchema | None
) -> CoreSchema:
    typed = {}
    for name, node in fields.items():
        typed[name] = core_schema.typed_dict_field(node, required=name in required)
    if others is None:
        return core_schema.typed_dict_schema(typed, extra_behavior="forbid")
    return core_schema.typed_dict_schema(typed, extras_schema=others, extra_behavior="allow")


def _still_whole(value: Any, judge: Callable[[Any], Any]) -> Any:
    """Keep an int an int: JSON does not distinguish 3 from 3.0, but the result must stay 3."""
    number = judge(value)
    return value if type(value) is int else number


def _as_text(value: Any, judge: Callable[[Any], Any]) -> Any:
    """Check a text that has a format, such as a date, and keep it; a value of another meaning is returned as it was read."""
    read = judge(value)
    return value if same_meaning(value, read) else read
