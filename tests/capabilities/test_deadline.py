"""The deadline: no step starts after it, and running steps time out."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import Inline, Plan, Pool, Simulated, Tool
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.meter import charge
from planexec_lite.run.events import StepStarted
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import Job, Portions, Workshop, jobs, plan_of, starts, step, work
from tests.rounds import rounds


def test_at_the_deadline_running_steps_are_given_up_and_no_step_starts() -> None:
    steps = [work("1", quarters=16), work("2", "1", quarters=16), work("3", "2")]
    run = carry_out(steps, Workshop().toolbox, deadline=6.0)
    assert (run.status, run.reason) == ("stopped", "the deadline of 6 s has passed")
    assert run.board.state == {"1": "done", "2": "failed", "3": "waiting"}
    assert run.board.errors["2"] == "TimeoutError: still running at the run's deadline of 6 s"
    assert run.board[Doubt].attempts == {"2": 1}
    assert run.makespan == 6.0


@pytest.mark.parametrize(("seconds", "asked", "makespan"), [(4.0, 2, 9.0), (9.0, 1, 9.0)])
def test_after_it_no_planner_is_asked_and_a_late_plan_is_not_reviewed(
    seconds: float, asked: int, makespan: float
) -> None:
    class Slow(Portions):
        def plan(self, *given: Any) -> Plan:
            charge(seconds)
            return super().plan(*given)

    planner, reviewer = Slow([work("1", fails=9)], [work("2")]), ["approve"]
    run = agent_for(Workshop().toolbox, planner, reviewer=reviewer, replan="failure", deadline=6.0).run("go")
    # asked at 5 s, within the deadline, the planner may end, but its plan comes too late
    assert (run.status, planner.asked, run.makespan) == ("stopped", asked, makespan)
    assert len(run.board.reviews) == asked - 1


@pytest.mark.parametrize("bound", ["deadline", "timeout"])
def test_it_limits_nested_runs_to_the_time_left(bound: str) -> None:
    timeout, deadline = (6.0, None) if bound == "timeout" else (None, 6.0)
    inner = [work("1", quarters=8), work("2", "1", quarters=16), work("3", "2")]
    middle = agent_for(agent_for(Workshop().toolbox, [work("x", quarters=4)], inner), [work("m")])
    run = agent_for(middle, [work("o"), work("p", "o", timeout=timeout)], deadline=deadline).run("go")
    left = 6.0 if timeout else 5.0
    assert (run.board.state["p"], run.makespan) == ("failed", 1.0 + left)
    inside = run.inside("p").inside("m")
    assert (run.inside("p").status, inside.status) == ("stopped", "stopped")
    assert (inside.board.state["1"], inside.board.state["3"]) == ("done", "waiting")
    assert inside.reason == f"the deadline of {left:g} s has passed"


@pytest.mark.parametrize("kind", ["inline", "threads"])
@pytest.mark.parametrize("by", ["deadline", "timeout"])
def test_an_async_step_that_is_given_up_is_cancelled(kind: str, by: str) -> None:
    seen: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            await asyncio.sleep(0.01)
            seen.append("cleaned up")
            raise

    timeout, deadline = (0.3, None) if by == "timeout" else (None, 0.3)
    tools, steps = [Tool(forever, effects="none")], [step("1", "forever", timeout=timeout)]
    steps += [step("2", "forever")] * (by == "deadline")  # it waits for the thread
    with ThreadPoolExecutor(1) as threads:
        run = carry_out(steps, tools, Inline() if kind == "inline" else Pool(threads), deadline=deadline)
    assert seen == ["cancelled", "cleaned up"]
    assert run.board.errors["1"].startswith("TimeoutError: ")
    assert run.status == ("failed" if by == "timeout" else "stopped")


@given(jobs(), st.integers(0, 24), st.sampled_from((1, 2, None)), st.sampled_from(("skip", "stop")))
@rounds(200)
def test_until_the_deadline_a_run_is_the_same_as_without(
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
