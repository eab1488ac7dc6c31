"""The call limit bounds the calls of one tool in a run, across retries, plans and approvals."""

from __future__ import annotations

from typing import Any

import pytest

from planexec_lite import Policy, Simulated, Toolbox, tool
from planexec_lite.capabilities.call_limit import Calls
from planexec_lite.events import StepBlocked
from tests.capabilities.scaffold import carry_out, planned, told
from tests.core.shapes import step


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
    steps = [step(str(n), "search", name=str(n)) for n in range(4)]
    run = carry_out(steps, tools_of(log), Simulated(1), max_calls={"search": 2, "pay": 0})
    assert (run.status, log, told(run, StepBlocked)) == ("failed", ["0", "1"], ["2", "3"])
    assert run.board.errors["2"] == "not called: search was called 2 times in this run (max_calls)"


def test_each_attempt_counts_and_a_new_plan_brings_no_new_calls() -> None:
    log: list[str] = []
    run = carry_out([step("1", "search", name="a", retries=9)], tools_of(log, fails=9), max_calls={"search": 3})
    assert (run.status, log, run.board[Calls].by_tool) == ("failed", ["a"] * 3, {"search": 3})
    log.clear()
    plans = [[step(id, "search", name=id)] for id in "ab"]
    agent = planned(tools_of(log, fails=1), *plans, replan="failure", max_replans=1, max_calls={"search": 1})
    assert (agent.run("look").status, log) == ("failed", ["a"])


@pytest.mark.parametrize("most", [-1, 1.5, True, "2"])
def test_a_limit_is_a_whole_number(most: Any) -> None:
    with pytest.raises(ValueError, match="a whole number, zero or more"):
        Policy(max_calls={"search": most})
