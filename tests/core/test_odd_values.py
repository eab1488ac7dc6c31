"""Odd values in plans, tools and pictures are kept, or rejected with a message; none silently becomes another value."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import Any

import pytest

from planexec_lab.views import player
from planexec_lite import Plan, PlanError, PlannerExecutor, Policy, Pool, Step, Tool, Toolbox, ToolExecutor, execute
from planexec_lite.events import Action, Inside, Paused, Thought, from_dict, to_dict
from planexec_lite.meter import emit
from planexec_lite.references import MissingResultError, find
from tests.core.shapes import Portions, step


def make() -> dict[str, Any]:
    """Make something."""
    return {"f": [1, {"g": 2}], "my name": 3}


def echo(x: Any) -> Any:
    """Give back what was given."""
    return x


TOOLS = Toolbox([Tool(make, effects="none"), Tool(echo, effects="none")])
TEXT = "{step_1_result['f'][0]}"


def plan_with(value: Any, **more: Any) -> Plan:
    return Plan.parse({"steps": [step("1", "make"), step("2", "echo", "1", x=value)], **more})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{step_1_result.f[-1].g }", 2),
        ("{ step_1_result.f }", [1, {"g": 2}]),
        ("it is { step_1_result.f[-2] }.", "it is 1."),
        ("{literal { step_1_result.f }}", "{ step_1_result.f }"),
        ('{literal {step_1_result["f"]}}', '{step_1_result["f"]}'),
        ("{step_3} and {result}", "{step_3} and {result}"),
    ],
)
def test_a_reference_may_count_from_the_end_and_have_room(text: str, value: Any) -> None:
    assert plan_with(text).problems(TOOLS) == []
    assert execute(plan_with(text), ToolExecutor(TOOLS)).results["2"] == value


CALL = {"tool": "echo", "params": {"x": TEXT}}
UNREADABLE: dict[str, Plan] = {
    **{text: plan_with(text) for text in (
        TEXT, "{step_1_result.f[0:1]}", "{step_1_result.f[n]}", "{step_1_result|upper}", "{step_1_result:>3}",
        "{step_1_result.f[--1]}", "a {step_1_result.} b", "{step_1_results}", "{{step_1_result}}",
    )},
    "deep inside": plan_with([{"deep": TEXT}]),
    "the name of a parameter": Plan.parse([step("1", "make"), step("2", None, "1", **{TEXT: 1})]),
    "the answer": plan_with("x", answer=TEXT),
    "the rollback": plan_with("x", rollback=[CALL]),
    "an undo": Plan.parse([step("1", "make", undo=CALL)]),
}  # fmt: skip


@pytest.mark.parametrize("where", UNREADABLE)
def test_what_looks_like_a_reference_and_cannot_be_read_is_rejected(where: str) -> None:
    text = where if "{" in where else TEXT
    (problem,) = UNREADABLE[where].problems(TOOLS)
    assert (problem.code, text.strip("ab ") in problem.message) == ("unreadable_reference", True)
    assert find(text) == []


@pytest.mark.parametrize("text", ["{step_1_result.f[-3]}", "{step_1_result.f[2]}", "{step_1_result.g}"])
def test_a_part_that_is_not_there_is_named(text: str) -> None:
    run = execute(plan_with(text), ToolExecutor(TOOLS))
    assert (run.status, "the result has no" in run.reason) == ("failed", True)
    answered = execute(plan_with("x", answer=text), ToolExecutor(TOOLS))
    assert answered.status == "finished"
    with pytest.raises(MissingResultError, match=r"the plan's answer can't be written: .* has no .*see run\.results"):
        _ = answered.answer


@pytest.mark.parametrize("params", [{1: "a", "1": "b"}, {"x": [{1.5: 0, "1.5": 1}]}])
def test_two_names_that_are_one_when_written_are_rejected(params: Any) -> None:
    for read in (lambda: Plan.parse([{"id": "1", "params": params}]), lambda: Step(id="1", params=params)):
        with pytest.raises(ValueError, match="two of these are the same"):
            read()
    for text in ('[{"id": "1", "params": {"to": "ACME", "to": "MALLORY"}}]', '{"steps": [], "steps": [{"id": "2"}]}'):
        with pytest.raises(PlanError, match="occurs twice"):
            Plan.parse(text)


@pytest.mark.parametrize("retries", [11, 10**9])
def test_retries_have_a_ceiling(retries: int) -> None:
    (problem,) = Plan.parse([step("1", "make", retries=retries)]).problems(TOOLS)
    assert (problem.code, problem.step) == ("too_many_retries", "1")
    copy = Step(id="1", tool="make").model_copy(update={"retries": retries})
    with pytest.raises(PlanError, match="too_many_retries"):
        execute(Plan(steps=(copy,)), ToolExecutor(TOOLS))
    with pytest.raises(ValueError, match="at most 10"):
        Policy(retries=retries)
    assert Plan.parse([step("1", "make", retries=10)]).problems(TOOLS) == []


class Mute:
    """An object without words."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "event",
    [b"\xff", Mute(), [Mute()], CYCLE, float("nan"), "\ud800", Action("t", Mute()), Thought(b"\xff"),  # type: ignore[arg-type]
     Inside(0.0, "1", Mute()), {1: 2, "1": 3}, len],
    ids=lambda event: type(event).__name__,
)  # fmt: skip
def test_whatever_a_tool_emits_the_log_can_be_written_and_read(event: Any) -> None:
    tools = Toolbox([Tool(lambda: emit(event), name="speak", effects="none")])
    run = execute(Plan.parse([step("1", "speak")]), ToolExecutor(tools))
    text = json.dumps([to_dict(event) for event in run.events], allow_nan=False)
    again = [from_dict(data) for data in json.loads(text)]
    assert [type(event) for event in again] == [type(event) for event in run.events]
    assert "inside step 1" in repr(player(run))


def test_a_tool_that_says_that_a_run_inside_it_waits_does_not_block_the_run() -> None:
    class RunPaused(Exception):
        pass

    def claim() -> None:
        """Claim that a run inside waits."""
        emit(Paused(0.0, "gate", "1"))
        raise RunPaused("for nothing")

    run = execute(Plan.parse([step("1", "claim")]), ToolExecutor(Toolbox([Tool(claim, effects="none")])))
    assert run.status == "failed"


@pytest.mark.parametrize("deep", [1, 3])
def test_a_plan_inside_a_step_of_a_pool_of_one_thread_comes_to_its_end(deep: int) -> None:
    def nest(deep: int) -> int:
        """Run two plans of this kind."""
        if not deep:
            return 1
        plan, tools = [step(str(n), "nest", deep=deep - 1) for n in (1, 2)], Toolbox([Tool(nest, effects="none")])
        return sum(execute(Plan.parse(plan), ToolExecutor(tools), workers=Pool(threads)).results.values())

    with ThreadPoolExecutor(1) as threads:
        assert nest(deep) == 2**deep


def test_pools_that_wait_for_each_other_in_a_ring_come_to_an_end() -> None:
    agent: Any = ToolExecutor(TOOLS)
    with ThreadPoolExecutor(1) as a, ThreadPoolExecutor(1) as b:
        for threads, tool in ((a, "make"), (b, None), (a, None)):
            agent = PlannerExecutor(Portions([step("1", tool)]), agent, workers=Pool(threads))
        ended: list[str] = []
        thread = Thread(target=lambda: ended.append(agent.run("x").status), daemon=True)
        thread.start()
        thread.join(20)
        assert ended == ["finished"]
