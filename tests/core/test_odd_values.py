"""Odd values: what a plan, a goal, a tool or a picture may say, and what becomes of it; nothing is silently something else."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lab.views import player
from planexec_lite import Plan, PlanError, Policy, Pool, Step, Tool, Toolbox, ToolExecutor, execute, tool
from planexec_lite.events import Action, Inside, Thought, from_dict, to_dict
from planexec_lite.meter import emit
from planexec_lite.references import MissingResultError, find


def make() -> dict[str, Any]:
    """Make something."""
    return {"f": [1, {"g": 2}], "my name": 3}


def echo(x: Any) -> Any:
    """Give back what was given."""
    return x


TOOLS = Toolbox([Tool(make, effects="none"), Tool(echo, effects="none")])


def plan_with(text: Any) -> Plan:
    return Plan.parse(
        [{"id": "1", "tool": "make"}, {"id": "2", "tool": "echo", "params": {"x": text}, "depends_on": ["1"]}]
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{step_1_result.f[-1]}", {"g": 2}),
        ("{step_1_result.f[-2]}", 1),
        ("{ step_1_result.f }", [1, {"g": 2}]),
        ("{step_1_result.f[-1].g }", 2),
        ("it is { step_1_result.f[-2] }.", "it is 1."),
        ("{literal { step_1_result.f }}", "{ step_1_result.f }"),
        ("{literal {{step_1_result.f[-1]}}}", "{{step_1_result.f[-1]}}"),
        ('{literal {step_1_result["f"]}}', '{step_1_result["f"]}'),
        ("{step_3} and {result}", "{step_3} and {result}"),
    ],
)
def test_a_reference_may_count_from_the_end_and_have_room(text: str, value: Any) -> None:
    assert plan_with(text).problems(TOOLS) == []
    assert execute(plan_with(text), ToolExecutor(TOOLS)).results["2"] == value


@pytest.mark.parametrize(
    "text",
    ['{step_1_result["f"]}', "{step_1_result['f'][0]}", "{step_1_result.f[0:1]}", "{step_1_result.f[n]}",
     "{step_1_result|upper}", "{step_1_result!r}", "{step_1_result:>3}", "{step_1_result.f[--1]}", "a {step_1_result.} b",
     "{step_1_results}", "{{step_1_result}}"],
)  # fmt: skip
@pytest.mark.parametrize("where", ["params", "inside", "answer", "rollback", "undo"])
def test_what_looks_like_a_reference_and_cannot_be_read_is_rejected(text: str, where: str) -> None:
    call = {"tool": "echo", "params": {"x": text}}
    plans = {
        "params": plan_with(text),
        "inside": plan_with([{"deep": text}]),
        "answer": plan_with("x").changed(answer=text),
        "rollback": Plan.parse({"steps": [{"id": "1", "tool": "make"}], "rollback": [call]}),
        "undo": Plan.parse([{"id": "1", "tool": "make", "undo": call}]),
    }
    (problem,) = plans[where].problems(TOOLS)
    assert (problem.code, text.strip("ab ") in problem.message) == ("unreadable_reference", True)
    assert find(text) == []


@pytest.mark.parametrize("text", ["{step_1_result.f[-3]}", "{step_1_result.f[2]}", "{step_1_result.g}"])
def test_a_part_that_is_not_there_is_named(text: str) -> None:
    run = execute(plan_with(text), ToolExecutor(TOOLS))
    assert run.status == "failed"
    assert "the result has no" in run.reason
    answered = execute(Plan.parse({"steps": [{"id": "1", "tool": "make"}], "answer": text}), ToolExecutor(TOOLS))
    assert answered.status == "finished"
    with pytest.raises(MissingResultError, match=r"the plan's answer can't be written: .* has no .*see run\.results"):
        _ = answered.answer


@pytest.mark.parametrize("params", [{1: "a", "1": "b"}, {"x": {1: "a", "1": "b"}}, {"x": [{1.5: 0, "1.5": 1}]}])
def test_two_names_that_are_one_when_written_down_are_rejected(params: Any) -> None:
    for read in (lambda: Plan.parse([{"id": "1", "params": params}]), lambda: Step(id="1", params=params)):
        with pytest.raises(ValueError, match="two of these are the same"):
            read()


@pytest.mark.parametrize("retries", [11, 10**9])
def test_retries_have_a_ceiling(retries: int) -> None:
    step = {"id": "1", "tool": "make", "retries": retries}
    (problem,) = Plan.parse([step]).problems(TOOLS)
    assert (problem.code, problem.step) == ("too_many_retries", "1")
    copy = Step(id="1", tool="make").model_copy(update={"retries": retries})
    with pytest.raises(PlanError, match="too_many_retries"):
        execute(Plan(steps=(copy,)), ToolExecutor(TOOLS))
    with pytest.raises(ValueError, match="at most 10"):
        Policy(retries=retries)
    assert Plan.parse([{**step, "retries": 10}]).problems(TOOLS) == []


class Mute:
    """An object without words."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "event",
    [b"\xff", Mute(), [Mute()], {"a": Mute()}, CYCLE, float("nan"), "\ud800", Action("t", b"\xff"), Thought(b"\xff"),  # type: ignore[arg-type]
     Action("t", Mute()), Inside(0.0, "1", Mute()), {1: 2, "1": 3}, len, Mute],
    ids=lambda event: type(event).__name__,
)  # fmt: skip
def test_whatever_a_tool_emits_the_log_can_be_written_and_read(event: Any) -> None:
    @tool(effects="none")
    def speak() -> int:
        emit(event)
        return 1

    run = execute(Plan.parse([{"id": "1", "tool": "speak"}]), ToolExecutor(Toolbox([speak])))
    text = json.dumps([to_dict(event) for event in run.events], allow_nan=False)
    again = [from_dict(data) for data in json.loads(text)]
    assert [type(event) for event in again] == [type(event) for event in run.events]
    assert "inside step 1" in repr(player(run))


@pytest.mark.parametrize("deep", [1, 3])
def test_a_plan_inside_a_step_of_a_pool_of_one_thread_comes_to_its_end(deep: int) -> None:
    with ThreadPoolExecutor(1) as threads:

        @tool(effects="none")
        def nest(deep: int) -> int:
            if not deep:
                return 1
            steps = [{"id": str(n), "tool": "nest", "params": {"deep": deep - 1}} for n in (1, 2)]
            run = execute(Plan.parse(steps), ToolExecutor(Toolbox([nest])), workers=Pool(threads))
            return sum(run.results.values())

        assert nest(deep) == 2**deep
