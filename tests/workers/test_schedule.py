"""When each step starts and what failure means: random plans on all kinds of workers, compared with an independent schedule."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RulePlanner,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.events import StepDone, StepFailed, StepSkipped, StepStarted
from planexec_lite.meter import charge, now
from tests.core.shapes import Job, Workshop, check_order, greedy, jobs, plan_of, step
from tests.rounds import rounds

Failure = Literal["skip", "stop"]
failures = st.sampled_from(["skip", "stop"])
slots_or_none = st.integers(1, 5) | st.none()


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def check_lawful(run: Run, made: Sequence[Job], workshop: Workshop, failure: Failure) -> None:
    """Check the rules for every run on all kinds of workers, in any order of outcomes."""
    state, by_id = run.board.state, {job.id: job for job in made}
    begun = {id for kind, id, _ in workshop.log if kind == "begin"}
    for place, (kind, id, uses) in enumerate(workshop.log):
        if kind == "begin":
            ended = {other for what, other, _ in workshop.log[:place] if what == "end"}
            assert ended >= set(by_id[id].waits_for), f"{id} began too early"
            assert uses == [f"{other} {{step_{other}_result}}" for other in by_id[id].waits_for]
    for job in made:
        assert workshop.calls[job.id] <= 1 + job.retries
        if state[job.id] == "done":
            assert workshop.calls[job.id] == job.fails + 1
            assert all(state[id] == "done" for id in job.waits_for)
        elif state[job.id] == "failed":
            assert 1 <= workshop.calls[job.id] <= job.fails
            assert workshop.calls[job.id] == 1 + job.retries or failure == "stop"
        elif state[job.id] == "skipped":
            assert failure == "skip"
            assert job.id not in begun
            assert any(state[id] in ("failed", "skipped") for id in job.waits_for)
        else:
            assert (failure, state[job.id]) == ("stop", "waiting")
            assert workshop.calls[job.id] <= job.fails
    assert not run.board.in_flight
    assert list(run.results) == [event.step for event in run.events if isinstance(event, StepDone)]
    assert run.results == {id: f"{id} {{step_{id}_result}}" for id in state if state[id] == "done"}
    assert run.status == ("finished" if all(job.works_out for job in made) else "failed")


def attempts(run: Run) -> list[tuple[str, float, float]]:
    """(id, start, end) of every attempt, in the order of their starts, from the events."""
    spans: list[tuple[str, float, float]] = []
    open_at: dict[str, int] = {}
    for event in run.events:
        if isinstance(event, StepStarted):
            open_at[event.step] = len(spans)
            spans.append((event.step, event.at, math.nan))
        elif isinstance(event, StepDone | StepFailed):
            place = open_at.pop(event.step)
            spans[place] = (event.step, spans[place][1], event.at)
            assert event.seconds == event.at - spans[place][1]
    return spans


@rounds(250)
@given(jobs(most=12, tools=("work", "bake")), slots_or_none, st.none() | st.integers(1, 2), failures)
def test_simulation_is_the_greedy_schedule_to_the_moment(
    made: list[Job], slots: int | None, ovens: int | None, failure: Failure
) -> None:
    workshop = Workshop()
    workers = Simulated(slots, {"oven": ovens} if ovens else {})
    run = execute(plan_of(made), ToolExecutor(workshop.toolbox), workers=workers, policy=Policy(failure=failure))
    check_lawful(run, made, workshop, failure)
    check_order(run, slots or math.inf)
    schedule = greedy(made, slots or math.inf, failure == "stop", ovens or math.inf)
    assert attempts(run) == schedule
    assert run.makespan == max(end for _, _, end in schedule)


@rounds(60)
@given(jobs(most=10, failures=False))
def test_with_slots_enough_the_makespan_is_the_critical_path(made: list[Job]) -> None:
    run = execute(plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated())
    assert run.makespan == plan_of(made).critical_path({job.id: job.quarters / 4 for job in made})[1]


@rounds(80)
@given(jobs(most=10), failures)
def test_inline_runs_are_lawful_and_in_plan_order(made: list[Job], failure: Failure) -> None:
    workshop = Workshop()
    run = execute(plan_of(made), ToolExecutor(workshop.toolbox), workers=Inline(), policy=Policy(failure=failure))
    check_lawful(run, made, workshop, failure)
    assert workshop.most_busy <= 1
    one_by_one = greedy([Job(j.id, j.waits_for, 1, j.fails, j.retries) for j in made], 1, failure == "stop")
    assert [id for kind, id, _ in workshop.log if kind == "begin"] == [id for id, _, _ in one_by_one]


@rounds(80)
@given(made=jobs(most=10), failure=failures, slots=slots_or_none)
def test_runs_on_threads_are_lawful(
    threads: ThreadPoolExecutor, made: list[Job], failure: Failure, slots: int | None
) -> None:
    workshop = Workshop()
    run = execute(
        plan_of(made), ToolExecutor(workshop.toolbox), workers=Pool(threads, slots), policy=Policy(failure=failure)
    )
    check_lawful(run, made, workshop, failure)
    assert workshop.most_busy <= min(slots or 4, 4)
    assert all(event.seconds >= 0 for event in run.events if isinstance(event, StepDone | StepFailed))


def test_skipped_steps_say_because_of_whom() -> None:
    made = [Job("1", fails=1), Job("2", ("1",)), Job("3", ("2", "4")), Job("4"), Job("5", ("4",))]
    run = execute(plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated())
    skips = {event.step: event.reason for event in run.events if isinstance(event, StepSkipped)}
    assert skips == {"2": "step 1 failed", "3": "step 2 skipped"}
    assert run.board.done == ("4", "5")
    assert "skipped behind it: 2, 3" in run.reason


@pytest.mark.parametrize("slots", [0, -1])
def test_workers_need_a_slot(slots: int, threads: ThreadPoolExecutor) -> None:
    with pytest.raises(ValueError, match=f"slots={slots}"):
        Simulated(slots)
    with pytest.raises(ValueError, match=f"slots={slots}"):
        Pool(threads, slots)


@pytest.mark.parametrize(
    "bad", [{"failure": "panic"}, {"retries": -1}, {"max_repairs": -1}, {"max_rounds": -1}, {"max_steps": -1}]
)
def test_a_policy_without_sense_is_rejected(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Policy(**bad)  # type: ignore[arg-type]


def test_many_small_latencies_add_up_without_an_error_of_rounding() -> None:
    tools = Toolbox([Tool(lambda: None, name="tick", latency=0.1, effects="none")])
    plan = Plan.parse([step(str(n), "tick", *([str(n - 1)] if n else [])) for n in range(1000)])
    assert execute(plan, ToolExecutor(tools), workers=Simulated()).makespan == 100.0


def test_a_tool_may_ask_for_the_time_of_the_run_also_in_a_run_inside() -> None:
    def tell(wait: float) -> float | None:
        """Return the time after some seconds."""
        charge(seconds=wait)
        return now()

    tools = ToolExecutor(Toolbox([Tool(tell, effects="none")]))
    plan = [step("1", "tell", wait=3), step("2", "tell", "1", wait=4)]
    assert execute(Plan.parse(plan), tools, workers=Simulated(1)).results == {"1": 3.0, "2": 7.0}
    assert execute(Plan.parse(plan), tools).results == {"1": None, "2": None}
    inner = PlannerExecutor(RulePlanner(lambda goal: [plan[0]]), tools, workers=Simulated(1))
    tasks = Plan.parse([step("1", None, description="first"), step("2", None, "1", description="second")])
    assert execute(tasks, inner, workers=Simulated(1)).results == {"1": 3.0, "2": 6.0}


def test_what_ends_at_the_same_instant_is_taken_together() -> None:
    made = [
        Job("a", quarters=4),
        Job("b", quarters=4),
        Job("d", ("b",)),
        Job("c", ("a",)),
        Job("e", quarters=4, fails=1),
    ]
    run = execute(plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated())
    assert [event.step for event in run.events if isinstance(event, StepStarted)] == ["a", "b", "e", "d", "c"]
    ends = [event.step for event in run.events if isinstance(event, StepDone | StepFailed)]
    assert ends == ["a", "b", "e", "d", "c"], "in the order of their starts"
