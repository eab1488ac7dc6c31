"""Tools: the schema of a function, and arguments that are checked before the call."""

from __future__ import annotations

import copy
import json
import pickle
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from planexec_lab.json_schema import tool_from_schema
from planexec_lite import Tool, Toolbox, tool
from planexec_lite.meter import Meter
from planexec_lite.tools import ToolError

calls: list[Any] = []


class Size(Enum):
    SMALL = "small"
    BIG = "big"


class Point(BaseModel):
    x: int
    y: int = 0


@tool(latency=2.0, effects="once")
def search(query: str, most: int = 3, *, deep: bool = False) -> list[str]:
    """Search the web.

    More about it.

    Args:
        query: what to look for,
            in any language
        most (int): at most so many

    Returns:
        query: so many times
    """
    calls.append((query, most, deep))
    return [query] * most


@tool(name="measure", latency=lambda at, unit: 0.5 if unit == "m" else 1.5, effects="none", json_text=True)
def measured(at: Point, unit: Literal["m", "ft"]) -> int:
    """Measure at a point."""
    calls.append((at, unit))
    return at.x


@tool(effects="none")
def bare(size: Size, share: Annotated[float, Field(ge=0, le=1)], names: list[str] | None = None) -> str:
    return f"{size.value} {share} {names}"


def test_a_tool_stays_a_plain_function() -> None:
    assert search("a", 2) == Toolbox([search])["search"].call({"query": "a", "most": 2}) == ["a", "a"]
    assert search.__name__ == "search"
    assert isinstance(search.tool, Tool)  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(search)) is search


def test_the_schema_comes_from_hints_and_docstring() -> None:
    described = Toolbox([search])["search"]
    assert described.description == "Search the web."
    assert described.schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what to look for, in any language"},
            "most": {"type": "integer", "description": "at most so many", "default": 3},
            "deep": {"type": "boolean", "default": False},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert described.signature == "search(query: string, most: integer = 3, deep: boolean = false)"
    assert "title" not in json.dumps(Tool(measured, effects="none").schema)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, ["'query' is missing"]),
        ({"query": 5}, ["'query'", "got 5"]),
        ({"query": "a", "most": "x"}, ["'most'", "got 'x'"]),
        ({"query": "a", "mosst": 1}, ["no parameter 'mosst'", "did you mean 'most'"]),
        ({"qeury": "a", "most": []}, ["'query' is missing", "'qeury'", "'most'"]),
    ],
)
def test_wrong_arguments_are_rejected_before_the_call(params: dict[str, Any], words: list[str]) -> None:
    calls.clear()
    with Meter() as meter, pytest.raises(ToolError) as caught:
        Toolbox([search])["search"].call(params)
    assert all(word in str(caught.value) for word in words)
    assert calls == []
    assert meter.seconds == 0


def test_arguments_have_their_declared_types_and_latency_can_depend_on_them() -> None:
    calls.clear()
    toolbox = Toolbox([measured, bare])
    with Meter() as meter:
        assert toolbox["measure"].call({"at": {"x": 4}, "unit": "ft"}) == 4
    assert (calls, meter.seconds) == ([(Point(x=4), "ft")], 1.5)
    assert toolbox["bare"].call({"size": "big", "share": 1, "names": None}) == "big 1.0 None"
    for wrong in ({"size": "huge", "share": 1}, {"size": "big", "share": 2}, {"size": "big", "share": 1, "names": "a"}):
        with pytest.raises(ToolError):
            toolbox["bare"].call(wrong)


def test_a_single_input_goes_to_the_only_or_the_only_required_parameter() -> None:
    @tool(effects="none")
    def shout(text: str) -> str:
        return text.upper()

    tools = Toolbox([shout, search, measured])
    assert tools["shout"].call({"input": "a"}) == "A"
    assert tools["search"].faults({"input": "a"}) == []  # the only one that is required
    assert tools["measure"].faults({"input": "a"})
    assert tools["search"].faults({"input": "a", "most": 2})  # not alone
    assert tools["shout"].faults({"input": 5})
    faults = tools["shout"].faults({"input": '{"text": "a"}'})  # arguments as JSON text, and not the text to shout
    assert [fault.code for fault in faults] == ["missing_parameter", "unknown_parameter"]
    assert tools["shout"].bind({"input": '{"a": 1}'}) == {"text": '{"a": 1}'}, "the text to shout is JSON"


@pytest.mark.parametrize("value", ["{step_1_result}", "{step_1_result.a[0]}"])
def test_a_reference_has_no_faults_before_its_value_is_known(value: str) -> None:
    toolbox = Toolbox([search, measured, bare])
    assert toolbox["search"].faults({"query": "a", "most": value, "deep": value}) == []
    assert [fault.parameter for fault in toolbox["search"].faults({"query": "a", "mosst": value})] == ["mosst"]
    assert toolbox["measure"].faults({"at": value, "unit": value}) == []
    assert toolbox["measure"].faults({"at": {"x": value, "y": value}, "unit": "m"}) == []
    assert toolbox["bare"].faults({"size": value, "share": value, "names": ["a", value]}) == []


DECLARED: dict[str, Any] = {"checked_elsewhere": True, "effects": "once", "uses": "web", "destructive": False}
SOME = [
    search.tool,  # type: ignore[attr-defined]
    measured.tool,  # type: ignore[attr-defined]
    Tool(bare, name="b", latency=1.0, effects="none"),
    tool_from_schema(bare, {"properties": {"size": {}}, "minProperties": 1}, name="of a schema", **DECLARED),
]


REF = "{step_1_result}"


@pytest.mark.parametrize(
    ("numbers", "most", "number", "faults"),
    [
        ([REF, REF, REF], [REF], 1, []),
        ([REF, "many"], [REF], 1, ["numbers"]),
        ([], [], 1, []),
        ([], [REF, REF], 1, ["most"]),
        ([], [], [REF], ["number"]),
        (REF, REF, REF, []),
    ],
)
def test_a_list_of_references_has_no_faults_but_its_length(numbers: Any, most: Any, number: Any, faults: Any) -> None:
    def add(numbers: list[int], most: Annotated[list[int], Field(max_length=1)], number: int) -> None: ...

    found = Tool(add).faults({"numbers": numbers, "most": most, "number": number})
    assert [fault.parameter for fault in found] == faults


@pytest.mark.parametrize("one", SOME)
def test_tools_and_toolboxes_can_be_pickled(one: Tool) -> None:
    again = pickle.loads(pickle.dumps(Toolbox([one])))[one.name]
    for field in ("name", "signature", "effects", "json_text", "uses", "destructive"):
        assert getattr(again, field) == getattr(one, field)
    assert (again.schema, again.faults({"x": 1})) == (one.schema, one.faults({"x": 1}))
    assert again.latency is one.latency or again.latency == one.latency
    assert copy.deepcopy(one).name == one.name


def no_hint(query, most: int) -> str:  # type: ignore[no-untyped-def]
    return ""


def stars(*queries: str) -> str:
    return ""


def double_stars(**options: str) -> str:
    return ""


def slash(query: str, /) -> str:
    return query


def unknown_name(query: Nothing) -> str:  # type: ignore[name-defined]  # noqa: F821
    return ""


def no_data(query: Meter) -> str:
    return ""


@pytest.mark.parametrize("function", [no_hint, stars, double_stars, slash, unknown_name, no_data])
def test_a_function_that_cannot_be_a_tool_is_rejected_by_name(function: Any) -> None:
    with pytest.raises(ToolError, match=function.__name__):
        Toolbox([function])


def test_a_toolbox_finds_by_name_and_suggests() -> None:
    toolbox = Toolbox([search, measured, bare])
    assert toolbox.names == ("search", "measure", "bare")
    assert [one.name for one in toolbox] == list(toolbox.names)
    assert "measure" in toolbox
    assert "measured" not in toolbox
    assert toolbox.only("bare").names == ("bare",)
    assert len(toolbox.describe().splitlines()) == 3
    with pytest.raises(ToolError, match="did you mean 'search'"):
        toolbox["serch"]
    with pytest.raises(ToolError, match="two tools"):
        Toolbox([search, search])


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (' {"name": "Ada"}', {"name": "Ada"}),
        ('[1, {"a": null}]', [1, {"a": None}]),
        ("5", "5"),
        ('"text"', '"text"'),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1} and more', '{"a": 1} and more'),
        ("[" * 100_000, "[" * 100_000),
        ("", ""),
    ],
)
def test_json_text_is_read_as_data_if_the_tool_declares_it(text: str, data: Any) -> None:
    def fetch() -> str:
        return text

    assert Tool(fetch).call({}) == text
    assert Tool(fetch, json_text=True).call({}) == data
    assert tool_from_schema(fetch, {}, name="fetch", json_text=True).call({}) == data
