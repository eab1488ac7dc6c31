"""A repair is suggested where one thing alone can be meant, told step by step, and never made in silence."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lite import Plan, Toolbox, tool
from tests.core.shapes import jobs, plan_of
from tests.rounds import rounds


@tool(effects="none")
def search(query: str) -> str:
    """Search."""
    return query


@tool(effects="none")
def send_mail(to: str) -> str:
    """Send."""
    return to


@tool(effects="none")
def delete_user(name: str) -> str:
    """Delete one."""
    return name


@tool(effects="none")
def delete_users(name: str) -> str:
    """Delete all of that name."""
    return name


TOOLS = Toolbox([search, send_mail, delete_user, delete_users])


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
