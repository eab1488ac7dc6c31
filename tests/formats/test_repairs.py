"""Arguments without names get those of a toolbox; plans that can be repaired are repaired, with a report."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lab.json_schema import tool_from_schema
from planexec_lite import Plan, Tool, Toolbox, tool
from tests.core.shapes import jobs, plan_of
from tests.rounds import rounds


def test_named_names_positional_arguments_and_overwrites_none() -> None:
    def math(problem: str, context: list[str]) -> float:
        raise NotImplementedError

    def search(input: str) -> str:
        raise NotImplementedError

    tools = Toolbox([Tool(math, effects="none"), Tool(search, effects="none")])
    plan = formats.read('1. search("Oslo")\n2. math("half of it", ["$1"])\n3. math("x", context=[])\n4. fly("x", "y")')
    ready = formats.named(plan, tools)
    assert [step.params for step in ready.steps] == [
        {"input": "Oslo"},
        {"problem": "half of it", "context": ["{step_1_result}"]},
        {"problem": "x", "context": []},
        {"arg1": "x", "arg2": "y"},
    ]
    assert [problem.code for problem in ready.problems(tools)] == ["unknown_tool"]
    assert ready.hash != plan.hash

    @tool(effects="none")
    def f(a: int, b: int) -> int:
        raise NotImplementedError

    plan = formats.read("1. f(1, a=2)\n2. f(1, 2, 3)")
    steps = formats.named(plan, Toolbox([f])).steps
    assert [step.params for step in steps] == [{"input": 1, "a": 2}, {"a": 1, "b": 2, "arg3": 3}]


def listed_tool(name: str, param: str) -> Tool:
    schema = {"type": "object", "properties": {param: {"type": "string"}}, "required": [param]}
    return tool_from_schema(dict, schema, name=name, description="", effects="none")


NAMES = {"search": "query", "send_mail": "to", "delete_user": "name", "delete_users": "name"}
TOOLS = Toolbox([listed_tool(*one) for one in NAMES.items()])


def steps(*listed: dict[str, Any]) -> Plan:
    return Plan.parse([{"id": str(n), "tool": "search", "params": {"query": "x"}, "depends_on": [], **one}
                       for n, one in enumerate(listed, 1)])  # fmt: skip


def test_misspelt_tool_and_missing_dependency_are_mended_and_told() -> None:
    plan = steps({"tool": "serach"}, {"tool": "send_email", "params": {"to": "{step_1_result}"}})
    mended, repairs = formats.repaired(plan, TOOLS)
    assert {problem.code for problem in plan.problems(TOOLS)} == {"unknown_tool", "indirect_reference"}
    assert mended.problems(TOOLS) == []
    assert [step.tool for step in mended.steps] == ["search", "send_mail"]
    assert [str(repair) for repair in repairs] == [
        "step 1: there is no tool 'serach'; it calls 'search', the nearest name",
        "step 2: there is no tool 'send_email'; it calls 'send_mail', the nearest name",
        "step 2: it uses {step_1_result}, so it waits for step 1",
    ]
    assert [(repair.code, repair.step) for repair in repairs] == [
        ("unknown_tool", "1"),
        ("unknown_tool", "2"),
        ("indirect_reference", "2"),
    ]


@pytest.mark.parametrize("name", ["delete_usr", "delete_user_s", "remove", "x", "searching_the_web_for_me"])
def test_tool_that_may_be_two_or_none_stays(name: str) -> None:
    plan = steps({"tool": name})
    assert formats.repaired(plan, TOOLS) == (plan, [])


def test_dependency_that_would_close_a_cycle_stays_missing() -> None:
    uses = {"params": {"query": "{step_2_result}"}}
    assert formats.repaired(steps(uses, {"depends_on": ["1"]}), TOOLS)[1] == []
    both = steps(uses, {"params": {"query": "{step_1_result}"}})
    assert formats.repaired(both, TOOLS) == (both, [])
    beside = steps(uses, {"depends_on": ["1"]}, {"params": {"query": "{step_4_result}"}}, {})
    assert [repair.step for repair in formats.repaired(beside, TOOLS)[1]] == ["3"]


def test_undo_and_rollback_are_mended_too() -> None:
    undo = {"tool": "serach", "params": {"query": "{step_1_result} {step_2_result}"}}
    plan = Plan.parse(
        {
            "steps": [{"id": 1, "tool": "search", "params": {"query": "x"}},
                      {"id": 2, "tool": "search", "params": {"query": "y"}, "undo": undo}],
            "rollback": [{"tool": "sendmail", "params": {"to": "me"}}],
        }
    )  # fmt: skip
    mended, repairs = formats.repaired(plan, TOOLS)
    assert mended.problems(TOOLS) == []
    assert [repair.step for repair in repairs] == ["2", "2", None]
    assert str(repairs[2]).startswith("plan: there is no tool 'sendmail'")


@given(made=jobs(failures=False), data=st.data())
@rounds(100)
def test_dependency_that_was_dropped_comes_back_from_its_reference(made: Any, data: st.DataObject) -> None:
    whole = plan_of(made)
    subsets = (st.lists(st.sampled_from(step.depends_on or ("",)), unique=True) for step in whole.steps)
    kept = [[id for id in data.draw(subset) if id] for subset in subsets]
    dropped = whole.changed(
        steps=tuple(
            step.model_copy(update={"depends_on": tuple(ids)}) for step, ids in zip(whole.steps, kept, strict=True)
        )
    )
    mended, repairs = formats.repaired(dropped, Toolbox([]))
    assert [{*step.depends_on} for step in mended.steps] == [{*step.depends_on} for step in whole.steps]
    assert len(repairs) == sum(len(step.depends_on) for step in whole.steps) - sum(map(len, kept))
    assert formats.repaired(mended, Toolbox([])) == (mended, [])
    assert mended.problems() == []
