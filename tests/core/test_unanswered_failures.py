"""A failed step is not forgotten: a later plan answers it by a new step or by name, or the run has failed."""

from __future__ import annotations

from typing import Any

import pytest

from planexec_lab.worlds import deploy
from planexec_lite import (
    NextStepPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite.assembly import Board
from tests.core.shapes import step

SMOKE = step("smoke", "check")
NOTIFY = step("notify", "note", "smoke")
ANSWERS: dict[str, tuple[Any, str]] = {
    "nothing": ({"steps": [], "complete": True}, "failed"),
    "what waited already": ([step("notify", "note")], "failed"),
    "the same check again": ([step("look", "look"), SMOKE], "failed"),  # and it fails again
    "another check": ([step("look", "look"), step("again", "look", "look")], "finished"),
    "a repair": ([step("repair", "repair"), step("check", "check", "repair")], "finished"),
    "given up by name": ({"steps": [step("notify", "note")], "supersedes": ["smoke"]}, "finished"),
    "given up by name alone": ({"steps": [], "supersedes": "smoke"}, "finished"),
    "another one is named": ({"steps": [step("notify", "note")], "supersedes": ["build"]}, "failed"),
}


class Release:
    """A release whose check fails until it is repaired."""

    def __init__(self) -> None:
        self.broken = True
        free = (self.build, self.look, self.note, self.check)
        self.tools = Toolbox([*(Tool(one, effects="none") for one in free), Tool(self.repair, effects="idempotent")])

    def build(self) -> str:
        """Build."""
        return "built"

    def look(self) -> str:
        """Look."""
        return "seen"

    def note(self) -> str:
        """Note."""
        return "noted"

    def check(self) -> str:
        """Check."""
        if self.broken:
            raise RuntimeError("it does not answer")
        return "fine"

    def repair(self) -> str:
        """Repair."""
        self.broken = False
        return "repaired"


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_failure_that_no_later_plan_answers_fails_the_run(answer: str) -> None:
    then, status = ANSWERS[answer]
    plans = iter(
        [Plan.parse([step("build", "build"), SMOKE | {"depends_on": ["build"]}, NOTIFY]), *[Plan.parse(then)] * 9]
    )
    policy = Policy(replan="failure", max_replans=1)
    run = PlannerExecutor(RulePlanner(lambda goal: next(plans)), ToolExecutor(Release().tools), policy=policy).run("go")
    assert run.status == status


@pytest.mark.parametrize("replan", ["failure", "step", "stall"])
def test_it_is_so_for_a_planner_that_sees_one_step_ahead(replan: Any) -> None:
    def rule(goal: str, board: Board) -> Any:
        return SMOKE if not board.steps else None

    agent = PlannerExecutor(NextStepPlanner(rule), ToolExecutor(Release().tools), policy=Policy(replan=replan))
    run = agent.run("go")
    assert (run.status, "smoke" in run.reason) == ("failed", True)


def test_the_planner_is_asked_and_may_name_what_it_gives_up() -> None:
    asked: list[str] = []
    steps = iter([step("build", "build"), SMOKE])

    def rule(goal: str, board: Board) -> Any:
        asked.extend(one.code for one in board.problems)
        return Plan(supersedes=("smoke",)) if board.problems else next(steps, None)

    run = PlannerExecutor(NextStepPlanner(rule), ToolExecutor(Release().tools)).run("go")
    assert (run.status, asked) == ("finished", ["unanswered_failure"])


def test_a_failed_run_is_rolled_back_however_complete_the_plan_is_called() -> None:
    world = deploy.World(currency=None)  # the smoke test of production fails
    plans = iter([Plan.parse(deploy.PLAN), *[Plan.parse({"goal": "", "steps": [], "complete": True})] * 9])
    policy = Policy(replan="failure", rollback="failed")
    agent = PlannerExecutor(
        RulePlanner(lambda goal: next(plans)), ToolExecutor(world.tools), workers=Simulated(4), policy=policy
    )
    run = agent.run(deploy.GOAL)
    assert (run.status, world.deployed("production")) == ("rolled back", "v2.3.0")
    assert "no new step" in run.reason


def test_a_repair_that_is_never_done_answers_nothing() -> None:
    first = [step("build", "build"), SMOKE | {"depends_on": ["build"]}]
    repair = [step("repair", "repair", gate=True)]
    plans = iter([first, repair, *[{"steps": [], "complete": True}] * 9])
    planner = RulePlanner(lambda goal: next(plans))
    agent = PlannerExecutor(planner, ToolExecutor(Release().tools), policy=Policy(replan="failure"))
    run = agent.tell(agent.run("go"), "leave it")
    assert (run.status, "smoke" in run.reason) == ("failed", True)
