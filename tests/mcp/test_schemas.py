"""Schemas of other drafts and libraries are rewritten in the plain form; what can't be checked is left to the server."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from planexec_lab.json_schema import plain, tool_from_schema
from planexec_lab.mcp.worlds import WORLDS, tools_of
from planexec_lite import Tool
from planexec_lite.model.schemas import closed_parameters
from planexec_lite.tools import ToolError


def echo(**arguments: Any) -> dict[str, Any]:
    return arguments


def of(schema: Any) -> Tool:
    return tool_from_schema(echo, schema, name="search", checked_elsewhere=True)


CITY = {"$anchor": "city", "type": "string"}
X = {"type": "object", "properties": {"x": {"type": "number"}}}
KIND = {"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"], "additionalProperties": False}
COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
FROM_OTHERS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"properties": {"a": {"anyOf": [X, {"type": "null"}]}, "b": {"$ref": "#/properties/a/anyOf/0"}}},
     {"b": {"x": 1}}, {"b": {"x": "no"}}),
    ({"properties": {"a": {"allOf": [{"type": "string"}]}, "b": {"$ref": "#/properties/a/allOf/0"}}}, {"b": "x"}, {"b": 1}),
    ({"properties": {"a": {"$ref": "#city"}}, "$defs": {"c": CITY}}, {"a": "Oslo"}, {"a": 1}),
    ({"properties": {"a": {"$ref": "#/$defs/Page%5BItem%5D"}}, "$defs": {"Page[Item]": CITY}}, {"a": "x"}, {"a": 1}),
    ({"properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}}}, {"n": 1}, {"n": 0}),
    ({"properties": {"n": {"type": "number", "maximum": 5, "exclusiveMaximum": True}}}, {"n": 4.5}, {"n": 5}),
    ({"properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": False}}}, {"n": 0}, {"n": -1}),
    ({"properties": {"at": {"type": "array", "items": [{"type": "number"}, {"type": "number"}]}}}, {"at": [1, 2]}, {"at": 1}),
    ({"properties": {"at": {"type": "array", "items": [CITY]}, "b": {"$ref": "#/properties/at/items/0"}}},
     {"b": "x"}, {"b": 1}),
    ({"anyOf": [{**X, "required": ["x"]}, {"properties": {"x": {"type": "string"}, "y": {"type": "integer"}}, "required": ["x"]}]},
     {"x": "1", "y": 2}, {"y": 2}),
    ({"oneOf": [{"$ref": "#/$defs/X"}, {"properties": {"y": {"type": "string"}}}], "$defs": {"X": X}}, {"y": "a"}, {"z": 1}),
    ({"allOf": [{**X, "required": ["x"]}, {"properties": {"y": {"type": "string"}}}]}, {"x": 1, "y": "a"}, {"y": "a"}),
    ({"$ref": "#/$defs/X", "$defs": {"X": X}}, {"x": 1}, {"x": "no"}),
    ({"properties": {"a": {"type": "object", "additionalProperties": COUNTS}}},
     {"a": {"x": {"y": 1}}}, {"a": {"x": 1}}),
    ({"properties": {"a": {**X, "additionalProperties": {"type": "string"}}}}, {"a": {"x": 1, "y": "z"}}, {"a": {"y": 1}}),
    ({"properties": {"a": {"oneOf": [KIND, X | {"required": ["x"]}], "discriminator": {"propertyName": "k"}}}},
     {"a": {"k": "a"}}, {"a": {"k": "b"}}),
    ({"properties": {"a": {"$ref": "#/$defs/X", "nullable": True}}, "$defs": {"X": X}}, {"a": None}, {"a": 1}),
    ({"properties": {"a": {"type": "string", "enum": ["x", None], "nullable": True}}}, {"a": None}, {"a": "y"}),
    ({"$id": "https://x.org/s", "$defs": {"X": X}, "properties": {"a": {"$ref": "https://x.org/s#/$defs/X"}}}, {"a": {}}, {"a": 1}),
    ({"properties": {"a": {"enum": [1, "1", None]}}}, {"a": "1"}, {"a": True}),
    ({"properties": {"a": {"const": {"k": 1}}}}, {"a": {"k": 1}}, {"a": {"k": 2}}),
    ({"properties": {"a": {"allOf": [{"$ref": "#/$defs/X"}, {"required": ["y"]}]}}, "$defs": {"X": X}},
     {"a": {"y": 1}}, {"a": {"x": 1}}),
    ({"required": ["b"], "properties": {"a": {"type": "string"}}}, {"b": 1}, {"a": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "right", "wrong"), FROM_OTHERS)
def test_schemas_of_other_libraries_and_drafts_are_read(
    schema: dict[str, Any], right: dict[str, Any], wrong: dict[str, Any]
) -> None:
    tool = of(schema)
    assert (tool.faults(right), tool.call(right)) == ([], right)
    assert tool.faults(wrong)
    assert set(closed_parameters(tool)["required"]) >= set(right)


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"anyOf": [{"type": "string"}]}, "its schema must be that of an object"),
        ({"type": "string"}, "its schema must be that of an object"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "its arguments have no names of their own"),
        ({"allOf": [False]}, "a schema is an object, not false"),
        ({"properties": {"x": False}}, "x: a schema is an object, not false"),
        ({"$ref": "#/$defs/no"}, r'"#/\$defs/no" names nothing in this schema'),
        ({"properties": {"x": {"$ref": "https://127.0.0.1/schema"}}}, "x: .* no other is read"),
        ({"properties": {"x": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}}, "does it contain itself"),
        ({"properties": []}, "can't be read"),
        ({"required": None}, "can't be read"),
        ({"properties": {"x": {1, 2}}}, "can't be read"),
    ],
)
def test_a_schema_that_can_not_be_read_is_rejected(schema: Any, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        plain(schema)


REWRITTEN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "string", "nullable": True}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ({"enum": ["a", "b"], "nullable": True}, {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}),
    ({"const": "a", "not": {}, "description": "d"}, {"enum": ["a"], "description": "d"}),
    ({"type": ["string", "null"], "x-hint": 1}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ({"items": {"type": "string"}, "uniqueItems": True}, {"type": "array", "items": {"type": "string"}}),
    ({"type": "string", "pattern": "(?=a)"}, {"type": "string"}),
    ({"minimum": 3}, {}),
    ({"type": "object", "patternProperties": {"^x-": {"type": "string"}}},
     {"type": "object", "additionalProperties": True}),
    ({"type": "object", "additionalProperties": {"oneOf": [{"type": "string"}]}},
     {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("parameter", "rewritten"), REWRITTEN)
def test_keywords_of_other_dialects_are_rewritten_or_left_out(
    parameter: dict[str, Any], rewritten: dict[str, Any]
) -> None:
    assert plain({"properties": {"x": parameter}})["properties"]["x"] == rewritten


def test_null_fits_where_a_schema_says_nullable() -> None:
    tool = of({"properties": {"x": {"type": "string", "nullable": True}}, "required": ["x"]})
    assert (tool.faults({"x": None}), tool.call({"x": None}), tool.call({"x": "a"})) == ([], {"x": None}, {"x": "a"})
    assert tool.faults({}) != []


def test_each_alternative_of_an_inner_object_keeps_its_conditions() -> None:
    either = {**X, "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    tool = of({"properties": {"x": either}})
    assert tool.faults({"x": {"a": "1"}}) == tool.faults({"x": {"b": 1}}) == []
    assert tool.faults({"x": {}})


def fan_out(parts: Callable[[dict[str, Any]], Any], levels: int) -> dict[str, Any]:
    named = [{"allOf": parts({"$ref": f"#/definitions/d{n + 1}"})} for n in range(levels)]
    return {f"d{n}": part for n, part in enumerate([*named, {"type": "integer"}])}


def test_a_schema_that_expands_too_much_is_rejected() -> None:
    whole = {"properties": {"x": {"$ref": "#/definitions/d0"}}}
    with pytest.raises(ToolError, match="more than 6,000 parts"):
        plain(whole | {"definitions": fan_out(lambda to: [to, to], 15)})
    assert plain(whole | {"definitions": fan_out(lambda to: [to], 8)})["properties"] == {"x": {"type": "integer"}}


def test_a_plain_schema_stays_as_it_is_and_loads_nothing() -> None:
    for tool in (one for world in WORLDS for one in tools_of(world)):
        rewritten = plain(tool.schema)
        assert plain(rewritten) == rewritten
        if "$defs" not in tool.schema:
            assert rewritten == {"required": [], **tool.schema}
    program = (
        "import sys, planexec_lite, planexec_lab.mcp\n"
        "from planexec_lab.json_schema import plain\n"
        "plain({'properties': {'x': {'type': 'string'}}})\n"
        "print({'referencing', 'jsonschema'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
