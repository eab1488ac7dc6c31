"""Replanning: done steps stay done, a failure is answered or the run fails, and each bound is named."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    NextStepPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
)
from planexec_lite.assembly import Board, decide
from planexec_lite.capabilities.judging import Judging
from planexec_lite.events import PlanStarted, StepDone, StepStarted
from planexec_lite.roles.telling import record
from tests.core.agents import agent_for


class World:
    """Counts each piece of work, and fails at the numbers in `broken`."""

    def __init__(self, *broken: int) -> None:
        self.broken = set(broken)
        self.done: list[int] = []
        self.tools = Toolbox([Tool(self.work, latency=1.0, effects="none")])

    def work(self, n: int) -> int:
        """Do piece n."""
        self.done.append(n)
        if n in self.broken:
            raise RuntimeError(f"piece {n} is broken")
        return n


def step(id: str, n: int, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": "work", "params": {"n": n}, "depends_on": list(after), **more}


class Planner:
    """Returns `first`, then the plans of `later`; keeps the boards as text."""

    def __init__(self, first: list[dict[str, Any]], later: Callable[[int, Board], Any]) -> None:
        self.first, self.later, self.shown = first, later, []  # type: ignore[var-annotated]

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        self.shown.append(record(board))
        return Plan.parse(self.first if len(self.shown) == 1 else self.later(len(self.shown) - 1, board))


FIRST = [step("1", 1), step("2", 2, "1"), step("3", 3, "2")]


def run(world: World, later: Callable[[int, Board], Any], first: Any = FIRST, slots: int | None = None, **policy: Any):  # type: ignore[no-untyped-def]
    planner = Planner(first, later)
    agent = PlannerExecutor(planner, ToolExecutor(world.tools), workers=Simulated(slots), policy=Policy(**policy))
    return agent.run("work"), planner


LATER: dict[str, tuple[Callable[[int, Board], Any], dict[str, Any], list[int], str]] = {
    "a done step word for word": (lambda n, board: [step("1", 1), step("2b", 20, "1")], {}, [1, 2, 20], ""),
    "other work under a done id": (lambda n, board: [step("1", 100)], {}, [1, 2], "done_already"),
    "the same under other ids": (
        lambda n, board: [step(f"{n}x", 2, "1"), step(f"{n}y", 3, f"{n}x")],
        {},
        [1, 2],
        "tried_before",
    ),
    "two plans in turn": (
        lambda n, board: [step(f"{n}x", [2, 5][n % 2], "1"), step(f"{n}y", 3, f"{n}x")],
        {},
        [1, 2, 5],
        "tried_before",
    ),
}


@pytest.mark.parametrize("name", LATER)
def test_what_is_done_is_kept_and_what_was_tried_is_rejected(name: str) -> None:
    later, policy, done, reason = LATER[name]
    world = World(2, 5)
    one, _ = run(world, later, **{"replan": "failure", **policy})
    assert (one.status, world.done) == ("failed" if reason else "finished", done)
    assert reason in one.reason
    if reason:
        assert "max_repairs=2" in one.reason


@pytest.mark.parametrize("failure", ["skip", "stop"])
@pytest.mark.parametrize("bound", [0, 1, 3])
def test_a_replan_that_never_ends_is_stopped_by_a_bound_that_names_itself(failure: str, bound: int) -> None:
    world = World(*range(2, 100))
    later = lambda n, board: [step(f"2-{n}", 20 + n, "1")]  # noqa: E731
    one, planner = run(world, later, replan="failure", failure=failure, max_replans=bound)
    assert (one.status, len(planner.shown)) == ("failed", 1 + bound)
    assert f"max_replans={bound}" in one.reason


def test_never_leaves_the_planner_alone_and_stall_waits_for_the_rest() -> None:
    first = [step("1", 1), step("2", 2, "1"), step("3", 3), step("4", 4, "3"), step("5", 5, "4")]
    later = lambda n, board: [step("1b", 10)]  # noqa: E731
    never, planner = run(World(1), later, first)
    assert (never.status, len(planner.shown)) == ("failed", 1)
    world = World(1)
    stalled, planner = run(world, later, first, replan="stall")
    assert (stalled.status, world.done) == ("finished", [1, 3, 4, 5, 10])


def test_a_step_whose_result_is_rejected_stays_done_and_a_new_one_mends_it() -> None:
    world = World()
    first = [step("5", 5), step("6", 6, "5", success_criteria="mended"), step("7", 7, "6")]
    later = [step("5b", 55, "5"), step("6", 6, "5b", success_criteria="mended"), step("7", 7, "6")]
    judge = RuleEvaluator(
        lambda step, result: Verdict("replan", "not mended", rejects="5") if 55 not in world.done else True
    )
    one = agent_for(world.tools, first, later, evaluator=judge, replan="failure").run("mend")
    assert (one.status, world.done) == ("finished", [5, 6, 55, 6, 7])
    assert one.board[Judging].rejected == {"5": "not mended"}
    assert one.board.state["5"] == "done"


@given(st.data())
def test_any_replanner_ends_and_nothing_done_runs_again(data: st.DataObject) -> None:
    world = World(*data.draw(st.sets(st.integers(0, 30), max_size=20)))
    numbers = st.integers(0, 30)

    def later(n: int, board: Board) -> list[dict[str, Any]]:
        new = [step(f"{n}-{place}", data.draw(numbers)) for place in range(data.draw(st.integers(1, 3)))]
        return [*new, step(f"{n}-last", data.draw(numbers), new[0]["id"])]

    first = [step("a", data.draw(numbers)), step("b", data.draw(numbers), "a")]
    trigger = data.draw(st.sampled_from(["never", "failure", "step", "stall"]))
    one, planner = run(world, later, first, data.draw(st.sampled_from([1, 2, None])), replan=trigger, max_rounds=5)
    assert one.status in ("finished", "failed", "stopped")
    assert len(planner.shown) <= 1 + 3 + 5 + 2
    done = [event.step for event in one.events if isinstance(event, StepDone)]
    assert len(done) == len(set(done))
    for place, event in enumerate(one.events):
        if isinstance(event, StepStarted | PlanStarted):
            assert decide(Board.of(one.events[:place]), Policy(replan=trigger, max_rounds=5)) == event


def test_a_stall_can_not_come_where_a_failure_stops_the_run() -> None:
    with pytest.raises(ValueError, match="stall"):
        Policy(replan="stall", failure="stop")


def call(id: str, tool: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "depends_on": [*after], **more}


SMOKE = call("smoke", "check")


NOTIFY = call("notify", "note", "smoke")


ANSWERS: dict[str, tuple[Any, str]] = {
    "what waited already": ([call("notify", "note")], "failed"),
    "the same check again": ([call("look", "look"), SMOKE], "failed"),  # and it fails again
    "a repair": ([call("repair", "repair"), call("check", "check", "repair")], "finished"),
    "given up by name": ({"steps": [call("notify", "note")], "supersedes": ["smoke"]}, "finished"),
    "given up by name alone": ({"steps": [], "supersedes": "smoke"}, "finished"),
    "another one is named": ({"steps": [call("notify", "note")], "supersedes": ["build"]}, "failed"),
}


def release() -> Toolbox:
    """A release whose check fails until it is repaired."""
    repaired: list[bool] = []

    def check() -> str:
        """Check."""
        if not repaired:
            raise RuntimeError("it does not answer")
        return "fine"

    def repair() -> str:
        """Repair."""
        repaired.append(True)
        return "repaired"

    others = [Tool(lambda: "done", name=name, effects="none") for name in ("build", "look", "note")]
    return Toolbox([*others, Tool(check, effects="none"), Tool(repair, effects="idempotent")])


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_failure_that_no_later_plan_answers_fails_the_run(answer: str) -> None:
    then, status = ANSWERS[answer]
    first = [call("build", "build"), SMOKE | {"depends_on": ["build"]}, NOTIFY]
    run = agent_for(release(), first, then, replan="failure", max_replans=1).run("go")
    assert run.status == status


def test_the_planner_is_asked_and_may_name_what_it_gives_up() -> None:
    asked: list[str] = []
    steps = iter([call("build", "build"), SMOKE])

    def rule(goal: str, board: Board) -> Any:
        asked.extend(one.code for one in board.problems)
        return Plan(supersedes=("smoke",)) if board.problems else next(steps, None)

    run = PlannerExecutor(NextStepPlanner(rule), ToolExecutor(release())).run("go")
    assert (run.status, asked) == ("finished", ["unanswered_failure"])
