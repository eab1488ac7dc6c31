"""One way on: a run that was left, by a pause, an interrupt or an error, goes on; what was in flight has a meaning."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lite import (
    AskPerson,
    Board,
    Decision,
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RuleEvaluator,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite import events as e
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.capabilities.replanning import Replanning
from planexec_lite.events import from_dict, to_dict
from tests.core.shapes import Portions


class World:
    """What was done; the first call of `trip` is interrupted, before or after its effect."""

    def __init__(self, trip: str = "", problem: Any = KeyboardInterrupt) -> None:
        self.did: list[str] = []
        self.trip, self.problem = trip, problem

    def do(self, what: str) -> str:
        self.did.append(what)
        if what == self.trip:
            self.trip = ""
            raise self.problem
        return what

    @property
    def executor(self) -> ToolExecutor:
        def look(what: str) -> str:
            """Look."""
            return self.do(what)

        def pay(what: str) -> str:
            """Pay."""
            return self.do(what)

        return ToolExecutor(Toolbox([Tool(look, effects="none"), Tool(pay, effects="once")]))


def plan(*steps: dict[str, Any], **more: Any) -> Plan:
    return Plan.parse({"goal": "go", "steps": [*steps], **more})


def look(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": "look", "params": {"what": id}, "depends_on": [*after], **more}


def pay(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return {**look(id, *after, **more), "tool": "pay"}


def left(call: Callable[[], Any], problem: type[BaseException] = KeyboardInterrupt) -> Run:
    """The run as an interrupt or an error left it."""
    with pytest.raises(problem) as caught:
        call()
    run: Run = caught.value.run  # type: ignore[attr-defined]
    assert run.status == "running"
    return run


def check(run: Run) -> Run:
    assert Board.of(run.events) == run.board
    assert Run([from_dict(to_dict(event)) for event in run.events]).board == run.board
    assert not run.board.in_flight
    return run


def interrupted(run: Run) -> list[str | None]:
    cut_off = [one for one in run.events if isinstance(one, e.Requeued | e.StepInDoubt)]
    return [one.step for one in cut_off if getattr(one, "reason", "") != "cancelled"]


@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
def test_a_step_that_was_interrupted_is_tried_again_and_what_is_done_is_kept(workers: Any) -> None:
    world = World("2")
    one = PlannerExecutor(Portions(plan(look("1"), look("2", "1"), pay("3", "2"))), world.executor, workers=workers)
    run = left(lambda: one.run("go"))
    before = list(run.events)
    again = check(one.resume(run))
    assert (again.status, world.did) == ("finished", ["1", "2", "2", "3"])
    assert interrupted(again) == ["2"]
    assert run.events == before
    assert [event.attempt for event in again.events if isinstance(event, e.StepStarted)] == [1, 1, 1, 1]


@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
def test_a_payment_that_was_interrupted_is_in_doubt_and_is_not_made_again(workers: Any) -> None:
    world = World("2")
    planner = Portions(plan(look("1"), pay("2", "1"), look("3", "2")))
    one = PlannerExecutor(planner, world.executor, workers=workers)
    run = check(one.resume(left(lambda: one.run("go"))))
    assert (run.status, world.did, list(run.board[Doubt].attempts)) == ("paused", ["1", "2"], ["2"])
    assert (run.reason, run.board.state["2"]) == ("waits to be told whether step 2 was done", "in doubt")
    assert check(one.resume(run)).status == "paused"


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError("no ink")], ids=["interrupt", "error"])
@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
def test_a_picture_that_breaks_leaves_no_doubt_about_what_has_not_begun(problem: Any, workers: Any) -> None:
    for at in range(1, 7):
        seen: list[int] = []

        def watch(run: Run, at: int = at, seen: list[int] = seen) -> None:
            seen.append(1)
            if len(seen) == at:
                raise problem

        world = World()
        one = PlannerExecutor(
            Portions(plan(pay("1"), pay("2", "1", success_criteria="fine"), pay("3", "2"))),
            world.executor,
            evaluator=RuleEvaluator(lambda step, result: True),
            workers=workers,
            watch=watch,
        )
        kind = problem if isinstance(problem, type) else type(problem)
        try:
            run = one.run("go")
        except kind as caught:
            run = check(one.resume(caught.run))  # type: ignore[union-attr]
        assert (run.status, world.did, len(seen) >= at) == ("finished", ["1", "2", "3"], True)


def test_on_threads_what_was_in_flight_is_tried_again() -> None:
    world, begun, go_on = World(), threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(20)
        return world.do("slow")

    tools = Toolbox([Tool(slow, effects="none"), *world.executor.tools])

    def watch(run: Run) -> None:
        if "2" in run.board.results and begun.wait(20) and not go_on.is_set():
            go_on.set()
            raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as threads:
        one = PlannerExecutor(
            Portions(plan({"id": "1", "tool": "slow"}, look("2"), pay("3", "1"))),
            ToolExecutor(tools), workers=Pool(threads), watch=watch,
        )  # fmt: skip
        run = check(one.resume(left(lambda: one.run("go"))))
    assert (run.status, interrupted(run), world.did.count("3")) == ("finished", ["1"], 1)


@pytest.mark.parametrize("replan", [False, True], ids=["the first plan", "a replan"])
def test_a_planner_that_was_interrupted_is_asked_again_and_it_counts_once(replan: bool) -> None:
    class Stops(Portions):
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            if not self.stopped and board.steps.keys() == ({"1"} if replan else set()):
                self.stopped = True
                raise KeyboardInterrupt
            return super().plan(goal, board, tools)

        stopped = False

    world = World("1", OSError("locked"))
    one = PlannerExecutor(
        Stops(plan(look("1")), plan(look("2"))), world.executor,
        workers=Simulated(), policy=Policy(replan="failure", max_replans=1, failure="stop"),
    )  # fmt: skip
    run = check(one.resume(left(lambda: one.run("go"))))
    assert (run.status, world.did, run.board[Replanning].replans) == ("finished", ["1", "2"], 1)
    assert interrupted(run) == [None]


def test_a_planner_that_was_interrupted_while_it_streamed_is_asked_again() -> None:
    class Streams:
        stream, stops = True, 1

        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            raise AssertionError

        def parts(self, goal: str, board: Board, tools: Toolbox) -> Iterator[Step | Plan]:
            whole = plan(*([] if "1" in board.results else [look("1")]), look("2", "1"))
            yield from whole.steps
            if self.stops:
                self.stops -= 1
                raise KeyboardInterrupt
            yield whole

    world = World()
    one = PlannerExecutor(Streams(), world.executor, workers=Simulated())
    run = check(one.resume(left(lambda: one.run("go"))))
    assert (run.status, world.did) == ("finished", ["1", "2"])


def test_a_judge_that_was_interrupted_judges_the_same_result() -> None:
    stops = [True]

    def rule(step: Step, result: Any) -> bool:
        if stops.pop() if stops else False:
            raise KeyboardInterrupt
        return True

    world = World()
    one = PlannerExecutor(
        Portions(plan(pay("1", success_criteria="paid"))), world.executor, evaluator=RuleEvaluator(rule)
    )
    run = check(one.resume(left(lambda: one.run("go"))))
    assert (run.status, world.did, interrupted(run)) == ("finished", ["1"], ["1"])
    assert not run.board[Judging].unverified


def test_a_reviewer_that_fails_is_asked_again() -> None:
    class Fails:
        asked = 0

        def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision:
            self.asked += 1
            if self.asked == 1:
                raise RuntimeError("out of office")
            return Decision("approve")

    world = World()
    one = PlannerExecutor(Portions(plan(look("1"))), world.executor, Fails())
    with pytest.raises(RuntimeError) as caught:
        one.run("go")
    assert one.resume(caught.value.run).status == "finished"  # type: ignore[attr-defined]
    assert world.did == ["1"]


def test_without_a_decision_a_paused_run_asks_its_reviewer_again() -> None:
    one = PlannerExecutor(Portions(plan(look("1"))), World().executor, AskPerson())
    run = one.resume(one.run("go"))
    assert (run.status, run.reason) == ("paused", "waits for approval")
    assert one.resume(run, Decision("approve")).status == "finished"


def test_a_plan_that_was_given_goes_on_after_an_interrupt() -> None:
    world = World("2")
    run = left(lambda: execute(plan(look("1"), look("2", "1"), look("3", "2")), world.executor))
    again = check(PlannerExecutor(None, world.executor).resume(run))
    assert (again.status, world.did) == ("finished", ["1", "2", "2", "3"])


def test_a_run_that_has_ended_has_nothing_left_to_do() -> None:
    world = World()
    one = PlannerExecutor(Portions(plan(look("1"))), world.executor)
    run = one.run("go")
    assert (one.resume(run).events, world.did) == (run.events, ["1"])
    with pytest.raises(ValueError, match="does not wait for a decision"):
        one.resume(run, Decision("approve"))
    with pytest.raises(ValueError, match="has ended"):
        one.tell(run, "x")


def test_a_run_that_does_not_wait_takes_no_decision() -> None:
    world = World("2")
    one = PlannerExecutor(Portions(plan(look("1"), look("2", "1"))), world.executor)
    run = left(lambda: one.run("go"))
    with pytest.raises(ValueError, match="does not wait for a decision"):
        one.resume(run, Decision("approve"))


def test_news_may_come_while_steps_are_in_flight() -> None:
    world = World("2")
    planner = Portions(plan(look("1"), look("2", "1"), pay("3", "2")), plan(look("2", "1"), look("4", "2")))
    one = PlannerExecutor(planner, world.executor)
    run = check(one.tell(left(lambda: one.run("go")), "nothing is to be paid"))
    assert (run.status, world.did, run.board[News].texts) == (
        "finished",
        ["1", "2", "2", "4"],
        ["nothing is to be paid"],
    )
    assert run.board[Replanning].replans == 1


def test_a_tool_that_is_interrupted_at_every_moment_is_done_once_or_in_doubt() -> None:
    steps = plan(look("1"), pay("2", "1"), look("3"), pay("4", "2", "3"), look("5", "4"))
    for trip in "12345":
        for workers in (Inline(), Simulated(), Simulated(1)):
            world = World(trip)
            one = PlannerExecutor(Portions(steps), world.executor, workers=workers)
            run = check(one.resume(left(lambda one=one: one.run("go"))))  # type: ignore[misc]
            assert run.status == ("paused" if run.board[Doubt].attempts else "finished")
            for paid in "24":
                assert world.did.count(paid) <= 1
                assert world.did.count(paid) == (paid in run.results or paid in run.board[Doubt].attempts)


@pytest.mark.parametrize("goal", [None, 5, object(), b"go", "\ud800"], ids=lambda goal: type(goal).__name__)
def test_a_goal_that_cannot_be_written_is_rejected_before_anything_starts(goal: Any) -> None:
    planner = Portions(plan(look("1")))
    one = PlannerExecutor(planner, World().executor, AskPerson())
    with pytest.raises(ValueError, match="the goal"):
        one.run(goal)
    assert planner.asked == 0
    with pytest.raises(ValueError, match="news"):
        one.tell(one.run("go"), goal)
