"""A value keeps its meaning, or it is rejected; tools from type hints and tools from schemas accept the same values."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, IntFlag, StrEnum
from fractions import Fraction
from ipaddress import IPv4Address
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    AnyUrl,
    Base64Bytes,
    Base64Str,
    BaseModel,
    Field,
    ImportString,
    InstanceOf,
    Json,
    OnErrorOmit,
    SkipValidation,
    StrictStr,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from planexec_lab.json_schema import tool_from_schema
from planexec_lite import Tool
from planexec_lite.tools import ToolError


class Level(Enum):
    LOW = 1
    HIGH = 2


class Place(IntEnum):
    FIRST = 1
    SECOND = 2


class Mark(StrEnum):
    GOOD = "1"
    BAD = "b"


class Right(IntFlag):
    READ = 1
    WRITE = 2


class Mixed(Enum):
    NUMBER = 1
    TEXT = "b"
    NONE = None


class Closed(BaseModel):
    x: int


Percent = Annotated[float, AfterValidator(lambda value: value / 100)]


class Point(BaseModel):
    x: int
    y: float = Field(default=0.0, alias="why")


class Strictly(BaseModel, strict=True):
    x: int


class Even(BaseModel):
    x: int

    @field_validator("x")
    @classmethod
    def even(cls, x: int) -> int:
        assert x % 2 == 0
        return x


class Ordered(BaseModel):
    x: int

    @model_validator(mode="after")
    def ordered(self) -> Ordered:
        return self


class ByName(BaseModel, validate_by_name=True):
    x: int = Field(alias="why")


class Short(BaseModel, str_max_length=2):
    x: str


class Stripped(BaseModel, str_strip_whitespace=True):
    x: str


class Drawn:
    """No data."""


class Pair(NamedTuple):
    x: int
    y: int = 0


class Size(TypedDict):
    x: int


@dataclass
class Box:
    x: int


def declared(hint: Any) -> Tool:
    def take(x):  # type: ignore[no-untyped-def]
        return x

    take.__annotations__["x"] = hint
    return Tool(take, name="take", effects="none")


def described(hint: Any) -> Tool:
    """The tool of the schema of a type hint."""
    return tool_from_schema(lambda **given: given["x"], declared(hint).schema, name="take", effects="none")


AGREED: list[tuple[Any, list[Any], list[Any]]] = [  # a type hint, the values that fit it, and the values that do not
    (int, [1, 1.0, "1", " 5 "], [True, False, 1.5, "nan", "one", None, []]),
    (float, [1, 2.5, "2.5", "1e3"], [True, nan, inf, "nan", "-inf", "Infinity", "1e400", "a"]),
    (bool, [True, 0, "no", "false"], [2, "maybe", "", None]),
    (str, ["", "nan", "2026"], [1, True, None]),
    (datetime, ["2026-05-01T10:00", "2026-05-01"], ["2026", "20260501", 20260501, 1.5, True, "+5", "May"]),
    (date, ["2026-05-01"], ["2026", "86400", 86400, True]),
    (time, ["14:30", "14:30:10"], [1430, "1430", 14.3, True]),
    (timedelta, ["PT5M", "00:05:00", "P1D", "P2W", "-P1DT2M"], [5, "5", True, "P1M", "P1Y2D", "-P1M"]),
    (UUID, ["12345678123456781234567812345678"], [5, "12"]),
    (AnyUrl, ["https://example.org/"], [5, "example"]),
    (date | int, [86400, "2026-05-01"], ["86400", True]),
    (int | None, [1, "1", None], [True, "nan"]),
    (int | list[int], [1, [1, "2"]], [True, [True], "a"]),
    (Literal[1, 2], [1], [True, 3, "1"]),
    (Level, [2], [True, 3]),
    (Literal["a"], ["a"], ["b", 1]),
    (Literal[Mark.GOOD], ["1"], ["b", 1, True]),
    (Literal[Place.FIRST], [1], ["1", 2, True]),
    (StrictStr, ["a"], [1]),
    (deque[int], [[], [1, "2"]], [[True], ["a"], 1]),
    (Literal["a", 1, None], ["a", 1, None], ["1", True, "b"]),
    (Literal[0, 1], [0, 1], [True, False, "0", 2]),
    (Literal[True, "a"], [True, "a"], ["true", "b", 0]),
    (Place, [1, 2], ["1", " 1 ", True, 3, "FIRST"]),
    (Place | None, [1, None], ["1", True]),
    (list[Place], [[], [1, 2]], [[1, "2"], [True]]),
    (Mark, ["1", "b"], [1, "GOOD", True]),
    (Right, [1, 2], ["1", 3, 0, True, False]),
    (Mixed, [1, "b", None], ["1", True, "NONE"]),
    (
        Decimal,
        [5, 1.5, "5.0", ".5", "5.", "1e3", " 1 ", "1_000", "0.1234567890123456789"],
        [True, False, "nan", "Infinity", "a", "", "1/2", "2026-05-01", nan, 10**400],
    ),
    (Decimal | None, [5, "5.0", None], [True, "a"]),
    (Annotated[Decimal, Field(ge=1)], [1, "1.5"], [0, "0.5", "a", True]),
    (dict[str, Decimal], [{"a": "1.5"}], [{"a": "x"}, {"a": True}]),
    (Path, ["/tmp/a", "a b", ""], [1, True, None]),
    (bytes, ["a", "é", ""], [1, True, None]),
    (Annotated[AnyUrl, Field(max_length=20)], ["https://a.example/"], ["https://example.org/longer/than/that", 5]),
    (UUID | int, [5, "12345678123456781234567812345678"], [True, "x"]),
    (date | datetime, ["2026-05-01", "2026-05-01T10:00"], ["2026", 86400, True]),
    (bool | int, [True, 1, 2], ["x", None]),
    (Closed, [{"x": 1}, {"x": "1"}], [{"x": True}, {"x": 1, "z": 2}, {}, [1]]),
    (list[int], [[], [1, "2"]], [[True], ["nan"], "[1]", {"a": 1}]),
    (dict[str, int], [{}, {"a": 1}], [{"a": True}, {"a": "x"}, []]),
    (dict[str, date], [{"a": "2026-05-01"}], [{"a": "2026"}, {"a": 86400}]),
    (list[Size], [[{"x": 1}]], [[{"x": True}], [{"y": 1}], [{"x": 1, "y": 1}]]),
]


@pytest.mark.parametrize("tool_of", [declared, described])
@pytest.mark.parametrize(("hint", "fitting", "others"), AGREED, ids=[str(hint) for hint, *_ in AGREED])
def test_tools_from_hints_and_from_schemas_accept_the_same_values(
    tool_of: Any, hint: Any, fitting: list[Any], others: list[Any]
) -> None:
    tool = tool_of(hint)
    for value in fitting:
        assert tool.faults({"x": value}) == [], value
        tool.call({"x": value})
    for value in others:
        assert {fault.parameter for fault in tool.faults({"x": value})} == {"x"}, value
        with pytest.raises(ToolError, match="take: parameter 'x"):
            tool.call({"x": value})


UNCHECKED = {  # hints whose schema has a keyword that a tool from a schema can't check
    Fraction: "format", set[int]: "uniqueItems", tuple[int, str]: "prefixItems", Pair: "prefixItems",
    dict[date, int]: "propertyNames", IPv4Address: "format", Json[int]: "contentMediaType",
}  # fmt: skip


@pytest.mark.parametrize(("hint", "keyword"), UNCHECKED.items(), ids=map(str, UNCHECKED))
def test_a_schema_that_says_more_than_can_be_checked_is_refused(hint: Any, keyword: str) -> None:
    with pytest.raises(ToolError, match=f"a keyword that can't be checked here: {keyword}"):
        described(hint)


@pytest.mark.parametrize(
    ("hint", "why"),
    [
        (Iterable[int], "not an iterable, which nothing checks; write list"),
        (dict[str, Iterable[int] | int], "not an iterable"),
        (complex, "not a complex number"),
        (type[int], "not a class"),
        (list[OnErrorOmit[int]], "not a value that is left out, or replaced, if it does not fit"),
        (Base64Str, "not a text to decode"),
        (list[Base64Bytes], "not a text to decode"),
        (ImportString, "not a name of code"),
        (list[SkipValidation[int]], "not a type that is not checked"),
        (Literal[Level.LOW], "not a member of Level; write its value in the Literal"),
        (Callable[[], int], "Cannot generate a JsonSchema for core_schema.CallableSchema"),
        (type, "Cannot generate a JsonSchema for core_schema.IsInstanceSchema (<class 'type'>)"),
        (list[InstanceOf[Drawn]] | None, "Cannot generate a JsonSchema for core_schema.IsInstanceSchema"),
        (Drawn, "Unable to generate pydantic-core schema for"),
    ],
    ids=str,
)
def test_a_type_that_no_value_in_a_plan_has_is_refused_when_declared(hint: Any, why: str) -> None:
    with pytest.raises(
        ToolError, match=re.escape(f"tool 'take': arguments must be data, such as str, int or list[str] ({why}")
    ):
        declared(hint)


def test_a_text_with_a_format_keeps_its_bounds() -> None:
    this_year = {"type": "string", "format": "date", "pattern": "^2026", "maxLength": 10}
    tool = tool_from_schema(dict, {"properties": {"x": this_year}}, name="take", effects="none")
    assert tool.faults({"x": "2026-05-01"}) == []
    for other in ("2025-05-01", "2026-99-01", "2026"):
        assert tool.faults({"x": other}), other


@pytest.mark.parametrize(
    ("hint", "value", "place", "read"),
    [
        (Point, {"x": True}, "x.x", "1"),
        (Point, {"x": 1, "why": "nan"}, "x.why", "nan"),
        (Point, {"x": 1, "z": 2}, "x", "{'x': 1}"),
        (Box, {"x": True}, "x.x", "1"),
        (list[Point], [{"x": 1}, {"x": True}], "x[1].x", "1"),
        (set[int], [True], "x[0]", "1"),
        (tuple[int, int], [1, True], "x[1]", "1"),
        (dict[int, str], {"1": "a", "01": "b"}, "x", "{1: 'b'}"),
        (dict[date, int], {"86400": 1}, "x.86400", "datetime.date(1970, 1, 2)"),
        (IPv4Address, 5, "x", "IPv4Address('0.0.0.5')"),
        (Any, nan, "x", "nan"),
        (float, 2**53 + 1, "x", "9007199254740992.0"),
        (list[float | None], [1, 10**22 + 1], "x[1]", "1e+22"),
        (Fraction, True, "x", "'1'"),
        (Place, "1", "x", "<Place.FIRST: 1>"),
        (Right, 3, "x", "<Right.READ|WRITE: 3>"),
        (Pair, {"x": True}, "x", "(1, 0)"),
    ],
)
def test_a_value_that_would_mean_something_else_is_named_with_its_meaning(
    hint: Any, value: Any, place: str, read: str
) -> None:
    tool = declared(hint)
    (fault,) = tool.faults({"x": value})
    assert fault.message.startswith(f"parameter '{place}': input would be read as {read}; write what is meant")
    with pytest.raises(ToolError, match="would be read as"):
        tool.call({"x": value})


@pytest.mark.parametrize(
    ("hint", "value"),
    [(Point, {"x": "1", "why": 2}), (Box, {"x": 1}), (set[int], [1, 1]), (Decimal, 5), (float, 2**60), (Percent, 50),
     (Decimal, "5.0"),
     (dict[int, str], {"1": "a", "02": "b"}), (IPv4Address, "1.2.3.4"), (date, date(2026, 5, 1)), (Point, Point(x=1)),
     (Any, {"a": [True, None]})],
)  # fmt: skip
def test_a_value_that_is_read_in_another_form_keeps_its_meaning(hint: Any, value: Any) -> None:
    tool = declared(hint)
    assert tool.faults({"x": value}) == []
    tool.call({"x": value})


Other = Annotated[int, Field(ge=0)] | list[Point] | Size


@pytest.mark.parametrize("tool_of", [declared, described])
@pytest.mark.parametrize(
    ("hint", "value", "fault"),
    [
        (Other, "a", "'x': input should be integer or list of Point or Size; got 'a'"),
        (Other, [{"x": "a"}], "'x': input should be integer or list of Point or Size; got [{'x': 'a'}]"),
        (Other, {}, "'x': input should be integer or list of Point or Size; got {}"),
        (list[Other], [1, "a"], "'x[1]': input should be of one of the types that are allowed here; got 'a'"),
        (Other, [{"x": "{step_1_result}"}, "a"], None),
        (Other, {"x": "{step_1_result}"}, None),
        (list[Other], [[{"x": "{step_1_result}"}]], None),
        (Size | None, {}, "'x.x': field required; got {}"),
    ],
)
def test_a_choice_of_types_has_one_fault_which_waits_for_references(
    tool_of: Any, hint: Any, value: Any, fault: str | None
) -> None:
    tool = tool_of(hint)
    if tool_of is described and fault is not None:  # a schema with each $ref written out has no names of types
        fault = fault.replace("Point", "object").replace("Size", "object")
    assert [one.message for one in tool.faults({"x": value})] == ([] if fault is None else [f"parameter {fault}"])
    with pytest.raises(ToolError):
        tool.call({"x": value})


def test_every_fault_is_reported_at_once() -> None:
    def meet(at: datetime, seats: int, room: str) -> str:
        raise NotImplementedError

    faults = Tool(meet, effects="none").faults({"at": 2026, "seats": "many", "floor": 1})
    assert [(fault.code, fault.parameter) for fault in faults] == [
        ("missing_parameter", "room"), ("wrong_parameter", "at"), ("wrong_parameter", "seats"), ("unknown_parameter", "floor")
    ]  # fmt: skip
