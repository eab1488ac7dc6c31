"""The deploy world is real: what is done to its files changes what its tools say; and news at a gate."""

import sqlite3
from contextlib import closing
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
    execute,
)


@pytest.fixture
def world():
    return deploy.World()


def release(world, slots=4):
    return execute(Plan.parse(deploy.PLAN), ToolExecutor(world.tools), workers=Simulated(slots))


def test_a_bug_in_the_source_is_found_by_the_tests(world):
    source = world.folder / "source" / "app.py"
    source.write_text(source.read_text().replace("sum(price", "max(price"))
    run = release(world)
    assert run.board.state["1"] == "failed"
    assert "test_total_is_the_sum" in run.board.errors["1"]
    assert world.deployed("production") == "v2.3.0"


def test_the_backup_holds_the_rows_and_restoring_brings_them_back(world):
    with closing(sqlite3.connect(world.database)) as db, db:
        db.execute("INSERT INTO orders VALUES (4, 99)")
    backup = world.backup_database()
    assert backup["rows"] == 4
    with closing(sqlite3.connect(world.database)) as db, db:
        db.execute("DELETE FROM orders")
    assert world.restore_database(backup["file"])["rows"] == 4


def test_rolling_back_brings_the_previous_release_and_only_what_ran_before(world):
    release(world)
    assert world.rollback_production()["version"] == "v2.3.0"
    assert world.rollback_staging()["version"] == "v2.3.0"
    assert world.remove_image("v2.3.1") == {"removed": "v2.3.1"}
    with pytest.raises(ValueError, match="can't go back to previous"):
        world.rollback_production()
    with pytest.raises(ValueError, match="can't go back to v9"):
        world.rollback_production("v9")


NEWS = {
    "deploy": ("There is no need to notify anyone any more", []),
    "migration": ("Let the team know once it is done", ["The new schema is in production"]),
}


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
    assert waiting.reason == f"waits for the gate of step {gate}"
    news, messages = NEWS[name]
    told = agent.tell(waiting, news)
    assert (told.status, told.reason) == ("paused", "waits for approval")
    while told.status == "paused":
        told = agent.resume(told, Decision("approve"))
    assert told.status == "finished"
    assert set(waiting.results).issubset(told.results)
    assert good(world)
    assert world.messages == messages
