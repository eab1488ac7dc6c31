"""Tools from a JSON schema check arguments and can be shown and pickled like tools from type hints."""

import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.json_schema import plain, tool_from_schema
from planexec_lite import Tool
from planexec_lite.meter import Meter
from planexec_lite.tools import ToolError
from tests.rounds import rounds

SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "what to look for", "minLength": 1},
        "most": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "deep": {"type": "boolean"},
        "kind": {"enum": ["web", "news"]},
        "from-day": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "area": {"$ref": "#/$defs/Area"},
    },
    "required": ["query"],
    "$defs": {
        "Area": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "number"},
                "within": {"$ref": "#/$defs/Name"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "Name": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
}


def echo(**arguments: Any) -> dict[str, Any]:
    return arguments


def of(schema: dict[str, Any], *, checked_elsewhere: bool = False, **declared: Any) -> Tool:
    return tool_from_schema(echo, schema, name="search", checked_elsewhere=checked_elsewhere, **declared)


def one(parameter: dict[str, Any], *, checked_elsewhere: bool = False, **more: Any) -> Tool:
    return of({"properties": {"x": parameter}, **more}, checked_elsewhere=checked_elsewhere)


def hinted(query: str, most: int = 3, deep: bool = False) -> str:
    return query


def test_a_tool_from_a_schema_has_a_signature_and_description() -> None:
    search = tool_from_schema(echo, SEARCH, name="search", description="Search\n  the web.")
    assert search.description == "Search the web."
    assert search.parameters == ("query", "most", "deep", "kind", "from-day", "area")
    assert search.required == ("query",)
    area = search.schema["properties"]["area"]
    assert area["properties"]["within"]["properties"] == {"name": {"type": "string"}}, "each $ref is written out"
    assert (area["required"], area["additionalProperties"]) == (["name"], False)
    assert search.schema["additionalProperties"] is False
    assert {name: part for name, part in search.schema["properties"].items() if name != "area"} == {
        name: part for name, part in SEARCH["properties"].items() if name != "area"
    }
    assert search.signature == (
        "search(query: string, most: integer = 3, deep: boolean, kind: one of web, news, "
        "from-day: string or integer or null, area: object)"
    )


def test_its_faults_have_the_same_messages_as_those_from_type_hints() -> None:
    tool = Tool(hinted, name="search", effects="none")
    wrong: list[dict[str, Any]] = [{}, {"query": 5}, {"query": "a", "most": "x"}, {"query": "a", "mosst": 1}]
    for params in [*wrong, {"qeury": "a", "most": []}, {"input": "a"}]:
        assert of(tool.schema).faults(params) == tool.faults(params)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"query": ""}, "'query'"),
        ({"query": "a", "most": 10}, "'most'"),
        ({"query": "a", "kind": "books"}, "'kind'"),
        ({"query": "a", "from-day": []}, "'from-day': input should be string or integer"),
        ({"query": "a", "area": {"name": "x", "within": {"name": 5}}}, "'area.within.name'"),
        ({"query": "a", "area": {"name": "x", "color": 5}}, "'area.color'"),
        ({"query": "a", "area": {}}, "'area.name'"),
    ],
)
def test_a_wrong_argument_is_named_and_the_tool_is_not_called(params: dict[str, Any], words: str) -> None:
    (fault,) = of(SEARCH).faults(params)
    assert words in fault.message
    assert fault.parameter == words.split("'")[1].partition(".")[0]
    with Meter() as meter, pytest.raises(ToolError, match=r"search: parameter"):
        of(SEARCH, latency=1.0).call(params)
    assert meter.seconds == 0


def test_a_reference_is_checked_when_its_value_is_known() -> None:
    known_later = "{step_1_result}"
    deep = {"name": "{step_1_result.a}", "size": known_later, "within": "{step_2_result}"}
    for params in (
        dict.fromkeys(("query", "most", "kind", "from-day"), known_later),
        {"query": "a", "area": deep},
        {"query": "a", "area": known_later},
    ):
        assert of(SEARCH).faults(params) == []
        with pytest.raises(ToolError):
            of(SEARCH).call(params)
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    either = one({"anyOf": [point, {"type": "array", "items": {"type": "integer"}}]})
    assert either.faults({"x": {"x": known_later}}) == either.faults({"x": [1, known_later]}) == []
    assert either.faults({"x": [1, "two"]})


def test_the_signature_shows_unusual_types_in_words() -> None:
    assert one({"anyOf": [{"type": "string"}, {"type": "null"}]}).signature == "search(x: string or null)"
    assert one({"type": "array", "items": {"type": "integer"}}).signature == "search(x: list of integer)"
    anything = of({"properties": {"x": True, "y": {"type": "array", "items": True}}})
    assert anything.signature == "search(x: any, y: list of any)"
    assert anything.call({"x": 1, "y": [None]}) == {"x": 1, "y": [None]}
    either = {"oneOf": [{"type": "string"}, {"const": 5}]}
    assert one(either, checked_elsewhere=True).signature == "search(x: string or one of 5)"


def test_the_function_gets_the_named_arguments() -> None:
    assert of(SEARCH).call({"query": "a", "from-day": None}) == {"query": "a", "from-day": None}
    assert of(SEARCH).call({"query": "a", "most": "4"}) == {"query": "a", "most": 4}
    assert type(one({"type": "number"}).call({"x": 3})["x"]) is int
    assert one({}).call({"x": [{"any": 1}]}) == {"x": [{"any": 1}]}
    assert of({}).call({}) == {}
    with Meter() as meter:
        of(SEARCH, latency=lambda most, **_: 2.0 * most).call({"query": "a"})
    assert meter.seconds == 6.0, "a latency function is given the defaults of the schema"


def test_null_leaves_out_an_optional_argument_without_a_default() -> None:
    given = {"query": "a", "deep": None, "from-day": None, "area": None}
    assert of(SEARCH).faults(given) == []
    assert of(SEARCH).call(given) == {"query": "a", "from-day": None}
    assert [fault.parameter for fault in of(SEARCH).faults({"query": None, "most": None})] == ["query", "most"]


NAMES = {"$defs": {"Name": {"type": "object", "properties": {"name": {"type": "string"}}}}}


@pytest.mark.parametrize(
    ("parameter", "keyword"),
    [
        ({"type": "string", "format": "hostname"}, "x: .*: format hostname"),
        ({"type": "array", "items": {"type": "string", "format": "email"}}, r"x: .*: format email"),
        ({"type": "array", "uniqueItems": True}, "x: .*: uniqueItems"),
        ({"not": {"type": "string"}}, "x: .*: not"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "x: .*: oneOf"),
        ({"minimum": 3}, "x: .*: minimum 3"),
        ({"type": "object", "patternProperties": {"a": {"type": "string"}}}, "x: .*: patternProperties"),
        ({"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 5}]}, "x: .*: allOf"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, "x: .*: prefixItems"),
        ({"type": "string", "nullable": True}, "x: .*: nullable"),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, "x: .*: minimum 0"),
        ({"type": ["string", "null"]}, "x: .*: type"),
        ({"type": "string", "pattern": "(?=a)"}, "x: .*: pattern"),
        ({"type": "array", "items": [{"type": "string"}]}, "x: .*: items"),
        ({"anyOf": [{"type": "integer", "minimum": 1}], "minimum": 3}, "x: .*: minimum 3"),
    ],
)
def test_an_uncheckable_schema_is_rejected_unless_it_is_checked_elsewhere(
    parameter: dict[str, Any], keyword: str
) -> None:
    with pytest.raises(ToolError, match=rf"tool 'search': {keyword}"):
        one(parameter, **NAMES)
    assert one(parameter, checked_elsewhere=True, **NAMES).parameters == ("x",)


def test_a_condition_on_the_whole_object_is_not_blamed_on_a_parameter() -> None:
    with pytest.raises(ToolError, match=r"tool 'search': .*: minProperties 1"):
        one({"type": "string"}, minProperties=1)


KINDS = [
    {"type": "object", "properties": {"k": {"const": "a"}, "x": {"type": "string"}}, "required": ["k", "x"]},
    {"type": "object", "properties": {"k": {"const": "b"}, "y": {"type": "number"}}, "required": ["k", "y"]},
]


@pytest.mark.parametrize(
    "kind", [{"anyOf": KINDS}, {"oneOf": KINDS}, {"anyOf": [{"oneOf": KINDS}, {"type": "array", "items": KINDS[0]}]}]
)
def test_a_fault_in_a_choice_names_the_place(kind: dict[str, Any]) -> None:
    tool = one(kind, checked_elsewhere=True)
    values: list[Any] = [{"k": "b", "x": "1"}, {"k": "c"}, "a", [1]]
    for value in values:
        with pytest.raises(ToolError) as caught:
            tool.call({"x": value})
        for message in [str(caught.value), *(fault.message for fault in tool.faults({"x": value}))]:
            assert re.search(r"parameter 'x(\.[kxy]|\[0\])?':", message)
            assert not re.search(r"function|typed|spared|\0|literal|choice", message)


def fan_out(parts: Callable[[dict[str, Any]], dict[str, Any]], levels: int) -> dict[str, Any]:
    """Schemas of which each names the next several times."""
    named = [parts({"$ref": f"#/$defs/d{n + 1}"}) for n in range(levels)]
    return {f"d{n}": part for n, part in enumerate([*named, {"type": "integer"}])}


def test_a_schema_that_expands_too_much_is_rejected_by_its_size() -> None:
    first = {"$ref": "#/$defs/d0"}
    for parts in (
        lambda to: {"type": "object", "properties": {"a": to, "b": to}},
        lambda to: {"anyOf": [to, {"type": "array", "items": to}]},
        lambda to: {"type": "array", "prefixItems": [to] * 10},
    ):
        with pytest.raises(ToolError, match="more than 6,000 parts with each"):
            one(first, checked_elsewhere=True, **{"$defs": fan_out(parts, 30)})


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"type": "text"}, '{"type": "text"}'),
        ("string", '"string"'),
        (False, "false"),
        ({"$ref": "#/$defs/None"}, "#/$defs/None"),
        ({"$ref": "https://127.0.0.1/schema"}, "https://127.0.0.1/schema"),
        ({"enum": []}, "length > 0"),
        (nested(60), "or 40 levels"),
        ({"anyOf": []}, "can't be read"),
        ({"type": "string", "minLength": "3"}, "'str' object"),
    ],
)
def test_an_unreadable_schema_is_rejected_at_its_place(parameter: Any, words: str) -> None:
    with pytest.raises(ToolError, match=r"tool 'search': x: ") as caught:
        one(parameter)
    assert words in str(caught.value)


def test_a_schema_that_contains_itself_is_rejected() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    with pytest.raises(ToolError, match=r"or 40 levels; does it contain itself\?"):
        one({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})


NO_BOUNDS: list[dict[str, Any]] = [
    {"type": "string", "minLength": -1},
    {"type": "array", "items": {"type": "string"}, "maxItems": float("nan")},
    {"type": "integer", "minimum": float("inf")},
    {"type": "number", "minimum": 10**400},
    {"type": "array", "items": False},
]
REFUSED: list[Any] = [
    [], {"type": "string"}, {"properties": []}, {"properties": {"x": {1, 2}}}, {"properties": {"x": nested(9000)}},
    {"properties": {"x": {"type": "object", "properties": []}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", [*REFUSED, *({"properties": {"x": one}} for one in NO_BOUNDS)])
def test_a_schema_that_is_not_an_object_or_has_an_invalid_bound_is_rejected(schema: Any) -> None:
    with pytest.raises(ToolError, match="tool 'search'"):
        of(schema)


LEAVES = st.sampled_from([
    {"type": "string"}, {"type": "string", "minLength": 2}, {"type": "string", "pattern": "^a"}, {"type": "boolean"},
    {"type": "integer", "minimum": 1}, {"type": "integer", "maximum": 3}, {"type": "number", "exclusiveMaximum": 2.5},
    {"type": "null"}, {"enum": ["a", 5, None]}, {"const": "a"}, {"type": ["string", "null"]}, {},
])  # fmt: skip
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda items, most: {"type": "array", "items": items, "maxItems": most}, inner, st.integers(0, 3)),
        st.fixed_dictionaries({
            "type": st.just("object"), "properties": st.fixed_dictionaries({"a": inner, "b": inner}),
            "required": st.sampled_from([[], ["a"], ["a", "b"]]), "additionalProperties": st.booleans() | inner,
        }),
        st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner),
        st.builds(lambda a, b: {"allOf": [a, b]}, inner, inner),
    ),
    max_leaves=5,
)  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(["a", "abc", "b", "", 5, 6, 1, 0, 2.5, None, True, False]),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=5,
)


@pytest.mark.random
@given(schema=SCHEMAS, value=VALUES)
@rounds(300)
def test_values_are_accepted_as_by_another_validator(schema: dict[str, Any], value: Any) -> None:
    """A value that does not fit can be converted, such as text to a number; then the argument fits."""
    composed = "allOf" in str(schema)
    whole = plain({"properties": {"x": schema}, "required": ["x"]})  # null leaves out an optional argument
    tool = of(whole, checked_elsewhere=composed)
    witness = jsonschema.Draft202012Validator(schema)
    if witness.is_valid(value):
        assert tool.faults({"x": value}) == []
        assert tool.call({"x": value}) == {"x": value}
    elif not composed and not tool.faults({"x": value}):
        assert witness.is_valid(tool.call({"x": value})["x"]), tool.call({"x": value})


@pytest.mark.parametrize(
    "tool", [of(SEARCH, pin="p", retry_on=[OSError]), Tool(hinted, retry_on=[OSError], effects="none")]
)
def test_the_function_of_a_tool_can_be_replaced(tool: Tool) -> None:
    again = tool.calling(lambda **given: sorted(given))
    assert (again.signature, again.description, again.pin) == (tool.signature, tool.description, tool.pin)
    assert again.retry_on == (OSError,)
    assert again.call({"query": "x", "most": "4"}) == ["most", "query"]
    assert again.faults({"q": 1}) == tool.faults({"q": 1})
    assert tool.call({"query": "x"}) in ("x", {"query": "x"})
