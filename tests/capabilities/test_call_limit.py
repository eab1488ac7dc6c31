"""The call limit bounds the calls of one tool in a run, across retries, plans and approvals."""

from __future__ import annotations

from typing import Any

import pytest

from planexec_lite import Plan, PlannerExecutor, Policy, RulePlanner, Simulated, Toolbox, ToolExecutor, execute, tool
from planexec_lite.capabilities.call_limit import Calls
from planexec_lite.events import StepBlocked
from tests.core.shapes import check_fold, step


def tools_of(log: list[str], fails: int = 0) -> Toolbox:
    @tool(effects="none")
    def search(name: str) -> str:
        log.append(name)
        if len(log) <= fails:
            raise OSError("no answer")
        return name

    return Toolbox([search])


def test_a_further_step_fails_without_a_call() -> None:
    log: list[str] = []
    plan = Plan.parse([step(str(n), "search", name=str(n)) for n in range(4)])
    run = execute(
        plan, ToolExecutor(tools_of(log)), workers=Simulated(1), policy=Policy(max_calls={"search": 2, "pay": 0})
    )
    assert (run.status, log) == ("failed", ["0", "1"])
    assert run.board.errors["2"] == "not called: search was called 2 times in this run (max_calls)"
    assert [event.step for event in run.events if isinstance(event, StepBlocked)] == ["2", "3"]
    check_fold(run)


def test_each_attempt_counts_and_a_blocked_one_is_not_tried_again() -> None:
    log: list[str] = []
    plan = Plan.parse([step("1", "search", name="a") | {"retries": 9}])
    run = execute(
        plan, ToolExecutor(tools_of(log, fails=9)), workers=Simulated(), policy=Policy(max_calls={"search": 3})
    )
    assert (run.status, log, run.board[Calls].by_tool) == ("failed", ["a"] * 3, {"search": 3})


def test_a_new_plan_brings_no_new_calls() -> None:
    log: list[str] = []
    plans = iter([[step("1", "search", name="a")], [step("2", "search", name="b")]])
    agent = PlannerExecutor(
        RulePlanner(lambda goal: next(plans)),
        ToolExecutor(tools_of(log, fails=1)),
        workers=Simulated(),
        policy=Policy(replan="failure", max_replans=1, max_calls={"search": 1}),
    )
    run = agent.run("look")
    assert (run.status, log) == ("failed", ["a"])


@pytest.mark.parametrize("most", [-1, 1.5, True, "2"])
def test_a_limit_is_a_whole_number(most: Any) -> None:
    with pytest.raises(ValueError, match="a whole number, zero or more"):
        Policy(max_calls={"search": most})
