"""The draft of a plan under review: edits as values, and their problems. No widgets."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views.review_desk import fields, marks
from planexec_lab.views.review_desk.draft import Draft
from planexec_lite import Plan, Step, Tool, Toolbox, tool
from tests.views.desks import PLAN, TOOLS, book
from tests.views.worlds import plans

DRAFT = Draft.of(PLAN, TOOLS)


@tool(effects="none")
def note(description: str, tool: int) -> str:
    """A tool whose parameters have the names of a step's fields."""
    return description


NOTED = Draft.of(Plan.parse([{"id": 1, "tool": "note", "params": {"description": "a", "": 1}}]), Toolbox([note]))


def placed(draft: Draft) -> dict[str, dict[str, list[str]]]:
    """The codes of a draft's problems, by step id and field."""
    places: dict[str, dict[str, list[str]]] = {}
    for problem in draft.problems:
        row = next((row for row in draft.rows if row.id == problem.step), None)
        field = marks.place(draft, row, problem) if row is not None else ""
        places.setdefault(problem.step or "plan", {}).setdefault(field, []).append(problem.code)
    return places


def waiting(draft: Draft, key: int, *ids: str) -> Draft:
    return draft.with_field(key, depends_on=ids)


@given(plans(broken=True))
def test_a_plan_that_nobody_edited_is_the_plan_that_came(plan: Plan) -> None:
    draft = Draft.of(plan, TOOLS)
    assert draft.plan.hash == plan.hash
    assert not draft.edited


def test_text_in_a_field_becomes_the_value_that_the_parameter_wants() -> None:
    draft = waiting(DRAFT.with_argument(0, "days", "30").with_argument(1, "things", '["hat", "map"]'), 1, "1")
    assert draft.with_argument(1, "heavy", "true").params(1) == {"things": ["hat", "map"], "heavy": True}
    assert draft.with_argument(0, "city", "30").params(0) == {"city": "30", "days": 30}
    assert draft.with_argument(1, "heavy", "{step_1_result}").problems == draft.problems == ()
    assert draft.with_argument(0, "city", "").params(0) == {"days": 30}
    assert (DRAFT.edited, Draft.of(Plan(steps=(Step(id="1", description="\ud800"),)), TOOLS).problems) == (False, ())


@pytest.mark.parametrize(
    ("draft", "place"),
    [
        (DRAFT.with_argument(0, "city", ""), {"1": {"city": ["missing_parameter"]}}),
        (DRAFT.with_argument(0, "days", "many"), {"1": {"days": ["wrong_parameter"]}}),
        (waiting(DRAFT, 1, "1", "9"), {"2": {"waits for": ["unknown_dependency"]}}),
        (waiting(DRAFT, 1, "1!"), {"2": {"waits for": ["wrong_field"]}}),
        (waiting(DRAFT, 2), {"3": {"waits for": ["indirect_reference"]}}),
        (waiting(DRAFT, 1, "2"), {"2": {"waits for": ["self_dependency"]}}),
        (waiting(DRAFT, 0, "3"), {"1": {"waits for": ["cycle"]}}),
        (DRAFT.with_argument(2, "hotel", "{step_7_result}"), {"3": {"": ["dangling_reference"]}}),
        (DRAFT.with_field(0, tool="fly"), {"1": {"tool": ["unknown_tool"]}}),
        (DRAFT.with_field(2, undo={"tool": "fly", "params": {}}), {"3": {"": ["unknown_tool"]}}),
        (DRAFT.added(), {"4": {"tool": ["idle_step"]}}),
        (DRAFT.without(0).without(1).without(2), {"plan": {"": ["empty_plan"]}}),
        (NOTED, {"1": {"argument": ["unknown_parameter"], "argument tool": ["missing_parameter"]}}),
    ],
)  # fmt: skip
def test_a_problem_stands_beside_its_field(draft: Draft, place: dict[str, dict[str, list[str]]]) -> None:
    assert placed(draft) == place


def test_a_new_tool_keeps_known_arguments_and_a_lone_input_has_a_name() -> None:
    draft = DRAFT.with_tool(2, "cancel")
    assert draft.row(2).step["tool"] == "cancel"
    assert draft.params(2) == {"hotel": "Sol, {step_1_result}"}
    assert DRAFT.with_tool(2, "pack").params(2) == {}
    plan = Plan.parse([{"id": 1, "tool": "book", "input": "Sol"}])
    draft = Draft.of(plan, TOOLS)
    assert draft.params(0) == {"hotel": "Sol"}
    assert not draft.edited
    assert draft.with_argument(0, "hotel", "Luna").row(0).step["params"] == {"hotel": "Luna"}


@pytest.mark.parametrize(
    ("draft", "ids"),
    [
        (DRAFT.added().added(), ["1", "2", "3", "4", "5"]),
        (DRAFT.without(2).added(), ["1", "2", "4"]),
        (Draft.of(PLAN, TOOLS, done=("7",)).added().added(), ["1", "2", "3", "8", "9"]),
    ],
)
def test_an_added_step_has_an_id_that_was_never_there(draft: Draft, ids: list[str]) -> None:
    assert [row.id for row in draft.rows] == ids
    assert draft.rows[-1].step["depends_on"] == (ids[-2],)


def test_done_steps_may_be_waited_for() -> None:
    plan = Plan.parse([{"id": 5, "tool": "book", "params": {"hotel": "{step_4_result}"}, "depends_on": [4]}])
    assert Draft.of(plan, TOOLS, done=("4",)).problems == ()
    assert {one.code for one in Draft.of(plan, TOOLS).problems} >= {"unknown_dependency", "dangling_reference"}


LOOKED = {"tool": "look_up", "params": {"city": "Lima"}}
PACKED = {"tool": "pack", "params": {"things": [], "heavy": True}}
CANCELLED = {"tool": "cancel", "params": {"hotel": "Sol"}}


@pytest.mark.parametrize(
    ("change", "risk"),
    [
        ({}, "once"),
        ({"undo": CANCELLED}, None),
        ({"undo": LOOKED}, "once"),
        ({"effects": "idempotent"}, "once"),
        ({"effects": "none"}, "once"),
        ({**LOOKED, "effects": "once"}, "once"),
        ({"tool": "fly"}, "once"),
        (PACKED, "open"),
        ({**PACKED, "undo": CANCELLED}, None),
        ({"tool": "look_up"}, None),
        ({"tool": "burn"}, "destructive"),
        ({"tool": "burn", "undo": CANCELLED}, None),
        ({"tool": "write_down"}, None),
        ({"tool": None}, "destructive"),
    ],
)
def test_a_step_weighs_by_what_its_tool_declares_and_by_its_undo(change: dict[str, Any], risk: str | None) -> None:
    more = (
        Tool(book, name=name, effects="idempotent", destructive=destructive)
        for name, destructive in (("burn", True), ("write_down", False))
    )
    assert marks.risk(DRAFT.with_field(2, **change).row(2), Toolbox([*TOOLS, *more])) == risk


def test_changes_are_said_in_words() -> None:
    draft = waiting(DRAFT.with_argument(0, "days", "30"), 1).without(2).added()
    draft = draft.with_field(3, description="Fly")
    assert marks.changes(PLAN, draft.plan) == [
        "Step 3 removed: Book",
        "Step 1, days: nothing → 30",
        "Step 2, waits for: 1 → nothing",
        "Step 4 added, after 2: Fly",
    ]
    assert marks.changes(PLAN, PLAN.changed(steps=PLAN.steps[::-1])) == ["Order: 3, 2, 1"]
    assert marks.changes(PLAN, PLAN) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    st.lists,
    max_leaves=4,
)


@given(json_values)
def test_what_is_written_in_a_field_is_read_back(value: Any) -> None:
    schema = {"type": "string"} if isinstance(value, str) else {}
    assert fields.read(fields.written(value), schema) == value
