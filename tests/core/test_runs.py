"""What can be read off a run, and the public names."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

import planexec_lite
from planexec_lite import Board, Plan, Simulated, Step, Toolbox, ToolExecutor, execute, tool
from planexec_lite.events import from_dict, to_dict
from planexec_lite.plan.data import as_data
from planexec_lite.tools import ToolError
from tests.core.shapes import Job, Workshop, plan_of

STEP = Step(id="1")

NAMES = {
    "Step": None,
    "Plan": None,
    "PlanError": None,
    "Board": None,
    "Run": None,
    "tool": None,
    "Tool": "function *name *latency *effects",
    "Toolbox": "tools",
    "PlannerExecutor": "planner executor reviewer evaluator workers policy",
    "execute": "plan executor *evaluator *workers *policy",
    "Inline": "",
    "Pool": "executor slots",
    "Simulated": "slots",
    "Policy": "failure max_repairs max_rounds max_steps retries",
    "RulePlanner": None,
    "NextStepPlanner": None,
    "LLMPlanner": "client model *max_steps *horizon",
    "ToolExecutor": "tools",
    "ApproveAll": "",
    "ScriptedReviewer": "decisions",
    "Decision": "verdict by comment",
    "RuleEvaluator": None,
    "LLMEvaluator": None,
    "ReActExecutor": "client tools model *max_iterations",
}


@pytest.mark.parametrize(("name", "parameters"), NAMES.items())
def test_a_public_name_is_there_with_its_parameters_and_a_docstring(name: str, parameters: str | None) -> None:
    public = getattr(planexec_lite, name)
    assert name in planexec_lite.__all__
    assert public.__doc__
    if parameters is not None:
        declared = inspect.signature(public).parameters.values()
        written = ["*" * (one.kind is one.KEYWORD_ONLY) + one.name for one in declared]
        assert [one for one in written if one in parameters.split()] == parameters.split()


@pytest.mark.parametrize(
    "names",
    [
        "Plan: parse problems waves critical_path to_json hash graph goal steps rollback answer complete",
        "Step: id description tool params depends_on success_criteria timeout retries gate effects undo",
        "Run: status answer results events board plan makespan usage reason",
        "PlannerExecutor: run resume tell",
    ],
)
def test_a_public_class_has_its_members(names: str) -> None:
    kind, _, members = names.partition(": ")
    public = getattr(planexec_lite, kind)
    there = (
        set(dir(public))
        | set(getattr(public, "model_fields", {}))
        | set(vars(planexec_lite.Run()) if kind == "Run" else ())
    )
    assert set(members.split()) <= there


def test_all_holds_nothing_that_is_not_there() -> None:
    assert sorted(planexec_lite.__all__) == planexec_lite.__all__
    assert all(hasattr(planexec_lite, name) for name in planexec_lite.__all__)


@tool(effects="none")
def give(value: Any) -> Any:
    """Give something."""
    return value


def done(source: Any) -> Any:
    return execute(Plan.parse(source), ToolExecutor(Toolbox([give])), workers=Simulated())


def given(id: str, value: Any, *depends_on: str) -> dict[str, Any]:
    return {"id": id, "tool": "give", "params": {"value": value}, "depends_on": list(depends_on)}


def test_the_answer_is_the_result_of_the_only_step_that_nothing_waits_for() -> None:
    assert done([given("1", 4), given("2", ["{step_1_result}"], "1")]).answer == [4]
    assert done([given("1", 4), given("2", 5)]).answer is None


def test_the_answer_may_be_a_text_with_references() -> None:
    steps = [given("1", 4), given("2", {"a": "{step_1_result}"})]
    assert done({"steps": steps[:1], "answer": "It is {step_1_result}."}).answer == "It is 4."
    assert done({"steps": steps[:1], "answer": "{step_1_result}"}).answer == 4


def test_a_run_that_has_not_finished_has_no_answer() -> None:
    run = execute(plan_of([Job("1", fails=1)]), ToolExecutor(Workshop().toolbox))
    assert (run.status, run.answer) == ("failed", None)
    assert "1 went wrong" in run.reason


def test_a_step_without_a_tool_gives_its_input_or_its_description() -> None:
    run = done([{"id": 1, "description": "think"}, {"id": 2, "input": "{step_1_result}!", "depends_on": [1]}])
    assert run.results == {"1": "think", "2": "think!"}


def test_a_changed_copy_of_the_results_changes_nothing() -> None:
    run = done([given("1", [1])])
    run.results["1"] = "other"
    run.results.clear()
    assert run.results == {"1": [1]}


def test_what_a_tool_does_to_its_result_later_does_not_change_the_run() -> None:
    kept: list[int] = [1]

    @tool(effects="none")
    def lend() -> list[int]:
        return kept

    run = execute(Plan.parse([{"id": 1, "tool": "lend"}]), ToolExecutor(Toolbox([lend])))
    kept.append(2)
    assert run.results == {"1": [1]}


def test_a_run_shows_itself_in_a_line() -> None:
    assert repr(done([given("1", 1), given("2", 2)])) == "Run(finished: 2 of 2 steps done)"


@pytest.mark.parametrize(
    "value",
    ["\ud800", ["\ud800"], {"\ud800": 1}, 10**5000, [10**5000], -0.0, "\x00"],
    ids="text list key number numbers zero nul".split(),
)
def test_a_result_is_rejected_or_goes_through_json_and_back(value: Any) -> None:
    @tool(effects="none")
    def odd() -> Any:
        return value

    run = execute(Plan.parse([{"id": 1, "tool": "odd"}]), ToolExecutor(Toolbox([odd])), workers=Simulated())
    again = Board.of(from_dict(json.loads(json.dumps(to_dict(event)))) for event in run.events)
    assert again == run.board


class Odd:
    pass


@pytest.mark.parametrize(
    ("value", "data"),
    [((1, (2,)), [1, [2]]), ({3, 1, 2}, [1, 2, 3]), ({1: "a"}, {"1": "a"}), (b"abc", "abc"), (None, None), (True, True),
     ({"a": {"c", "b"}}, {"a": ["b", "c"]}), ([frozenset({10, 9})], [[9, 10]])],
)  # fmt: skip
def test_results_become_plain_data(value: Any, data: Any) -> None:
    assert as_data(value, STEP) == data


@pytest.mark.parametrize("value", [Odd(), [Odd()], b"\xff", float("nan"), [float("inf")]])
def test_what_json_can_not_hold_is_rejected_with_the_place(value: Any) -> None:
    with pytest.raises(ToolError, match="step 1 returned"):
        as_data(value, STEP)
