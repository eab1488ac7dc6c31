"""Deadlines: a run's limit of time, which bounds its steps, its backoff and the runs inside; and an async step hears of its end."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Backoff,
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.events import BackoffEnded, StepStarted
from planexec_lite.meter import charge
from tests.core.shapes import Job, Portions, Workshop, check_fold, check_replay, jobs, plan_of, starts, step
from tests.rounds import rounds


class Shop:
    """Work that takes so many seconds on the clock; `undone` says what was taken back."""

    def __init__(self) -> None:
        self.undone: list[str] = []
        self.tools = Toolbox([Tool(self.work, effects="none"), Tool(self.put_back, effects="none")])

    def work(self, name: str, seconds: float = 1.0, works: bool = True) -> str:
        """Work."""
        charge(seconds)
        if not works:
            raise RuntimeError("no")
        return name

    def put_back(self, name: str) -> None:
        """Take it back."""
        self.undone.append(name)

    def run(self, *steps: dict[str, Any], slots: int | None = None, **settings: Any) -> Run:
        policy = Policy(**settings)
        run = execute(Plan.parse(list(steps)), ToolExecutor(self.tools), workers=Simulated(slots), policy=policy)
        check_fold(run)
        check_replay(run, policy)
        return run


def work(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "work", *after, name=id, **more)


def test_at_the_deadline_nothing_starts_and_what_is_under_way_is_given_up() -> None:
    run = Shop().run(work("1", seconds=4.0), work("2", "1", seconds=4.0), work("3", "2"), deadline=6.0)
    assert (run.status, run.reason) == ("stopped", "the deadline of 6 s has passed")
    assert run.board.state == {"1": "done", "2": "failed", "3": "waiting"}
    assert run.board.errors["2"] == "TimeoutError: still running at the run's deadline of 6 s"
    assert run.board[Doubt].attempts == {"2": 1}
    assert run.makespan == 6.0


def test_what_is_done_in_time_is_finished() -> None:
    run = Shop().run(work("1", seconds=4.0), work("2", "1", seconds=2.0), deadline=6.0)
    assert (run.status, run.makespan) == ("finished", 6.0)


def test_a_step_keeps_its_own_timeout_where_that_is_over_first() -> None:
    run = Shop().run(work("1", seconds=4.0, timeout=3.0), deadline=6.0)
    assert (run.status, run.makespan) == ("failed", 3.0)
    assert run.board.errors["1"] == "TimeoutError: took longer than its timeout of 3 s"


def test_no_step_is_tried_again_after_it() -> None:
    run = Shop().run(work("1", seconds=9.0), retries=5, deadline=6.0)
    assert starts(run) == [("1", 0.0)]
    assert run.status == "stopped"


def test_a_backoff_ends_with_it() -> None:
    run = Shop().run(work("1", works=False), retries=5, backoff=Backoff(4.0, jitter=0.0), deadline=6.0)
    assert starts(run) == [("1", 0.0), ("1", 5.0)]
    run = Shop().run(work("1", works=False), retries=5, backoff=Backoff(9.0, jitter=0.0), deadline=6.0)
    (rest,) = [event for event in run.events if isinstance(event, BackoffEnded)]
    assert (rest.at, rest.seconds, run.status) == (6.0, 5.0, "stopped")


def test_what_was_done_is_taken_back_where_that_is_wanted() -> None:
    shop = Shop()
    undo = {"tool": "put_back", "params": {"name": "1"}}
    run = shop.run(work("1", undo=undo), work("2", "1", seconds=9.0), deadline=6.0, rollback="unfinished")
    assert (run.status, shop.undone) == ("rolled back", ["1"])
    assert run.reason.startswith("the deadline of 6 s has passed; undone: 1")


def test_no_planner_is_asked_again_after_it() -> None:
    class Slow(Portions):
        def plan(self, *given: Any) -> Plan:
            charge(4.0)
            return super().plan(*given)

    planner = Slow([work("1", works=False)], [work("2")])
    agent = PlannerExecutor(
        planner, ToolExecutor(Shop().tools), workers=Simulated(), policy=Policy(replan="failure", deadline=6.0)
    )
    run = agent.run("go")
    # asked at 5 s, within the deadline, it is heard out; what it says comes too late
    assert (planner.asked, run.makespan, run.status) == (2, 9.0, "stopped")
    assert run.board.state == {"1": "superseded", "2": "waiting"}


def test_a_plan_that_comes_too_late_is_not_shown_to_anybody() -> None:
    class Slow(Portions):
        def plan(self, *given: Any) -> Plan:
            charge(9.0)
            return super().plan(*given)

    asked: list[Plan] = []

    class Reviewer:
        def review(self, plan: Plan, *more: Any) -> None:
            asked.append(plan)

    planner, policy = Slow([work("1")]), Policy(deadline=6.0)
    agent = PlannerExecutor(planner, ToolExecutor(Shop().tools), Reviewer(), workers=Simulated(), policy=policy)
    assert agent.run("go").status == "stopped"
    assert not asked


def agents(shop: Shop, inner: list[dict[str, Any]], workers: Any, deadline: float | None = None) -> PlannerExecutor:
    """An agent whose step is a run of an agent whose step is a run."""
    deepest = PlannerExecutor(Portions(inner), ToolExecutor(shop.tools), workers=workers)
    middle = PlannerExecutor(Portions([work("m")]), deepest, workers=workers)
    return PlannerExecutor(
        Portions([work("o"), work("p", "o")]), middle, workers=workers, policy=Policy(deadline=deadline)
    )


def test_it_bounds_runs_inside_runs() -> None:
    inner = [work("1", seconds=4.0), work("2", "1", seconds=4.0), work("3", "2")]
    run = agents(Shop(), inner, Simulated(), 6.0).run("go")
    assert (run.status, run.makespan) == ("stopped", 6.0)
    middle = run.inside("o")
    deepest = middle.inside("m")
    assert (middle.status, deepest.status) == ("stopped", "stopped")
    assert deepest.board.state == {"1": "done", "2": "failed", "3": "waiting"}
    assert deepest.reason == "the deadline of 6 s has passed"


def test_a_later_run_inside_has_what_is_left() -> None:
    run = agents(Shop(), [work("1", seconds=4.0)], Simulated(), 6.0).run("go")
    assert run.board.state == {"o": "done", "p": "failed"}
    assert run.makespan == 6.0
    assert run.inside("p").reason == "the deadline of 2 s has passed"


def test_a_timeout_of_the_step_bounds_the_run_inside() -> None:
    inner = PlannerExecutor(
        Portions([work("1", seconds=4.0), work("2", "1", seconds=4.0)]), ToolExecutor(Shop().tools), workers=Simulated()
    )
    agent = PlannerExecutor(Portions([work("o", timeout=5.0)]), inner, workers=Simulated())
    run = agent.run("go")
    assert (run.inside("o").status, run.makespan) == ("stopped", 5.0)


def test_on_a_real_clock_a_run_inside_stops_too() -> None:
    over = threading.Event()

    def wait(name: str) -> bool:
        """Wait for ever, or until the test is over."""
        return over.wait(0.2)

    tools = ToolExecutor(Toolbox([Tool(wait, name="work", effects="none")]))
    inner = PlannerExecutor(
        Portions([work(str(n), *([str(n - 1)] * (n > 0))) for n in range(50)]), tools, workers=Inline()
    )
    agent = PlannerExecutor(Portions([work("o", timeout=0.5)]), inner, workers=Inline())
    run = agent.run("go")
    inside = run.inside("o")
    assert inside.status == "stopped"
    assert 1 <= len(inside.results) <= 4
    assert run.status == "failed"


def test_what_still_waits_for_a_thread_is_taken_back() -> None:
    over = threading.Event()

    def wait() -> bool:
        """Wait until the test is over."""
        return over.wait(60.0)

    # the first is given up and keeps the only thread, so that the second never begins
    plan = Plan.parse([step("1", "wait", timeout=0.1), step("2", "wait")])
    with ThreadPoolExecutor(1) as threads:
        run = execute(
            plan,
            ToolExecutor(Toolbox([Tool(wait, effects="none")])),
            workers=Pool(threads),
            policy=Policy(deadline=0.4),
        )
        over.set()
    check_fold(run)
    assert (run.status, run.board.state) == ("stopped", {"1": "failed", "2": "waiting"})
    assert run.makespan < 30.0


def test_what_began_late_is_given_up_at_the_deadline() -> None:
    over = threading.Event()

    def wait(seconds: float) -> bool:
        """Wait so long, or until the test is over."""
        return over.wait(seconds)

    # the second begins after 0.3 s, and has 0.2 s left of the 0.5 s that it had when it was handed over
    plan = Plan.parse([step("1", "wait", seconds=0.3), step("2", "wait", seconds=60.0, timeout=50.0)])
    with ThreadPoolExecutor(1) as threads:
        run = execute(
            plan,
            ToolExecutor(Toolbox([Tool(wait, effects="none")])),
            workers=Pool(threads),
            policy=Policy(deadline=0.5),
        )
        over.set()
    assert run.board.state == {"1": "done", "2": "failed"}
    assert run.board.errors["2"] == "TimeoutError: still running at the run's deadline of 0.5 s"
    assert 0.5 <= run.makespan < 0.75


@pytest.mark.parametrize("kind", ["inline", "threads"])
@pytest.mark.parametrize("by", ["deadline", "timeout"])
def test_an_async_step_that_is_given_up_hears_of_it(kind: str, by: str) -> None:
    heard: list[str] = []

    async def forever() -> None:
        """Wait for ever."""
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            heard.append("cancelled")
            await asyncio.sleep(0.01)
            heard.append("put in order")
            raise

    timeout, deadline = (0.3, None) if by == "timeout" else (None, 0.3)
    plan = Plan.parse([step("1", "forever", timeout=timeout)])
    with ThreadPoolExecutor(1) as threads:
        workers = Inline() if kind == "inline" else Pool(threads)
        policy = Policy(deadline=deadline)
        run = execute(plan, ToolExecutor(Toolbox([Tool(forever, effects="none")])), workers=workers, policy=policy)
    assert heard == ["cancelled", "put in order"]
    assert run.board.errors["1"].startswith("TimeoutError: ")
    assert run.status == ("failed" if by == "timeout" else "stopped")


def test_an_async_step_inside_an_async_step_hears_of_it() -> None:
    heard: list[str] = []

    async def forever(name: str) -> None:
        """Wait for ever."""
        try:
            await asyncio.sleep(3600)
        finally:
            heard.append(name)

    tools = ToolExecutor(Toolbox([Tool(forever, name="work", effects="none")]))
    inner = PlannerExecutor(Portions([work("1")]), tools, workers=Inline())

    async def outer() -> str:
        """Run a plan."""
        return inner.run("go").status

    plan = Plan.parse([step("o", "outer", timeout=30.0)])
    inner.policy = Policy(deadline=0.2)
    run = execute(plan, ToolExecutor(Toolbox([Tool(outer, effects="none")])), workers=Inline())
    assert (run.results["o"], heard) == ("stopped", ["1"])


@pytest.mark.parametrize("deadline", [-1.0, float("inf"), float("nan")])
def test_what_is_no_deadline_is_rejected(deadline: float) -> None:
    with pytest.raises(ValueError, match="deadline="):
        Policy(deadline=deadline)


@given(jobs(), st.integers(0, 24), st.sampled_from((1, 2, None)), st.sampled_from(("skip", "stop")))
@rounds(200)
def test_until_the_deadline_a_run_is_what_it_would_be_without(
    made: list[Job], quarters: int, slots: int | None, failure: Any
) -> None:
    deadline = quarters / 4
    whole = execute(
        plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated(slots), policy=Policy(failure=failure)
    )
    policy = Policy(failure=failure, deadline=deadline)
    run = execute(plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated(slots), policy=policy)
    check_fold(run)
    check_replay(run, policy)
    assert run.makespan <= deadline or not run.board.has_planner
    before = [one for one in starts(whole) if one[1] < deadline]
    assert starts(run) == before
    if whole.makespan <= deadline and deadline:
        assert (run.status, run.results) == (whole.status, whole.results) or run.status == "stopped"
    assert run.status in ("stopped", whole.status)
    assert all(event.at < deadline for event in run.events if isinstance(event, StepStarted))
