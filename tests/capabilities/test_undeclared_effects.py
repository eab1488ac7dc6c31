"""A tool without declared effects has unknown effects: the kit never repeats it by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import planexec_lab.worlds
from planexec_lab.worlds import (
    arithmetic,
    bisect,
    clock,
    deploy,
    flights,
    inbox,
    kitchen,
    manifest,
    migration,
    refactor,
    research,
    support,
    trail,
)
from planexec_lite import (
    Decision,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from tests.core.shapes import step


class Act:
    """A tool that fails `failures` times, and is interrupted `interrupts` times."""

    def __init__(self, failures: int = 0, interrupts: int = 0, **declared: Any) -> None:
        self.calls, self.failures, self.interrupts = 0, failures, interrupts
        self.tools = Toolbox([Tool(self.act, **declared)])

    def act(self) -> str:
        """Act."""
        self.calls += 1
        if self.interrupts:
            self.interrupts -= 1
            raise KeyboardInterrupt
        if self.calls <= self.failures:
            raise ConnectionError("no answer")
        return "done"


def declared(effects: Any) -> dict[str, Any]:
    return {"effects": effects} if effects else {}


@pytest.mark.parametrize(
    ("effects", "own", "policy", "calls"),
    [(None, 0, 2, 1), (None, 2, 0, 2), ("none", 0, 2, 2), ("idempotent", 0, 2, 2), ("once", 0, 2, 1)],
)
@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=str)
def test_only_a_step_itself_may_ask_for_a_retry_of_what_declares_nothing(
    effects: Any, own: int, policy: int, calls: int, workers: Any
) -> None:
    site, plan = Act(failures=1, **declared(effects)), Plan.parse([step("1", "act", retries=own)])
    execute(plan, ToolExecutor(site.tools), workers=workers, policy=Policy(retries=policy))
    assert site.calls == calls


@pytest.mark.parametrize("effects", [None, "none", "idempotent", "once"])
def test_after_a_crash_it_is_in_doubt(effects: Any, tmp_path: Path) -> None:
    site, journal = Act(interrupts=1, **declared(effects)), Journal(tmp_path / "runs.db")
    with pytest.raises(KeyboardInterrupt):
        execute(Plan.parse([step("1", "act")]), ToolExecutor(site.tools), journal=journal)
    agent = PlannerExecutor(None, ToolExecutor(site.tools))
    run = agent.resume(journal.load(1))
    if effects in ("none", "idempotent"):
        assert (run.status, site.calls) == ("finished", 2)
        return
    assert (run.status, run.board.paused and run.board.paused.reason, site.calls) == ("paused", "doubt", 1)
    run = agent.resume(run, Decision("not done", by="Ada"))
    assert (run.status, site.calls) == ("finished", 2)


@pytest.mark.parametrize(("effects", "status"), [(None, "finished"), ("once", "failed")])
def test_a_repeat_in_a_later_plan_is_no_repeat_of_a_payment(effects: Any, status: str) -> None:
    plans = iter([{"steps": [step("1", "act")], "complete": False}, *[[step("2", "act")]] * 9])
    planner, site = RulePlanner(lambda goal: next(plans)), Act(**declared(effects))
    assert PlannerExecutor(planner, ToolExecutor(site.tools)).run("act").status == status


WORLDS: dict[str, Any] = {
    "arithmetic": lambda: arithmetic.TOOLS,
    "clock": lambda: clock.World("09:41").tools,
} | {
    world.__name__.rsplit(".", 1)[-1]: lambda world=world: world.World().tools
    for world in (bisect, deploy, flights, inbox, kitchen, manifest, migration, refactor, research, support, trail)
}


@pytest.mark.parametrize("name", WORLDS)
def test_each_tool_of_a_world_declares_its_effects(name: str) -> None:
    assert [tool.name for tool in WORLDS[name]() if tool.effects == "unknown"] == []


def test_no_world_is_forgotten_here() -> None:
    folder = Path(planexec_lab.worlds.__file__).parent
    worlds = {one.parent.name for one in folder.glob("*/world.py")} | {"arithmetic"}
    assert worlds - WORLDS.keys() == {"strangers"}  # its tools come from a server that nobody trusts
