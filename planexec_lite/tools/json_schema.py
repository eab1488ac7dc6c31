"""From a JSON schema to what checks arguments: for tools whose parameters are written down, and not in type hints.

Published lists, servers and manifests describe a tool's arguments as an object in JSON schema. It becomes a validator of
the same library that checks type hints, so both kinds of tools take the same values and say the same of wrong ones.

Checked are ``type``, ``enum``, ``const``, ``anyOf``, ``allOf``, ``properties``, ``required``, ``additionalProperties``,
``items``, ``$ref`` into the schema itself, and bounds: ``minimum``, ``maximum`` and the exclusive ones, ``minLength``,
``maxLength``, ``minItems``, ``maxItems``, ``pattern``, ``multipleOf`` of whole numbers; of ``oneOf``, that one of them
fits. What else would bind a value is refused or named, and never passed over in silence (`arguments_from`). What JSON schema
calls annotations, such as ``title`` and ``default``, binds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from math import ceil, floor
from threading import local
from typing import Any

from pydantic_core import CoreSchema, PydanticCustomError, SchemaError, SchemaValidator, ValidationError, core_schema

from planexec_lite import references
from planexec_lite.tools.schema import Arguments, ToolError, kind_of
from planexec_lite.tools.schema_parts import MOST_PARTS, SchemaPartError, composed, expanded_size, modern, target

CHOICE = "\0"
"""The place of a choice among others in an error: it is no part of the value, so it is not shown."""

TOO_DEEP = "too_deep"
"""The type of the error that ends a validation after too many tries."""

_MOST_TRIES = 1_000  # against choices, and some more for each part of a large value
_DEEPEST = 40  # objects in objects; a deeper schema is a trap for whoever reads it
_UNCHECKED = frozenset(
    "format not if then else uniqueItems contains minContains maxContains prefixItems additionalItems unevaluatedItems "
    "unevaluatedProperties patternProperties propertyNames minProperties maxProperties dependencies dependentRequired "
    "dependentSchemas $dynamicRef $recursiveRef".split()
)
_ONLY_INSIDE = ("anyOf", "oneOf", "allOf", "enum", "const", "$ref")  # at the root they say what goes with what
_BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
_LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")


def arguments_from(name: str, schema: Mapping[str, Any], *, checked_elsewhere: bool = False) -> Arguments:
    """Return what checks arguments by `schema`, a JSON schema of an object, for the tool `name`.

    The object is closed, whether or not `schema` says so: a plan can name the parameters in ``properties`` and no others.
    A null for a parameter that may be left out, and takes none, leaves it out.

    Raises `ToolError` for a schema that is none, or is no object's, and, unless the arguments are also `checked_elsewhere`,
    for one with keywords that can't be checked here. With it they stay in the schema, and `Arguments.unchecked` lists them.
    """
    try:
        root = json.loads(json.dumps(schema))  # nobody else has this copy
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"tool {name!r}: its schema is not JSON ({error})") from None
    if not isinstance(root, dict) or root.get("type", "object") != "object":
        raise ToolError(f'tool {name!r}: its schema must be that of an object, {{"type": "object", "properties": …}}')
    if not isinstance(root.get("properties", {}), dict) or not isinstance(root.get("required", []), list):
        raise ToolError(f"tool {name!r}: in its schema, properties is an object and required a list of names")
    try:
        root = modern(root)
        if (size := expanded_size(root)) > MOST_PARTS:
            raise ToolError(
                f"tool {name!r}: its schema has {size:.0e} parts with each $ref written out; at most {MOST_PARTS} are read"
            )
        properties, required = composed(root, root)
    except SchemaPartError as error:
        raise ToolError(f"tool {name!r}: {error}") from None
    except RecursionError:
        raise ToolError(f"tool {name!r}: its schema is deeper than {_DEEPEST} levels") from None
    properties = {one: {} if part is True else part for one, part in properties.items()}
    for one in required:
        properties.setdefault(one, {})
    closed = {**root, "type": "object", "properties": properties, "additionalProperties": False}
    if required:
        closed["required"] = required
    whole, some = _Reader(name, closed), _Reader(name, closed, spare_references=True)
    validate, validate_some = whole.read(required), some.read(())
    if whole.unchecked and not checked_elsewhere:
        raise ToolError(f"tool {name!r}: its schema says what can't be checked here: {'; '.join(whole.unchecked)}")
    spare = frozenset(name for name in properties if name not in required and not _takes_null(validate_some, name))
    left_out = _LeftOut(spare, validate), _LeftOut(spare, validate_some)
    return Arguments(*left_out, lambda: closed, tuple(whole.unchecked))


def _takes_null(validate: Callable[[Any], Any], name: str) -> bool:
    try:
        validate({name: None})
    except ValidationError:
        return False
    return True


class _LeftOut:
    """Validates without the nulls of parameters that may be left out: under a strict schema a model can't leave any out."""

    def __init__(self, names: frozenset[str], validate: Callable[[Any], Any]) -> None:
        self.names = names
        self.validate = validate

    def __call__(self, params: Mapping[str, Any]) -> Any:
        given = {name: value for name, value in params.items() if value is not None or name not in self.names}
        return self.validate(given)


class _Reader:
    """Reads one schema; with `spare_references`, what a reference stands for is not judged, however deep it is."""

    def __init__(self, tool: str, root: dict[str, Any], *, spare_references: bool = False) -> None:
        self.tool = tool
        self.root = root
        self.spare_references = spare_references
        self.unchecked: dict[str, None] = {}
        self.definitions: dict[str, CoreSchema] = {}
        self.work = _Work()

    def read(self, required: Any) -> Callable[[Any], Any]:
        """Return what validates the whole object, in which the parameters `required` must be."""
        self._note(self.root, "the whole object", (*_UNCHECKED, *_ONLY_INSIDE))
        fields = {}
        for name, part in self.root["properties"].items():
            fields[name] = core_schema.typed_dict_field(self._node(part, name, 1), required=name in required)
        arguments: CoreSchema = core_schema.typed_dict_schema(fields, extra_behavior="forbid")
        if self.definitions:
            arguments = core_schema.definitions_schema(arguments, list(self.definitions.values()))
        try:
            return self.work.beginning(SchemaValidator(arguments).validate_python)
        except SchemaError as error:
            raise ToolError(f"tool {self.tool!r}: its schema can't be read ({str(error).splitlines()[0]})") from None

    def _node(self, schema: Any, where: str, depth: int) -> CoreSchema:
        if schema is True:
            return core_schema.any_schema()
        if not isinstance(schema, dict):
            raise self._wrong(where, f"a schema is an object, not {json.dumps(schema)}")
        if depth > _DEEPEST:
            raise self._wrong(where, f"the schema is deeper than {_DEEPEST} levels")
        self._note(schema, where, _UNCHECKED)
        parts = [*self._parts(schema, where, depth)]
        node = parts[0] if len(parts) == 1 else core_schema.chain_schema(parts) if parts else core_schema.any_schema()
        return core_schema.no_info_wrap_validator_function(_spared, node) if self.spare_references else node

    def _parts(self, schema: dict[str, Any], where: str, depth: int) -> Iterator[CoreSchema]:
        """Each thing that a value must be, one keyword after another."""
        if "$ref" in schema:
            yield self._reference(schema["$ref"], where, depth)
        options = [schema["const"]] if "const" in schema else schema.get("enum")
        if options is not None:
            if not isinstance(options, list) or not options or any(isinstance(one, list | dict) for one in options):
                raise self._wrong(where, "enum is a list of texts, numbers, true, false or null, and not empty")
            yield core_schema.literal_schema(options)
        elif kinds := self._kinds(schema, where):
            yield self._any_of([{**schema, "type": kind} for kind in kinds], self._typed, where, depth)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield self._any_of(self._listed(schema, keyword, where), self._node, where, depth + 1)
        if "oneOf" in schema:
            self.unchecked[f"{where}: oneOf, that only one of them fits"] = None
        for part in self._listed(schema, "allOf", where) if "allOf" in schema else ():
            yield self._node(part, where, depth + 1)

    def _kinds(self, schema: dict[str, Any], where: str) -> list[str]:
        kinds = schema.get("type")
        if kinds is None:  # most people leave it out where the keywords say it
            kinds = "object" if schema.keys() & {"properties", "required", "additionalProperties"} else []
            kinds = "array" if "items" in schema else kinds
            for keyword in schema.keys() & {"pattern", *_BOUNDS, *_LENGTHS} if not kinds else ():
                self.unchecked[f"{where}: {keyword} without a type"] = None
        kinds = [kinds] if isinstance(kinds, str) else kinds
        known = {"string", "integer", "number", "boolean", "null", "array", "object"}
        if not isinstance(kinds, list) or not all(isinstance(kind, str) and kind in known for kind in kinds):
            raise self._wrong(where, f"the type {json.dumps(schema['type'])} is none of {', '.join(sorted(known))}")
        return kinds

    def _any_of(self, schemas: list[Any], read: Any, where: str, depth: int) -> CoreSchema:
        nulls = [one for one in schemas if isinstance(one, dict) and one.get("type") == "null"]
        others = [one for one in schemas if one not in nulls]
        choices = [read(one, where, depth) for one in others]
        if not choices:
            return core_schema.none_schema()
        node: CoreSchema = choices[0]
        if len(choices) > 1:
            # where no choice has parts, one sentence is clearer than one of each
            deep = any(kind_of(one).split()[0] in ("list", "object", "any") or "$ref" in one for one in others)
            words: Any = {} if deep else _in_words(f"Input should be {' or '.join(map(kind_of, others))}")
            node = core_schema.union_schema([(choice, CHOICE) for choice in choices], **words)
            if deep:  # choices in choices of a value that is as deep as it likes
                node = core_schema.no_info_wrap_validator_function(self.work.counted, node)
        return core_schema.nullable_schema(node) if nulls else node

    def _typed(self, schema: dict[str, Any], where: str, depth: int) -> CoreSchema:
        match schema["type"]:
            case "string":
                return core_schema.str_schema(**self._lengths(schema, where, "Length"), **self._pattern(schema, where))
            case "boolean":
                return core_schema.bool_schema()
            case "array":
                items = self._node(schema.get("items", True), f"{where}[]", depth + 1)
                return core_schema.list_schema(items, **self._lengths(schema, where, "Items"))
            case "object":
                return self._object(schema, where, depth)
        given = schema.keys() & _BOUNDS.keys()
        bounds: dict[str, Any] = {_BOUNDS[keyword]: self._bound(schema, keyword, where) for keyword in sorted(given)}
        step = self._bound(schema, "multipleOf", where) if "multipleOf" in schema else None
        if schema["type"] == "integer":
            whole: dict[str, Any] = {
                ours: floor(bound) if ours in ("le", "gt") else ceil(bound) for ours, bound in bounds.items()
            }
            if isinstance(step, int):
                return core_schema.int_schema(**whole, multiple_of=step)
            self._name_step(step, where)
            return core_schema.int_schema(**whole)
        self._name_step(step, where)
        number = core_schema.float_schema(**bounds, allow_inf_nan=False)
        return core_schema.no_info_wrap_validator_function(_still_whole, number)

    def _object(self, schema: dict[str, Any], where: str, depth: int) -> CoreSchema:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise self._wrong(where, "properties is an object and required a list of names")
        listed = {**properties, **{str(name): properties.get(str(name), True) for name in required}}
        fields = {
            name: core_schema.typed_dict_field(
                self._node(part, f"{where}.{name}", depth + 1), required=name in required
            )
            for name, part in listed.items()
        }
        extra = schema.get("additionalProperties", True)
        if extra is False:
            return core_schema.typed_dict_schema(fields, extra_behavior="forbid")
        others = self._node(extra, f"{where}.*", depth + 1)
        return core_schema.typed_dict_schema(fields, extras_schema=others, extra_behavior="allow")

    def _reference(self, reference: Any, where: str, depth: int) -> CoreSchema:
        try:
            part = target(self.root, reference)
        except SchemaPartError as error:
            raise self._wrong(where, str(error)) from None
        if reference not in self.definitions:
            self.definitions[reference] = core_schema.any_schema(ref=reference)  # while it is read, it may name itself
            node = self._node(part, where, depth + 1)
            self.definitions[reference] = core_schema.chain_schema([node], ref=reference)
        return core_schema.definition_reference_schema(reference)

    def _lengths(self, schema: dict[str, Any], where: str, of: str) -> Any:
        named = {f"min{of}": "min_length", f"max{of}": "max_length"}
        return {ours: int(self._bound(schema, theirs, where)) for theirs, ours in named.items() if theirs in schema}

    def _pattern(self, schema: dict[str, Any], where: str) -> Any:
        """A pattern of the kind that takes linear time; one with look-arounds or back references can't be checked."""
        pattern = schema.get("pattern")
        if pattern is None:
            return {}
        try:
            SchemaValidator(core_schema.str_schema(pattern=pattern))
        except SchemaError:
            self.unchecked[f"{where}: pattern {json.dumps(pattern)}"] = None
            return {}
        return {"pattern": pattern}

    def _bound(self, schema: dict[str, Any], keyword: str, where: str) -> int | float:
        bound: Any = schema[keyword]
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            raise self._wrong(where, f"{keyword} is a number, not {json.dumps(bound)}")
        return bound

    def _listed(self, schema: dict[str, Any], keyword: str, where: str) -> list[Any]:
        parts = schema[keyword]
        if not isinstance(parts, list) or not parts:
            raise self._wrong(where, f"{keyword} is a list of schemas, and not empty")
        return parts

    def _name_step(self, step: int | float | None, where: str) -> None:
        if step is not None:
            self.unchecked[f"{where}: multipleOf {step}"] = None

    def _note(self, schema: dict[str, Any], where: str, keywords: Any) -> None:
        for keyword in keywords:
            if keyword in schema and not (keyword == "propertyNames" and schema[keyword] == {"type": "string"}):
                value = f" {schema[keyword]}" if isinstance(schema[keyword], str) else ""
                self.unchecked[f"{where}: {keyword}{value}"] = None

    def _wrong(self, where: str, why: str) -> ToolError:
        return ToolError(f"tool {self.tool!r}, parameter {where!r}: {why}")


class _Work(local):
    """Counts how often one validation tries a value against choices: for a deep value, choices in choices could take years."""

    params: Any = None
    tries, most = 0, _MOST_TRIES

    def beginning(self, validate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def validated(params: Any) -> Any:
            self.params, self.tries, self.most = params, 0, _MOST_TRIES
            return validate(params)

        return validated

    def counted(self, value: Any, judge: Callable[[Any], Any]) -> Any:
        self.tries += 1
        if self.tries > self.most == _MOST_TRIES:
            self.most += 4 * _parts(self.params)
        if self.tries > self.most:
            raise PydanticCustomError(TOO_DEEP, "Input should be less deep, to be tried against all choices")
        return judge(value)


def _parts(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 1 + sum(map(_parts, inner))


def _in_words(message: str) -> dict[str, Any]:
    return {"custom_error_type": "no_choice_fits", "custom_error_message": message}


def _spared(value: Any, judge: Callable[[Any], Any]) -> Any:
    return value if references.is_whole(value) else judge(value)


def _still_whole(value: Any, judge: Callable[[Any], Any]) -> Any:
    """In JSON 3 is a number, and is not to arrive as 3.0."""
    number = judge(value)
    return value if type(value) is int else number
