"""Reading plans: all published shapes, one canonical form, and PlanError for everything else."""

import json
import math
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planexec_lite import Plan, PlanError
from tests.core.shapes import Job, jobs, json_values, plan_of
from tests.rounds import rounds

DEPLOY: dict[str, Any] = {
    "goal": "Deploy v2.3.1 to production safely",
    "steps": [
        {"id": 1, "action": "run_tests", "params": {}, "depends_on": [], "description": "Run full test suite"},
        {"id": 2, "action": "build_docker", "params": {"tag": "v2.3.1"}, "depends_on": [1], "description": "Build"},
    ],
    "rollback": [{"action": "rollback_production", "params": {"to": "previous"}}],
}


def test_the_same_plan_in_other_shapes_gives_the_same_text_and_hash() -> None:
    step = {"id": "1", "tool": "search", "params": {"b": 1, "a": {"d": 1, "c": 2}}, "depends_on": ["0"]}
    arguments = {"a": {"c": 2, "d": 1}, "b": 1}
    other = {"depends_on": 0, "input": arguments, "action": "search", "id": 1, "description": ""}
    shapes = [
        {"steps": [{"id": "0"}, step]},
        {"steps": [{"id": "0"}, step | {"depends_on": [0, "0"]}]},
        [{"id": 0, "params": None}, other],
        {"tasks": ({"id": 0, "tool": "none"}, other), "goal": ""},
        {"plan": [{"id": "0", "retries": 0}, other], "rollback": [], "complete": True, "answer": None},
    ]
    plans = [Plan.parse(shape) for shape in shapes]
    plans += [Plan.parse(json.dumps(shape)) for shape in shapes]
    assert len({plan.to_json() for plan in plans}) == 1
    assert len({plan.hash for plan in plans}) == 1


@pytest.mark.parametrize(
    "change",
    [{"goal": "x"}, {"steps": ()}, {"complete": False}, {"answer": "{step_1_result}"}, {"rollback": ()}],
)
def test_another_plan_has_another_hash(change: dict[str, Any]) -> None:
    plan = Plan.parse(DEPLOY)
    assert plan.changed(**change).hash == Plan(**{**dict(plan), **change}).hash != plan.hash


@rounds(60)
@given(jobs())
def test_canonical_json_reads_back_as_the_same_plan(made: list[Job]) -> None:
    plan = plan_of(made)
    again = Plan.parse(plan.to_json())
    assert again == plan
    assert (again.to_json(), again.hash) == (plan.to_json(), plan.hash)
    assert pickle.loads(pickle.dumps(plan)) == plan


fields = st.sampled_from(
    "id description task tool action params input arguments depends_on success_criteria timeout retries gate effects "
    "undo goal steps tasks plan rollback answer complete".split()
)
anything = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()), max_size=5)
    | st.binary(max_size=3) | st.sampled_from(["1", "2", "none", "once", "{step_1_result}", "search"])
)  # fmt: skip
likely = st.recursive(
    anything,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(fields | st.text(max_size=2), part, max_size=6)
    | st.tuples(part),
    max_leaves=15,
)  # fmt: skip
steps = st.lists(st.dictionaries(fields, likely, max_size=5), max_size=3)


def reads_or_says_why(source: Any) -> None:
    try:
        plan = Plan.parse(source)
    except PlanError as rejected:
        problems = rejected.problems
    else:
        plan.problems(done=["1"], max_steps=2)
        assert Plan.parse(plan.to_json()).hash == plan.hash
        return
    assert problems
    assert all(problem.message for problem in problems)


@rounds(300)
@given(likely | steps | st.fixed_dictionaries({"steps": steps | likely}, optional={"goal": likely, "answer": likely}))
def test_any_object_gives_a_plan_or_a_plan_error(source: Any) -> None:
    reads_or_says_why(source)


@rounds(150)
@given(st.binary() | st.text() | json_values.map(json.dumps) | steps.map(lambda data: json.dumps(data, default=repr)))
@example("")
@example("\ud800")
@example('{"steps": [{"id": 1e999}]}')
@example('[{"id": 1, "params": {"x": NaN}}]')
def test_any_text_gives_a_plan_or_a_plan_error(source: str | bytes) -> None:
    reads_or_says_why(source)


@pytest.mark.parametrize("depth", [150, 300, 5_000])
def test_deep_nesting_gives_a_plan_or_a_plan_error(depth: int) -> None:
    deep: Any = 1
    for _ in range(depth):
        deep = [{"a": deep}]
    params = [{"id": 1, "tool": "a", "params": {"x": deep}}]
    for source in ({"steps": deep}, {"goal": deep, "steps": []}, deep, params):
        reads_or_says_why(source)


@pytest.mark.parametrize("value", [math.nan, math.inf, "\ud800", "a\udfffb"], ids=ascii)
def test_values_outside_json_are_rejected_at_every_place(value: Any) -> None:
    params = {"x": [value]}
    step = {"id": 1, "tool": "a"}
    for source in (
        [{**step, "params": params}],
        [{**step, "undo": {"tool": "a", "params": params}}],
        [{**step, "timeout": value}],
        {"steps": [step], "rollback": [{"tool": "a", "params": params}]},
        {"steps": [step], "goal": value},
    ):
        with pytest.raises(PlanError):
            Plan.parse(source)


@pytest.mark.parametrize(
    "source",
    ["[" * 100_000, '{"steps":' * 50_000, '[{"id":' + "1" * 10_000 + "}]", {"steps": {1}},
     {"steps": {"a": {"id": 1, "bogus": 1}}.values()}, {"steps": (_ for _ in "a")}],
    ids=["lists", "objects", "a number", "a set", "a view", "a generator"],
)  # fmt: skip
def test_hostile_text_and_steps_that_are_not_a_list_are_rejected(source: Any) -> None:
    with pytest.raises(PlanError):
        Plan.parse(source)


def test_all_faults_are_reported_at_once_with_their_steps() -> None:
    source = {
        "steps": [
            {"id": "a b", "tool": "x"},
            {"id": "2", "deps": ["1"], "retries": -1},
            {"tool": "x", "id": None},
            {"id": "4", "timeout": 0},
            {"tool": "x"},
        ],
        "goals": "",
    }
    with pytest.raises(PlanError) as caught:
        Plan.parse(source)
    codes = {(problem.step, problem.code) for problem in caught.value.problems}
    assert codes == {
        ("a b", "wrong_field"), ("2", "unknown_field"), ("2", "wrong_field"), ("#3", "wrong_field"),
        ("4", "wrong_field"), ("#5", "missing_field"), (None, "unknown_field"),
    }  # fmt: skip
    assert "did you mean 'goal'" in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("retries", True, "a valid integer"), ("retries", False, "a valid integer"), ("retries", 2.5, "a valid integer"),
        ("timeout", True, "a valid number"), ("timeout", False, "a valid number"),
        ("retries", 11, "less than or equal to 10"), ("retries", 10**9, "equal to 10"),
    ],
)  # fmt: skip
def test_true_is_no_number_and_retries_are_bounded(field: str, value: Any, words: str) -> None:
    with pytest.raises(PlanError, match=f"step 1: '{field}': .*{words}; got {value}"):
        Plan.parse({"steps": [{"id": "1", "tool": "x", field: value}]})


def test_a_plan_error_keeps_the_text_after_pickling() -> None:
    with pytest.raises(PlanError) as caught:
        Plan.parse("Sure! Here is the plan: [...]")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.text, again.problems) == ("Sure! Here is the plan: [...]", caught.value.problems)
    assert isinstance(again, ValueError)


BARE = json.dumps([{"id": 1, "description": "run ```tests``` and ~~~more~~~"}])


@pytest.mark.parametrize(
    "fenced",
    [
        f"```json\n{BARE}\n```",
        f"```\n{BARE}\n```",
        f"```JSON\r\n{BARE}\r\n```\r\n",
        f"\n  ````json5\n{BARE}\n````  \n",
        f"~~~ json\n{BARE}\n~~~",
        f"```json {BARE} ```",
        f"```json\n{json.dumps(json.loads(BARE), indent=2)}\n```",
    ],
)
def test_a_fence_around_the_json_is_ignored(fenced: str) -> None:
    assert Plan.parse(fenced) == Plan.parse(BARE)


@pytest.mark.parametrize(
    "text",
    [
        f"Here is the plan:\n```json\n{BARE}\n```",
        f"```json\n{BARE}\n```\nLeave out step 1.",
        f"```json\n{BARE}\n```\n```json\n{BARE}\n```",
        f"```json\n{BARE}\n``` Leave out step 1: ```",
        f"```json\n{BARE}",
        f"````json\n{BARE}\n```",
        f"Plan:\n```json\n{BARE[:20]}",
        "```json\n```",
        "```",
    ],
)
def test_text_around_a_fence_and_two_fences_are_rejected(text: str) -> None:
    with pytest.raises(PlanError, match=r"this is not JSON: .* no text before or after it") as error:
        Plan.parse(text)
    assert error.value.text == text
    assert [problem.code for problem in error.value.problems] == ["not_json"]


@pytest.mark.parametrize(("id", "shown"), [("a b", "a b"), ("1\n", "1\\n"), ("\u00e9 1", "\\xe9 1")])
def test_a_problem_names_the_characters_of_an_id(id: str, shown: str) -> None:
    with pytest.raises(PlanError) as error:
        Plan.parse([{"id": id, "description": "x"}, {"id": "2", "description": "x", "depends_on": [id]}])
    for problem, name in zip(error.value.problems, ("id", "depends_on.0"), strict=True):
        allowed = f"'{name}': an id takes the letters a to z and A to Z, digits, '_', '.' and '-'"
        assert problem.message == f"{allowed}; got '{shown}'"


INTERRUPTED = """
import signal, sys
from planexec_lab.json_schema import tool_from_schema
from planexec_lite import Plan, Step, Tool
from planexec_lite.run.events import from_json
from planexec_lite.plan import Call

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell can start us with interrupts ignored

def pay(euros: int) -> str: return "paid"
schema = {"type": "object", "properties": {"euros": {"type": "integer"}}}

def interrupt(frame, event, arg):
    if frame.f_code.co_name in ("create_schema_validator", "_node"):
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

def use(): return FIRST
try:
    sys.setprofile(interrupt)
    use()
    print("not interrupted")
except KeyboardInterrupt as interrupt:
    frames, last = [], interrupt.__traceback__
    while last is not None:
        frames.append(last.tb_frame.f_code.co_name)
        last = last.tb_next
    print("while building" if {"create_schema_validator", "_node"} & {*frames} else "after building")
print(use())
"""


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ('Plan.parse([{"id": 1}]).steps[0].id', "1"),
        ('Step(id="1").id', "1"),
        ('Call(tool="pay")', "pay()"),
        ('from_json(\'{"event": "StepSkipped", "at": 0, "step": "1", "reason": "no"}\').step', "1"),
        ("Tool(pay)", "Tool(pay(euros: integer))"),
        ('tool_from_schema(pay, schema, name="pay")', "Tool(pay(euros: integer))"),
    ],
)
def test_an_interrupt_waits_until_the_validators_are_built(first: str, again: str) -> None:
    code = INTERRUPTED.replace("FIRST", first)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["after building", again]
