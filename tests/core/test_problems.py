"""Whether a plan is valid: each fault with its code and step, all of them at once, and nothing runs before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.plan import Problem
from tests.core.shapes import Job, Workshop, jobs, plan_of
from tests.rounds import rounds


@tool(effects="none")
def search(query: str, most: int = 3) -> list[str]:
    """Search."""
    return [query] * most


@tool(effects="none")
def shout(text: str) -> str:
    """Shout."""
    return text.upper()


TOOLS = Toolbox([search, shout])
GOOD = {"id": "1", "tool": "search", "params": {"query": "wind"}}


def codes(source: Any, **options: Any) -> list[tuple[str, str | None]]:
    return [(problem.code, problem.step) for problem in Plan.parse(source).problems(TOOLS, **options)]


def second(**fields: Any) -> list[dict[str, Any]]:
    return [GOOD, {"id": "2", "tool": "search", "params": {"query": "sun"}, **fields}]


@pytest.mark.parametrize(
    ("source", "code", "step"),
    [
        ([], "empty_plan", None),
        ([GOOD, GOOD], "duplicate_id", "1"),
        ([GOOD | {"id": "\uff11"}, *second()[1:]], "id_not_ascii", "\uff11"),
        ([GOOD | {"id": "\u0430lice"}, *second(depends_on=["\u0430lice"])[1:]], "id_not_ascii", "\u0430lice"),
        (second(depends_on=["9"]), "unknown_dependency", "2"),
        (second(depends_on=["2"]), "self_dependency", "2"),
        ([GOOD | {"depends_on": ["2"]}, *second(depends_on=["1"])[1:]], "cycle", "1"),
        (second(tool="serch"), "unknown_tool", "2"),
        (second(params={"query": ["a"]}), "wrong_parameter", "2"),
        (second(params={"query": "a", "most": "many"}), "wrong_parameter", "2"),
        (second(params={"query": "a", "most": "1{step_1_result}"}, depends_on=["1"]), "wrong_parameter", "2"),
        (second(params={}), "missing_parameter", "2"),
        (second(params={"query": "a", "moist": 1}), "unknown_parameter", "2"),
        (second(params={"query": "{step_9_result}"}), "dangling_reference", "2"),
        (second(params={"query": "{step_1_result}"}), "indirect_reference", "2"),
        (second(undo={"tool": "serch", "params": {}}), "unknown_tool", "2"),
        (second(undo={"tool": "search", "params": {}}), "missing_parameter", "2"),
        (second(undo={"tool": "search", "params": {"query": "{step_9_result}"}}), "dangling_reference", "2"),
        ({"steps": [GOOD], "rollback": [{"tool": "serch"}]}, "unknown_tool", None),
        ({"steps": [GOOD], "answer": "{step_9_result}"}, "dangling_reference", None),
    ],
)
def test_each_fault_has_its_code_and_its_step(source: Any, code: str, step: str | None) -> None:
    assert codes(source) == [(code, step)]
    problem = Plan.parse(source).problems(TOOLS)[0]
    assert problem.message
    assert problem.hint
    assert str(problem).startswith(f"step {step}: " if step else "plan: ")


@pytest.mark.parametrize(
    "source",
    [
        [GOOD],
        second(depends_on=["1"], params={"query": "{step_1_result[0]}"}),
        second(depends_on=["1"], params={"query": "a", "most": "{step_1_result.n}"}),
        second(depends_on=["1"], params={"query": "so: {step_1_result} and {literal {step_9_result}}"}),
        second(undo={"tool": "search", "params": {"query": "{step_2_result}"}}),
        [{"id": "1", "tool": "shout", "input": "wind"}],
        [{"id": "1", "description": "think"}],
        {
            "steps": [GOOD],
            "answer": "It is {step_1_result}",
            "rollback": [{"tool": "search", "params": {"query": "a"}}],
        },
    ],
)
def test_a_valid_plan_has_no_problems(source: Any) -> None:
    assert codes(source) == []


def test_done_steps_may_be_waited_for_but_not_written_again() -> None:
    later = [{"id": "2", "tool": "search", "params": {"query": "{step_1_result}"}, "depends_on": ["1"]}]
    assert codes(later, done=["1"]) == []
    assert codes([GOOD], done=["1"]) == [("done_already", "1")]
    assert codes([], done=["1"]) == []
    assert codes({"steps": [], "complete": False}, done=["1"]) == [("empty_plan", None)]


def test_an_oversized_plan_is_a_fault_only_where_a_bound_is_given() -> None:
    many = [GOOD | {"id": n} for n in range(1, 6)]
    assert codes(many) == []
    assert codes(many, max_steps=5) == []
    assert codes(many, max_steps=4) == [("too_many_steps", None)]


def test_all_faults_are_told_at_once() -> None:
    source = [
        {"id": "1", "tool": "serch", "depends_on": ["1", "7"]},
        {
            "id": "2",
            "tool": "search",
            "params": {"query": "{step_8_result}{step_4_result}", "x": 1},
            "depends_on": ["3"],
        },
        {"id": "3", "tool": "search", "params": {"query": 5}, "depends_on": ["2"]},
        {"id": "4", "tool": "search"},
        {"id": "4", "tool": "search", "params": {"query": ""}},
    ]
    assert Counter(codes(source, max_steps=4)) == Counter(
        [
            ("too_many_steps", None), ("duplicate_id", "4"), ("cycle", "2"), ("unknown_tool", "1"),
            ("self_dependency", "1"), ("unknown_dependency", "1"), ("dangling_reference", "2"),
            ("indirect_reference", "2"), ("unknown_parameter", "2"), ("wrong_parameter", "3"), ("missing_parameter", "4"),
        ]
    )  # fmt: skip


def test_every_cycle_is_named_once_in_the_order_of_waiting() -> None:
    waits = {"1": ["2"], "2": ["3"], "3": ["1"], "4": ["1"], "5": ["6"], "6": ["5", "4"], "7": []}
    problems = Plan.parse([{"id": id, "depends_on": on} for id, on in waits.items()]).problems()
    assert [problem.message.partition(":")[0] for problem in problems if problem.code == "cycle"] == [
        "1 waits for 2, 2 waits for 3, 3 waits for 1",
        "5 waits for 6, 6 waits for 5",
    ]


def test_a_near_name_is_suggested() -> None:
    problems = Plan.parse(second(tool="serch", depends_on=["11"])).problems(TOOLS)
    assert "did you mean 'search'?" in " ".join(map(str, problems))
    assert "did you mean '1'?" in " ".join(map(str, problems))


Break = Callable[[list[dict[str, Any]], int, int], tuple[str, str | None]]


def unknown_dependency(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps[one]["depends_on"].append("nobody")
    return "unknown_dependency", steps[one]["id"]


def self_dependency(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps[one]["depends_on"].append(steps[one]["id"])
    return "self_dependency", steps[one]["id"]


def unknown_tool(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps[one]["tool"] = "play"
    return "unknown_tool", steps[one]["id"]


def wrong_parameter(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps[one]["params"]["quarters"] = "a few"
    return "wrong_parameter", steps[one]["id"]


def missing_parameter(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    del steps[one]["params"]["fails"]
    return "missing_parameter", steps[one]["id"]


def unknown_parameter(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps[one]["params"]["colour"] = "red"
    return "unknown_parameter", steps[one]["id"]


def dangling_reference(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps[one]["params"]["step"] = "x {step_nobody_result.a}"
    return "dangling_reference", steps[one]["id"]


def indirect_reference(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps[other]["depends_on"] = [id for id in steps[other]["depends_on"] if id != steps[one]["id"]]
    steps[other]["params"]["uses"] = [f"{{step_{steps[one]['id']}_result}}"]
    return "indirect_reference", steps[other]["id"]


def duplicate_id(steps: list[dict[str, Any]], one: int, other: int) -> tuple[str, str | None]:
    steps.append({"id": steps[one]["id"], "tool": "work", "params": dict(steps[one]["params"], uses=[])})
    return "duplicate_id", steps[one]["id"]


BREAKS: list[Break] = [
    unknown_dependency, self_dependency, unknown_tool, wrong_parameter, missing_parameter, unknown_parameter,
    dangling_reference, indirect_reference, duplicate_id,
]  # fmt: skip


@rounds(200)
@given(st.data(), jobs(most=8), st.sampled_from(BREAKS))
def test_a_random_plan_that_is_broken_once_has_exactly_that_fault(
    data: st.DataObject, made: list[Job], spoil: Break
) -> None:
    if spoil is indirect_reference:
        made = [*made, Job("late")]
    steps = [step.model_dump(exclude_defaults=True) for step in plan_of(made).steps]
    for step in steps:
        step["depends_on"] = list(step.get("depends_on", ()))
    code, at = spoil(steps, data.draw(st.integers(0, len(made) - 1 - (spoil is indirect_reference))), len(made) - 1)
    workshop = Workshop()
    plan = Plan.parse({"steps": steps})
    assert [(problem.code, problem.step) for problem in plan.problems(workshop.toolbox)] == [(code, at)]
    with pytest.raises(PlanError) as caught:
        execute(plan, ToolExecutor(workshop.toolbox))
    assert [problem.code for problem in caught.value.problems] == [code]
    assert workshop.log == []


@rounds(60)
@given(jobs(most=8), st.data())
def test_a_random_cycle_is_found_with_its_members(made: list[Job], data: st.DataObject) -> None:
    ids = [job.id for job in made]
    cycle = data.draw(st.permutations(ids))[: data.draw(st.integers(2, max(2, len(ids))))] + (
        ["x"] if len(ids) == 1 else []
    )
    waits: dict[str, tuple[str, ...]] = dict.fromkeys([*ids, *cycle], ())
    waits.update(zip(cycle, [(id,) for id in [*cycle[1:], cycle[0]]], strict=True))
    problems = Plan.parse([{"id": id, "depends_on": list(on)} for id, on in waits.items()]).problems()
    assert [problem.code for problem in problems] == ["cycle"]
    if len(cycle) <= 8:
        assert all(f"{id} waits for {on[0]}" in problems[0].message for id, on in waits.items() if on)


def test_an_invalid_plan_of_a_planner_never_runs_either() -> None:
    workshop = Workshop()
    bad = plan_of([Job("1"), Job("2", ("1",))]).model_dump(exclude_defaults=True)
    bad["steps"][1]["tool"] = "play"
    run = PlannerExecutor(
        RulePlanner(lambda goal: bad), ToolExecutor(workshop.toolbox), policy=Policy(max_repairs=1)
    ).run("x")
    assert run.status == "failed"
    assert "unknown_tool" in run.reason
    assert workshop.log == []


def test_a_plan_error_counts_all_and_shows_twenty() -> None:
    error = PlanError([Problem("code", str(n), f"fault {n}") for n in range(30)])
    assert len(error.problems) == 30
    assert "30 problems" in str(error)
    assert "and 10 more" in str(error)
    assert "fault 19" in str(error)
    assert "fault 20 " not in str(error)


def test_many_faults_are_found_in_reasonable_time() -> None:
    steps = [{"id": n, "depends_on": [f"missing-{n}"]} for n in range(2_000)]
    assert len(Plan.parse(steps).problems()) == 2_000


def test_a_tool_without_parameters_rejects_arguments() -> None:
    tools = Toolbox([Tool(lambda: 1, name="now", effects="none")])
    plan = Plan.parse([{"id": 1, "tool": "now", "params": {"x": 1}}, {"id": 2, "tool": "now"}])
    assert [(problem.code, problem.step) for problem in plan.problems(tools)] == [("unknown_parameter", "1")]
