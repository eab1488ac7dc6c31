"""Approval: nothing runs without it, it belongs to one plan, a run pauses and goes on, and no loop is endless."""

from __future__ import annotations

from typing import Any

import pytest

from planexec_lite import (
    ApproveAll,
    Board,
    Decision,
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.events import Paused, PlanStarted, Reviewed, StepStarted


class World:
    """A place where things are deleted, and remembered."""

    def __init__(self, fails: int = 0) -> None:
        self.deleted: list[str] = []
        self.fails = fails

    def delete(self, what: str) -> str:
        """Delete something."""
        if self.fails:
            self.fails -= 1
            raise OSError("locked")
        self.deleted.append(what)
        return what

    @property
    def executor(self) -> ToolExecutor:
        return ToolExecutor(Toolbox([Tool(self.delete, effects="none")]))


def step(id: str, what: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": "delete", "params": {"what": what}, **more}


class Answers:
    """A planner that gives its answers in turn, the last one again and again, and keeps what it was told."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked, self.told = answers, 0, list[str]()

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        self.asked += 1
        self.told.append(" ".join(map(str, board.problems)))
        return Plan.parse(self.answers[min(self.asked, len(self.answers)) - 1])


def agent(world: World, planner: Any, reviewer: Any = None, **policy: Any) -> PlannerExecutor:
    return PlannerExecutor(planner, world.executor, reviewer, workers=Simulated(), policy=Policy(**policy))


TWO = [step("1", "cache"), step("2", "logs", depends_on=["1"])]


def test_approve_all_approves_and_says_who() -> None:
    world = World()
    run = agent(world, RulePlanner(lambda goal: TWO), ApproveAll()).run("clean")
    assert (run.status, world.deleted) == ("finished", ["cache", "logs"])
    reviews = [event for event in run.events if isinstance(event, Reviewed)]
    assert [(r.verdict, r.by, r.step, r.plan_hash) for r in reviews] == [("approve", "ApproveAll", None, run.plan.hash)]


def test_nothing_runs_before_the_plan_is_approved() -> None:
    world = World()
    run = agent(world, RulePlanner(lambda goal: TWO), ScriptedReviewer([])).run("clean")
    assert (run.status, run.reason, run.answer) == ("paused", "waits for approval", None)
    assert world.deleted == []
    assert not any(isinstance(event, StepStarted) for event in run.events)
    assert run.plan.to_json() == Plan.parse({"goal": "clean", "steps": TWO}).to_json()


@pytest.mark.parametrize("workers", [Simulated(), Inline()])
def test_a_paused_run_goes_on_with_a_decision_and_is_itself_left_alone(workers: Any) -> None:
    world = World()
    one = PlannerExecutor(RulePlanner(lambda goal: TWO), world.executor, ScriptedReviewer([]), workers=workers)
    paused = one.run("clean")
    before = list(paused.events)
    done = one.resume(paused, Decision("approve", by="Ada"))
    assert (done.status, world.deleted) == ("finished", ["cache", "logs"])
    assert paused.events == before
    assert paused.status == "paused"
    assert Board.of(done.events) == done.board
    assert [event.at for event in done.events] == sorted(event.at for event in done.events)
    assert "Ada" in [event.by for event in done.events if isinstance(event, Reviewed)]


def test_a_rejected_plan_never_runs() -> None:
    world = World()
    run = agent(world, RulePlanner(lambda goal: TWO), ScriptedReviewer([Decision("reject", "Ada", "too risky")])).run(
        "clean"
    )
    assert (run.status, world.deleted) == ("stopped", [])
    assert "Ada rejected the plan: too risky" in run.reason


def test_a_change_goes_to_the_planner_in_words_and_needs_a_new_approval() -> None:
    world, planner = World(), Answers([step("1", "production")], [step("1", "staging")])
    change = Decision("change", "Ada", "leave production alone")
    one = agent(world, planner, ScriptedReviewer([change]))
    paused = one.run("clean")
    assert (paused.status, world.deleted, planner.asked) == ("paused", [], 2)
    assert "leave production alone" in planner.told[1]
    done = one.resume(paused, Decision("approve"))
    assert (done.status, world.deleted) == ("finished", ["staging"])


def test_an_approval_belongs_to_one_plan() -> None:
    world = World()
    planner = Answers({"steps": [step("1", "cache")], "complete": False}, {"steps": [step("2", "production")]})
    paused = agent(world, planner, ScriptedReviewer(["approve"])).run("clean")
    assert (paused.status, world.deleted) == ("paused", ["cache"])
    first, second = (event for event in paused.events if isinstance(event, Paused))
    assert first.reason == second.reason == "approval"
    assert paused.board.proposal is not None
    assert paused.board.proposal.hash not in paused.board[Approvals].approved


def test_a_gate_asks_right_before_its_step_and_only_then() -> None:
    world = World()
    plan = Plan.parse([step("1", "cache"), step("2", "production", depends_on=["1"], gate=True), step("3", "logs")])
    paused = execute(plan, world.executor, workers=Simulated())
    assert (paused.status, paused.reason) == ("paused", "waits for gate of step 2")
    assert world.deleted == ["cache", "logs"]
    done = PlannerExecutor(None, world.executor, workers=Simulated()).resume(paused, Decision("approve"))
    assert (done.status, world.deleted) == ("finished", ["cache", "logs", "production"])


def test_a_rejected_gate_keeps_its_step_from_running() -> None:
    world = World()
    run = agent(
        world, RulePlanner(lambda goal: [step("1", "cache", gate=True)]), ScriptedReviewer(["approve", "reject"])
    ).run("x")
    assert (run.status, world.deleted) == ("stopped", [])


def test_an_opened_gate_does_not_open_for_another_step_of_the_same_name() -> None:
    world = World(fails=1)
    planner = Answers(
        {"steps": [step("1", "staging", gate=True)], "complete": False},
        {"steps": [step("1", "production", gate=True)], "complete": True},
    )
    one = agent(world, planner)
    paused = one.run("clean")
    assert paused.reason == "waits for gate of step 1"
    again = one.resume(paused, Decision("approve"))
    assert world.deleted == []
    assert (again.status, again.reason) == ("paused", "waits for gate of step 1")


def test_a_change_without_a_planner_to_make_it_is_rejected() -> None:
    world = World()
    paused = execute(Plan.parse([step("1", "production", gate=True)]), world.executor)
    with pytest.raises(ValueError, match="planner"):
        PlannerExecutor(None, world.executor).resume(paused, Decision("change", comment="not there"))
    assert world.deleted == []


def test_a_reviewer_who_always_wants_a_change_does_not_keep_the_run_going() -> None:
    class Never:
        reviews = 0

        def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision:
            self.reviews += 1
            if self.reviews > 200:
                raise AssertionError("asked for 200 reviews: no bound")
            return Decision("change", comment="again")

    planner = Answers([step("1", "cache")])
    run = agent(World(), planner, Never()).run("clean")
    assert run.status in ("failed", "stopped", "paused")
    assert planner.asked < 200


def test_only_a_paused_run_can_be_resumed() -> None:
    world = World()
    one = agent(world, RulePlanner(lambda goal: TWO))
    with pytest.raises(ValueError, match="finished"):
        one.resume(one.run("clean"), Decision("approve"))
    with pytest.raises(ValueError, match="does not wait"):
        one.resume(Run(), Decision("approve"))


def test_without_a_planner_there_is_nothing_to_run() -> None:
    with pytest.raises(ValueError, match="planner"):
        PlannerExecutor(None, World().executor).run("clean")


def test_a_plan_to_be_continued_without_a_planner_stops_with_a_reason() -> None:
    world = World()
    run = execute(Plan.parse({"steps": [step("1", "cache")], "complete": False}), world.executor)
    assert (run.status, world.deleted) == ("stopped", ["cache"])
    assert "no planner" in run.reason


def test_a_failed_step_of_a_plan_to_be_continued_is_shown_to_the_planner() -> None:
    world = World(fails=1)
    told = []

    class Watching:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            told.append(dict(board.errors))
            return Plan.parse(
                {"steps": [step("1b", "copy of cache") if told[-1] else step("1", "cache")], "complete": bool(told[-1])}
            )

    run = agent(world, Watching()).run("clean")
    assert told == [{}, {"1": "OSError: locked"}]
    assert (run.status, run.board.state) == ("finished", {"1": "superseded", "1b": "done"})
    assert sum(isinstance(event, PlanStarted) for event in run.events) == 2
