"""Replanning: done steps stay done, a failure is answered or the run fails, and each bound is named."""

from collections.abc import Callable
from typing import Any

import pytest

from planexec_lite import NextStepPlanner, Plan, Tool, Toolbox, Verdict
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Judging
from tests.capabilities.scaffold import World
from tests.core.agents import agent_for
from tests.core.shapes import step


def work(id: str, n: int, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "work", *after, n=n, **more)


class Planner:
    """Returns `first`, then the plans of `later`, and counts the plans."""

    def __init__(self, first: list[dict[str, Any]], later: Callable[[int], Any]) -> None:
        self.first, self.later, self.asked = first, later, 0

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        self.asked += 1
        return Plan.parse(self.first if self.asked == 1 else self.later(self.asked - 1))


FIRST = [work("1", 1), work("2", 2, "1"), work("3", 3, "2")]
LATER: dict[str, tuple[Callable[[int], Any], list[int], str]] = {
    "a done step word for word": (lambda n: [work("1", 1), work("2b", 20, "1")], [1, 2, 20], ""),
    "other work under a done id": (lambda n: [work("1", 100)], [1, 2], "done_already"),
    "the same under other ids": (lambda n: [work(f"{n}x", 2, "1"), work(f"{n}y", 3, f"{n}x")], [1, 2], "tried_before"),
    "two plans in turn": (
        lambda n: [work(f"{n}x", [2, 5][n % 2], "1"), work(f"{n}y", 3, f"{n}x")],
        [1, 2, 5],
        "tried_before",
    ),
}


@pytest.mark.parametrize("name", LATER)
def test_done_steps_are_kept_and_failed_ones_are_not_repeated(name: str) -> None:
    later, done, reason = LATER[name]
    world = World(2, 5)
    one = agent_for(world.tools, Planner(FIRST, later), replan="failure").run("work")
    assert (one.status, world.done) == ("failed" if reason else "finished", done)
    assert reason in one.reason
    if reason:
        assert "max_repairs=2" in one.reason


@pytest.mark.parametrize("failure", ["skip", "stop"])
@pytest.mark.parametrize("bound", [0, 1, 3])
def test_endless_replans_are_stopped_by_a_bound_that_is_named(failure: Any, bound: int) -> None:
    planner = Planner(FIRST, lambda n: [work(f"2-{n}", 20 + n, "1")])
    tools, bounds = World(*range(2, 100)).tools, {"failure": failure, "max_replans": bound}
    one = agent_for(tools, planner, replan="failure", **bounds).run("work")
    assert (one.status, planner.asked) == ("failed", 1 + bound)
    assert f"max_replans={bound}" in one.reason


@pytest.mark.parametrize(("replan", "done"), [("never", [1, 3, 4, 5]), ("stall", [1, 3, 4, 5, 10])])
def test_stall_replans_when_the_rest_is_done_and_never_does_not(replan: str, done: list[int]) -> None:
    first = [work("1", 1), work("2", 2, "1"), work("3", 3), work("4", 4, "3"), work("5", 5, "4")]
    world = World(1)
    agent_for(world.tools, first, [work("1b", 10)], replan=replan).run("work")
    assert world.done == done


def test_a_step_whose_result_is_rejected_stays_done_and_a_new_one_fixes_it() -> None:
    world = World()
    first = [work("5", 5), work("6", 6, "5", success_criteria="fixed"), work("7", 7, "6")]
    later = [work("5b", 55, "5"), work("6", 6, "5b", success_criteria="fixed"), work("7", 7, "6")]
    rejected = Verdict("replan", "not fixed", rejects="5")
    one = agent_for(world.tools, first, later, evaluator=lambda *_: 55 in world.done or rejected, replan="failure").run(
        "fix"
    )
    assert (one.status, world.done) == ("finished", [5, 6, 55, 6, 7])
    assert one.board[Judging].rejected == {"5": "not fixed"}
    assert one.board.state["5"] == "done"


def test_news_beyond_the_bound_of_replans_stops_the_run() -> None:
    agent = agent_for(World().tools, [work("1", 1, gate=True)], max_replans=0)
    run = agent.tell(agent.run("work"), "STOP")
    assert (run.status, "max_replans" in run.reason) == ("stopped", True)


SMOKE, NOTIFY = step("smoke", "check"), step("notify", "note", "smoke")
ANSWERS: dict[str, tuple[Any, str]] = {
    "a step that waited already": ([step("notify", "note")], "failed"),
    "the same check again": ([step("look", "look"), SMOKE], "failed"),  # it fails again
    "a repair": ([step("repair", "repair"), step("check", "check", "repair")], "finished"),
    "given up by name": ({"steps": [step("notify", "note")], "supersedes": ["smoke"]}, "finished"),
    "given up by name alone": ({"steps": [], "supersedes": "smoke"}, "finished"),
    "another one is named": ({"steps": [step("notify", "note")], "supersedes": ["build"]}, "failed"),
}


def release() -> Toolbox:
    """A release whose check fails until it is repaired."""
    repaired: list[bool] = []

    def check() -> str:
        if not repaired:
            raise RuntimeError("it does not answer")
        return "fine"

    def repair() -> str:
        repaired.append(True)
        return "repaired"

    others = [Tool(lambda: "done", name=name, effects="none") for name in ("build", "look", "note")]
    return Toolbox([*others, Tool(check, effects="none"), Tool(repair, effects="idempotent")])


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_failure_that_no_later_plan_answers_fails_the_run(answer: str) -> None:
    then, status = ANSWERS[answer]
    first = [step("build", "build"), SMOKE | {"depends_on": ["build"]}, NOTIFY]
    run = agent_for(release(), first, then, replan="failure", max_replans=1).run("go")
    assert run.status == status


@pytest.mark.parametrize(("named", "status"), [(["smoke", "check"], "finished"), (["check"], "failed")])
def test_each_failure_of_several_plans_has_to_be_answered(named: list[str], status: str) -> None:
    again = [step("check", "check") | {"description": "once more"}]
    last = {"steps": [], "supersedes": named}
    first = [step("build", "build"), SMOKE]
    run = agent_for(release(), first, again, last, replan="failure", max_repairs=0).run("go")
    assert (run.status, len(run.board.failed)) == (status, 0 if status == "finished" else 1)


def test_the_planner_is_asked_about_a_failure_and_can_give_it_up_by_name() -> None:
    asked: list[str] = []
    steps = iter([step("build", "build"), SMOKE])

    def rule(goal: str, board: Board) -> Any:
        asked.extend(one.code for one in board.problems)
        return Plan(supersedes=("smoke",)) if board.problems else next(steps, None)

    run = agent_for(release(), NextStepPlanner(rule)).run("go")
    assert (run.status, asked) == ("finished", ["unanswered_failure"])
