"""Odd results and odd plans: what is written down is what is read, and no run waits for ever."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from threading import Thread
from typing import Any

import pytest

from planexec_lite import (
    Plan,
    PlanError,
    PlannerExecutor,
    Pool,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.events import Paused
from planexec_lite.meter import emit
from tests.core.bank import Bank, plan, who
from tests.core.shapes import Portions

TASK = {"id": "1", "description": "pay ACME"}


class Level(IntEnum):
    """A number of a class of its own."""

    HIGH = 3


@pytest.mark.parametrize(
    ("value", "kept", "reason"),
    [(Level.HIGH, "3", ""), ({1: "a", "1": "b"}, "None", "two of its keys are the same")],
    ids=["a number", "two names that are one"],
)
def test_a_result_is_kept_as_data_or_refused(value: Any, kept: str, reason: str) -> None:
    tools = Toolbox([Tool(lambda: value, name="odd", effects="none")])
    run = execute(Plan.parse([{"id": "1", "tool": "odd"}]), ToolExecutor(tools))
    assert (repr(run.results.get("1")), reason in run.reason) == (kept, True)


@pytest.mark.parametrize(
    "text",
    [
        '{"steps": [{"id": "1", "tool": "pay", "params": {"to": "ACME", "to": "MALLORY"}}]}',
        '{"steps": [{"id": "1", "tool": "pay"}], "steps": [{"id": "2", "tool": "pay"}]}',
    ],
)
def test_a_name_that_stands_twice_in_one_object_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="occurs twice"):
        Plan.parse(text)


def test_a_reference_in_the_name_of_a_parameter_is_refused() -> None:
    steps = [{"id": "1", "tool": "t"}, {"id": "2", "params": {"{step_1_result}": 1}, "depends_on": ["1"]}]
    assert [problem.code for problem in Plan.parse(steps).problems()] == ["unreadable_reference"]


def test_a_tool_that_says_that_a_run_inside_it_waits_does_not_block_the_run() -> None:
    class RunPaused(Exception):
        pass

    tried: list[int] = []

    @tool(effects="none")
    def claims() -> str:
        tried.append(1)
        if len(tried) == 1:
            emit(Paused(0.0, "gate", "1"))
            raise RunPaused("for nothing")
        return "done"

    one = PlannerExecutor(
        Portions(Plan.parse([{"id": "1", "tool": "claims"}])), ToolExecutor(Toolbox([claims])), workers=Simulated()
    )
    run = one.run("x")
    assert (run.status, tried) == ("failed", [1])


def test_pools_that_wait_for_each_other_in_a_ring_come_to_an_end() -> None:
    with ThreadPoolExecutor(1) as a, ThreadPoolExecutor(1) as b:
        third = PlannerExecutor(Portions(plan(who("c", "x"))), Bank().executor, workers=Pool(a))
        second = PlannerExecutor(Portions(plan(TASK)), third, workers=Pool(b))
        first = PlannerExecutor(Portions(plan(TASK)), second, workers=Pool(a))
        ended: list[str] = []
        thread = Thread(target=lambda: ended.append(first.run("x").status), daemon=True)
        thread.start()
        thread.join(20)
        assert ended == ["finished"]
