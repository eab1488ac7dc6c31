"""The deadline: nothing starts after it, and what is in flight is given up; and the progress of a step."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    progress,
    tool,
)
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.progress import Progress
from planexec_lite.events import StepProgress, StepStarted
from planexec_lite.meter import charge
from tests.capabilities.scaffold import carry_out
from tests.core.shapes import Job, Portions, Workshop, jobs, plan_of, starts, step
from tests.rounds import rounds


class Shop:
    """Work that takes a number of seconds on the clock; `undone` lists the undone steps."""

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

    def run(self, *steps: dict[str, Any], **policy: Any) -> Run:
        return carry_out(list(steps), self.tools, **policy)


def work(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "work", *after, name=id, **more)


def test_at_the_deadline_nothing_starts_and_what_is_under_way_is_given_up() -> None:
    run = Shop().run(work("1", seconds=4.0), work("2", "1", seconds=4.0), work("3", "2"), deadline=6.0)
    assert (run.status, run.reason) == ("stopped", "the deadline of 6 s has passed")
    assert run.board.state == {"1": "done", "2": "failed", "3": "waiting"}
    assert run.board.errors["2"] == "TimeoutError: still running at the run's deadline of 6 s"
    assert run.board[Doubt].attempts == {"2": 1}
    assert run.makespan == 6.0


def test_what_was_done_is_taken_back_where_that_is_wanted() -> None:
    shop = Shop()
    undo = {"tool": "put_back", "params": {"name": "1"}}
    run = shop.run(work("1", undo=undo), work("2", "1", seconds=9.0), deadline=6.0, rollback="unfinished")
    assert (run.status, shop.undone) == ("rolled back", ["1"])
    assert run.reason.startswith("the deadline of 6 s has passed; undone: 1")


@pytest.mark.parametrize(("seconds", "asked", "makespan"), [(4.0, 2, 9.0), (9.0, 1, 9.0)])
def test_after_it_no_planner_is_asked_and_a_late_plan_is_shown_to_nobody(
    seconds: float, asked: int, makespan: float
) -> None:
    class Slow(Portions):
        def plan(self, *given: Any) -> Plan:
            charge(seconds)
            return super().plan(*given)

    planner, policy = Slow([work("1", works=False)], [work("2")]), Policy(replan="failure", deadline=6.0)
    reviewer = ScriptedReviewer(["approve"])
    agent = PlannerExecutor(planner, ToolExecutor(Shop().tools), reviewer, workers=Simulated(), policy=policy)
    run = agent.run("go")
    # asked at 5 s, within the deadline, the planner is heard out; what it says comes too late
    assert (run.status, planner.asked, run.makespan) == ("stopped", asked, makespan)
    assert len(run.board.reviews) == asked - 1


@pytest.mark.parametrize("bound", ["deadline", "timeout"])
def test_it_bounds_runs_inside_runs_with_what_is_left(bound: str) -> None:
    timeout, deadline = (6.0, None) if bound == "timeout" else (None, 6.0)
    tools = ToolExecutor(Shop().tools)
    inner = [work("1", seconds=2.0), work("2", "1", seconds=4.0), work("3", "2")]
    deepest = PlannerExecutor(Portions([work("x", seconds=1.0)], inner), tools, workers=Simulated())
    middle = PlannerExecutor(Portions([work("m")]), deepest, workers=Simulated())
    steps, policy = [work("o"), work("p", "o", timeout=timeout)], Policy(deadline=deadline)
    run = PlannerExecutor(Portions(steps), middle, workers=Simulated(), policy=policy).run("go")
    left = 6.0 if timeout else 5.0
    assert (run.board.state["p"], run.makespan) == ("failed", 1.0 + left)
    inside = run.inside("p").inside("m")
    assert (run.inside("p").status, inside.status) == ("stopped", "stopped")
    assert (inside.board.state["1"], inside.board.state["3"]) == ("done", "waiting")
    assert inside.reason == f"the deadline of {left:g} s has passed"


def on_a_thread(*steps: dict[str, Any], deadline: float) -> Run:
    """Carry out steps that wait, with one thread."""
    over = threading.Event()

    def wait(seconds: float) -> bool:
        """Wait so long, or until the test is over."""
        return over.wait(seconds)

    tools = Toolbox([Tool(wait, effects="none")])
    with ThreadPoolExecutor(1) as threads:
        run = carry_out(list(steps), tools, Pool(threads), deadline=deadline)
        over.set()
    return run


def test_what_still_waits_for_a_thread_is_taken_back() -> None:
    # the first is given up and keeps the only thread, so that the second never begins
    run = on_a_thread(step("1", "wait", seconds=60.0, timeout=0.1), step("2", "wait", seconds=0.0), deadline=0.4)
    assert (run.status, run.board.state) == ("stopped", {"1": "failed", "2": "waiting"})
    assert run.makespan < 30.0


def test_what_began_late_is_given_up_at_the_deadline() -> None:
    # the second begins after 0.3 s, and has 0.2 s left of the 0.5 s that it had when it was handed over
    steps = step("1", "wait", seconds=0.3), step("2", "wait", seconds=60.0, timeout=50.0)
    run = on_a_thread(*steps, deadline=0.5)
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
    tools, steps = Toolbox([Tool(forever, effects="none")]), [step("1", "forever", timeout=timeout)]
    with ThreadPoolExecutor(1) as threads:
        run = carry_out(steps, tools, Inline() if kind == "inline" else Pool(threads), deadline=deadline)
    assert heard == ["cancelled", "put in order"]
    assert run.board.errors["1"].startswith("TimeoutError: ")
    assert run.status == ("failed" if by == "timeout" else "stopped")


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
    steps, tools = plan_of(made).model_dump()["steps"], Workshop().toolbox
    whole = carry_out(steps, tools, Simulated(slots), failure=failure)
    run = carry_out(steps, Workshop().toolbox, Simulated(slots), failure=failure, deadline=deadline)
    assert run.makespan <= deadline or not run.board.has_planner
    before = [one for one in starts(whole) if one[1] < deadline]
    assert starts(run) == before
    if whole.makespan <= deadline and deadline:
        assert (run.status, run.results) == (whole.status, whole.results) or run.status == "stopped"
    assert run.status in ("stopped", whole.status)
    assert all(event.at < deadline for event in run.events if isinstance(event, StepStarted))


@tool(effects="none")
def copy() -> str:
    for percent in (25, 50, 100):
        charge(1.0)
        progress(percent)
    return "copied"


COPY = Toolbox([copy])


def percents(run: Run) -> list[tuple[str, float]]:
    return [(event.step, event.percent) for event in run.events if isinstance(event, StepProgress)]


@pytest.mark.parametrize("workers", [Inline(), Simulated()])
def test_every_percentage_is_seen_and_in_the_run_and_none_is_left(workers: Any) -> None:
    seen: list[tuple[float, dict[str, float]]] = []

    def watch(run: Run) -> None:
        seen.append((run.board.now, dict(run.board[Progress].percent)))

    run = carry_out([step("1", "copy"), step("2", "copy", "1")], COPY, workers, watch=watch)
    assert percents(run) == [(id, percent) for id in "12" for percent in (25, 50, 100)]
    assert run.board[Progress].percent == {}
    if isinstance(workers, Simulated):
        assert (1.0, {"1": 25}) in seen
        assert (5.0, {"2": 50}) in seen


def test_on_threads_it_is_heard_while_the_step_runs() -> None:
    heard = Event()

    @tool(effects="none")
    def slow() -> bool:
        progress(40)
        return heard.wait(20)

    def watch(run: Run) -> None:
        if run.board[Progress].percent == {"1": 40}:
            heard.set()

    with ThreadPoolExecutor(1) as threads:
        run = carry_out([step("1", "slow")], Toolbox([slow]), Pool(threads), watch=watch)
    assert run.results == {"1": True}


def test_what_comes_after_the_timeout_is_not_the_progress_of_the_next_attempt() -> None:
    assert percents(carry_out([step("1", "copy", timeout=1.5, retries=1)], COPY)) == [("1", 25), ("1", 25)]


@pytest.mark.parametrize("percent", [-1, 101, True, float("nan")])
def test_a_percentage_is_from_0_to_100(percent: Any) -> None:
    progress(50)  # outside a step nobody listens
    with pytest.raises(ValueError, match="a number from 0 to 100"):
        progress(percent)
