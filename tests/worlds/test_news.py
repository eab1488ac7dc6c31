"""News at a gate: the scripted planners of deploy and migration plan the rest again, wherever the run stands."""

from __future__ import annotations

from typing import Any

import pytest

from planexec_lab import connect
from planexec_lab.worlds import deploy, migration
from planexec_lite import (
    AskPerson,
    Decision,
    LLMPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    Simulated,
    ToolExecutor,
)

NEWS = "The maintenance window closes at 18:00"


def with_gate(plan: Plan | None, id: str) -> Plan:
    assert plan is not None
    return plan.changed(steps=tuple(step.model_copy(update={"gate": step.id == id}) for step in plan.steps))


def released(world: Any) -> bool:
    return bool(world.deployed("production") == "v2.3.1")


def migrated(world: Any) -> bool:
    return bool(world.tools["verify_integrity"].call({})["ok"])


@pytest.mark.parametrize(
    ("name", "scenario", "gate", "good"),
    [
        *[("deploy", deploy, id, released) for id in "12345678"],
        *[("migration", migration, id, migrated) for id in "1234"],
    ],
)
def test_news_at_a_gate_has_the_rest_planned_again(name: str, scenario: Any, gate: str, good: Any) -> None:
    world = scenario.World()
    agent = PlannerExecutor(
        LLMPlanner(connect(name)), ToolExecutor(world.tools), AskPerson(),
        workers=Simulated(4), policy=Policy(replan="failure"),
    )  # fmt: skip
    waiting = agent.run(scenario.GOAL)
    waiting = agent.resume(waiting, Decision("approve", plan=with_gate(waiting.board.proposal, gate)))
    assert waiting.reason == f"waits for gate of step {gate}"
    told = agent.tell(waiting, NEWS)
    assert (told.status, told.reason) == ("paused", "waits for approval")
    while told.status == "paused":
        told = agent.resume(told, Decision("approve"))
    assert told.status == "finished"
    assert set(waiting.results).issubset(told.results)
    assert good(world)
    assert [message for message in world.messages if NEWS in message] == world.messages


@pytest.mark.parametrize(("name", "scenario"), [("deploy", deploy), ("migration", migration)])
def test_news_may_come_twice(name: str, scenario: Any) -> None:
    world = scenario.World()
    agent = PlannerExecutor(LLMPlanner(connect(name)), ToolExecutor(world.tools), AskPerson(), workers=Simulated(4))
    run = agent.run(scenario.GOAL)
    run = agent.resume(run, Decision("approve", plan=with_gate(run.board.proposal, "4")))
    run = agent.tell(agent.tell(run, NEWS), "The office closes at 17:00")
    assert (run.status, run.reason) == ("paused", "waits for approval")
    assert "17:00" in str(run.plan.steps[-1])
