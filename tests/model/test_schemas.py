"""The schema that a planner's answer must fit: strict mode takes it, and every valid plan fits it."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import AnyUrl, BaseModel, Field
from typing_extensions import TypedDict

from mock_llm.json_schema import loose_mode_error
from planexec_lab.json_schema import tool_from_schema
from planexec_lite import Plan, Tool, Toolbox, tool
from planexec_lite.model.schemas import function_schema, is_strict, plan_schema
from planexec_lite.tools import ToolError
from tests.core.strict_rules import faults, shared_first_keys
from tests.rounds import rounds


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: float = 0.0


class Line(BaseModel):
    ends: list[Point]
    colour: Colour | None = None


class Card(TypedDict):
    name: str
    tags: list[str]


@dataclass
class Box:
    width: int
    label: str = ""


def tool_of(name: str, kinds: list[Any], defaults: int) -> Tool:
    """A tool with a parameter for each kind; the last `defaults` parameters have a default."""
    kind = inspect.Parameter.KEYWORD_ONLY
    first = len(kinds) - defaults
    parameters = [
        inspect.Parameter(f"p{n}", kind, default=None if n >= first else inspect.Parameter.empty)
        for n in range(len(kinds))
    ]

    def function(**given: Any) -> str:
        return name

    function.__name__, function.__annotations__ = name, {f"p{n}": kind for n, kind in enumerate(kinds)}
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return Tool(function, effects="none")


points = st.fixed_dictionaries({"x": st.integers(), "y": st.integers(-5, 5).map(float)})
colours = st.sampled_from(["red", "blue"])
TYPES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, st.text()),
    (int, st.integers()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (Colour, colours),
    (Literal["m", "ft"], st.sampled_from(["m", "ft"])),
    (Literal["one"], st.just("one")),
    (int | None, st.none() | st.integers()),
    (str | int, st.text() | st.integers()),
    (list[str], st.lists(st.text(), max_size=3)),
    (list[list[int]], st.lists(st.lists(st.integers(), max_size=2), max_size=2)),
    (list[Colour] | None, st.none() | st.lists(colours, max_size=2)),
    (Point, points),
    (Line, st.fixed_dictionaries({"ends": st.lists(points, max_size=2), "colour": st.none() | colours})),
    (Card, st.fixed_dictionaries({"name": st.text(), "tags": st.lists(st.text(), max_size=2)})),
    (Box, st.fixed_dictionaries({"width": st.integers(), "label": st.text()})),
    (Point | Box, points | st.fixed_dictionaries({"width": st.integers(), "label": st.text()})),
    (Annotated[int, Field(ge=0, lt=10)], st.integers(0, 9)),
    (Annotated[str, Field(pattern="^v[0-9]+$")], st.integers(0, 9).map("v{}".format)),
    (Annotated[str, Field(min_length=1, max_length=9)], st.text(min_size=1, max_size=9)),
    (Annotated[list[int], Field(min_length=1)], st.lists(st.integers(), min_size=1, max_size=3)),
    (date, st.dates().map(str)),
    (UUID, st.uuids().map(str)),
    (Path, st.from_regex("[a-z/]{1,8}", fullmatch=True)),
    (set[int], st.lists(st.integers(), unique=True, max_size=3)),
    (AnyUrl, st.sampled_from(["https://example.org/", "ftp://a.b/c"])),
]


chosen = st.lists(st.sampled_from(range(len(TYPES))), max_size=4)


@st.composite
def boxes(draw: st.DrawFn) -> list[tuple[Tool, list[int]]]:
    made = []
    for n, kinds in enumerate(draw(st.lists(chosen, min_size=1, max_size=4))):
        made.append((tool_of(f"tool{n}", [TYPES[k][0] for k in kinds], draw(st.integers(0, len(kinds)))), kinds))
    return made


@rounds(150)
@given(boxes(), st.data())
def test_every_valid_plan_fits_the_strict_schema_once_all_fields_are_filled_in(
    made: list[tuple[Tool, list[int]]], data: Any
) -> None:
    toolbox, draw = Toolbox([one for one, _ in made]), data.draw
    steps: list[dict[str, Any]] = []
    for n in range(draw(st.integers(1, 4))):
        one, kinds = draw(st.sampled_from(made))
        params = {f"p{k}": draw(TYPES[kind][1]) for k, kind in enumerate(kinds)}
        depends_on = [steps[-1]["id"]] if steps else []
        if steps and params and draw(st.booleans()):
            params[draw(st.sampled_from(sorted(params)))] = f"{{step_{steps[-1]['id']}_result.a[0]}}"
        id = draw(st.sampled_from([f"{n}", f"{n}b", f"{n}.1"]))
        steps.append({"id": id, "tool": one.name, "params": params, "depends_on": depends_on})
    plan = Plan.parse({"steps": steps, "complete": draw(st.booleans())})
    assert plan.problems(toolbox) == []
    schema = plan_schema(toolbox)
    assert faults(schema) == list(shared_first_keys(schema)) == []
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    filled = plan.model_dump(mode="json", include={"goal", "rollback", "answer", "complete"})
    filled["steps"] = [step.model_dump(mode="json", include=ANSWERED) for step in plan.steps]
    assert [error.message for error in Draft202012Validator(schema).iter_errors(filled)] == []
    assert Plan.parse(json.dumps(filled)).hash == plan.hash


ANSWERED = {"id", "description", "tool", "params", "depends_on", "success_criteria"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"tool": "paint"}, "an unknown tool"),
        ({"params": {}}, "a missing parameter"),
        ({"params": {"text": "a", "times": 2, "x": 1}}, "an unknown parameter"),
        ({"params": {"text": "a", "times": "twice"}}, "a wrong type"),
        ({"params": {"text": "a", "times": "{step_1_output}"}}, "no reference"),
        ({"extra": 1}, "an unknown field"),
    ],
)
def test_an_invalid_step_does_not_fit_the_schema(change: dict[str, Any], why: str) -> None:
    @tool(effects="none")
    def shout(text: str, times: int) -> str:
        return text * times

    step: dict[str, Any] = {"id": "1", "description": "", "tool": "shout", "params": {"text": "a", "times": 2}}
    step |= {"depends_on": [], "success_criteria": None}
    whole = {"goal": "", "steps": [step], "rollback": [], "answer": None, "complete": True}
    validator = Draft202012Validator(plan_schema(Toolbox([shout])))
    assert validator.is_valid(whole)
    assert not validator.is_valid(whole | {"steps": [step | change]}), why


class Node(BaseModel):
    children: list[Node]


OPEN: list[tuple[Any, Any]] = [
    (dict, {"a": 1}),
    (dict[str, int], {"a": 1}),
    (Any, [{"a": 1}]),
    (list, [{}, 1]),
    (list[Any], [{}, 1]),
    (dict[str, list[dict[str, Any]]], {"a": [{"b": []}]}),
]


@pytest.mark.parametrize(("kind", "value"), OPEN, ids=[str(kind) for kind, _ in OPEN])
def test_a_map_or_a_value_of_any_type_makes_a_schema_that_is_not_strict(kind: Any, value: Any) -> None:
    toolbox = Toolbox([tool_of("open", [kind], 0)])
    schema = plan_schema(toolbox)
    Draft202012Validator.check_schema(schema)
    function = function_schema(toolbox["open"])["function"]
    assert (is_strict(schema), function["strict"], loose_mode_error(function["parameters"])) == (False, False, None)
    assert is_strict(plan_schema(Toolbox([tool_of("closed", [Line, list[str], str | int], 1)])))
    step = {
        "id": "1",
        "description": "",
        "tool": "open",
        "params": {"p0": value},
        "depends_on": [],
        "success_criteria": None,
    }
    plan = {"goal": "", "steps": [step], "rollback": [], "answer": None, "complete": True}
    assert [error.message for error in Draft202012Validator(schema).iter_errors(plan)] == []


def test_a_type_that_contains_itself_is_rejected_with_tool_and_parameter() -> None:
    with pytest.raises(ToolError, match=r"'open'.*'p0"):
        plan_schema(Toolbox([tool_of("open", [Node], 0)]))


def test_an_empty_toolbox_has_no_schema() -> None:
    with pytest.raises(ToolError, match="empty"):
        plan_schema(Toolbox())


def test_the_words_about_an_object_reach_the_model() -> None:
    box = {"type": "object", "description": "where it is", "properties": {"x": {"type": "integer"}}}
    one = tool_from_schema(dict, {"properties": {"a": box}, "required": ["a"]}, name="put")
    assert function_schema(one)["function"]["parameters"]["properties"]["a"]["description"] == "where it is"
