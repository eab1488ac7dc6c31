"""A tool without declared effects has unknown effects: the kit never repeats it by itself."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import planexec_lab.worlds
from planexec_lite import (
    Decision,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from tests.capabilities.scaffold import carry_out, planned
from tests.core.shapes import step


class Act:
    """A tool that fails `failures` times, and is interrupted `interrupts` times."""

    def __init__(self, effects: Any, failures: int = 0, interrupts: int = 0) -> None:
        self.calls, self.failures, self.interrupts = 0, failures, interrupts
        declared = {"effects": effects} if effects else {}
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


@pytest.mark.parametrize(
    ("effects", "own", "policy", "calls"),
    [(None, 0, 2, 1), (None, 2, 0, 2), ("none", 0, 2, 2), ("idempotent", 0, 2, 2), ("once", 0, 2, 1)],
)
@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=str)
def test_only_a_step_itself_may_ask_for_a_retry_of_what_declares_nothing(
    effects: Any, own: int, policy: int, calls: int, workers: Any
) -> None:
    site = Act(effects, failures=1)
    carry_out([step("1", "act", retries=own)], site.tools, workers, retries=policy)
    assert site.calls == calls


@pytest.mark.parametrize("effects", [None, "none", "idempotent", "once"])
def test_after_a_crash_it_is_in_doubt(effects: Any, tmp_path: Path) -> None:
    site, journal = Act(effects, interrupts=1), Journal(tmp_path / "runs.db")
    executor = ToolExecutor(site.tools)
    with pytest.raises(KeyboardInterrupt):
        execute(Plan.parse([step("1", "act")]), executor, journal=journal)
    agent = PlannerExecutor(None, executor)
    run = agent.resume(journal.load(1))
    if effects in (None, "once"):
        assert (run.status, run.board.paused and run.board.paused.reason, site.calls) == ("paused", "doubt", 1)
        run = agent.resume(run, Decision("not done", by="Ada"))
    assert (run.status, site.calls) == ("finished", 2)


@pytest.mark.parametrize(("effects", "status"), [(None, "finished"), ("once", "failed")])
def test_a_repeat_in_a_later_plan_is_no_repeat_of_a_payment(effects: Any, status: str) -> None:
    plans = {"steps": [step("1", "act")], "complete": False}, [step("2", "act")]
    assert planned(Act(effects).tools, *plans).run("act").status == status


WORLDS = {one.parent.name for one in Path(planexec_lab.worlds.__file__).parent.glob("*/world.py")}


@pytest.mark.parametrize("name", [*sorted(WORLDS - {"strangers"}), "arithmetic"])  # strangers: tools of a server
def test_each_tool_of_a_world_declares_its_effects(name: str) -> None:
    module = import_module(f"planexec_lab.worlds.{name}")
    tools = module.TOOLS if name == "arithmetic" else module.World(*["09:41"] * (name == "clock")).tools
    assert [tool.name for tool in tools if tool.effects == "unknown"] == []
