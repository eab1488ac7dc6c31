"""All kinds of workers: odd tools fail as steps, and random plans run as an independent schedule says."""

import asyncio
import math
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from itertools import pairwise
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Board,
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
    tool,
)
from planexec_lite.meter import Meter, ModelCall, charge, emit, now
from planexec_lite.run.events import Inside, StepDone, StepFailed, StepSkipped, StepStarted
from planexec_lite.workers import Task, Workers
from tests.core import agents, odd_tools
from tests.core.agents import agent_for
from tests.core.ending import to_its_end
from tests.core.shapes import Job, Workshop, check_order, greedy, jobs, plan_of, step
from tests.rounds import rounds

T = TypeVar("T")
TOOLS = Toolbox(
    [
        odd_tools.raises, odd_tools.returns, odd_tools.interrupts, odd_tools.dies, odd_tools.fine, odd_tools.process,
        odd_tools.waits, odd_tools.tells, odd_tools.no_number, odd_tools.sets, odd_tools.async_raises,
    ]
)  # fmt: skip


def carry_out(steps: list[dict[str, Any]], workers: Workers, tools: Any = TOOLS) -> Run:
    return to_its_end(lambda: agents.carry_out(steps, tools, workers))


def test_a_step_fails_whatever_its_tool_raises_and_the_others_continue(workers: Workers) -> None:
    odd = [(name, what) for name in ("raises", "async_raises") for what in odd_tools.RAISED]
    odd += [("returns", what) for what in odd_tools.RETURNED]
    steps = [step(str(n), name, what=what, retries=n % 2) for n, (name, what) in enumerate(odd)]
    run = carry_out([*steps, step("behind", "fine", "0", value=1), step("beside", "fine", value=4)], workers)
    assert (run.status, run.results) == ("failed", {"beside": 8})
    others = {"behind": "skipped", "beside": "done"}
    assert run.board.state == dict.fromkeys(map(str, range(len(odd))), "failed") | others
    for n, (name, what) in enumerate(odd):
        words = f"{name} returned" if name == "returns" else type(odd_tools.RAISED[what]()).__name__
        assert words in run.board.errors[str(n)]
        assert sum(isinstance(one, StepFailed) and one.step == str(n) for one in run.events) == 1 + n % 2


def test_an_interrupt_is_raised_to_the_caller_but_on_a_worker_the_step_fails(
    threads: ThreadPoolExecutor, processes: ProcessPoolExecutor
) -> None:
    steps = [step("1", "interrupts"), step("2", "fine", value=1)]
    for here in (Inline(), Simulated()):
        with pytest.raises(KeyboardInterrupt):
            execute(Plan.parse(steps), ToolExecutor(TOOLS), workers=here)
    for pool in (threads, processes):
        assert carry_out(steps, Pool(pool)).board.state == {"1": "failed", "2": "done"}


def test_steps_run_in_another_process_and_a_local_function_fails(processes: ProcessPoolExecutor) -> None:
    @tool(effects="none")
    def local() -> int:
        return 1

    run = carry_out([step("1", "process"), step("2", "fine", "1", value="{step_1_result}")], Pool(processes))
    assert (run.status, run.results["2"]) == ("finished", 2 * run.results["1"])
    assert run.results["1"] != os.getpid()
    run = carry_out([step("1", "local")], Pool(processes), [local])
    assert run.board.state == {"1": "failed"}
    assert run.board.errors["1"]


def test_a_process_pool_that_breaks_ends_the_run_with_the_reason() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        steps = [step("1", "dies", retries=1), step("2", "fine", value=1), step("3", "fine", "1", value=1)]
        run = carry_out(steps, Pool(pool, slots=2))
        assert (run.status, run.board.state["1"], run.board.state["3"]) == ("failed", "failed", "skipped")
        assert "BrokenProcessPool" in run.board.errors["1"]


@pytest.mark.parametrize("executor", [8, -1, 2.0, True, None, ThreadPoolExecutor, lambda: None])
def test_a_pool_of_anything_but_an_executor_says_what_it_takes(executor: Any) -> None:
    with pytest.raises(TypeError, match=r"takes a concurrent.futures.Executor.*ThreadPoolExecutor\(4\)"):
        Pool(executor)


class Cancelling(ThreadPoolExecutor):
    """An executor that cancels each call, at once or a little later."""

    def __init__(self, later: bool) -> None:
        super().__init__(1)
        self.later = later

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        if self.later:
            threading.Timer(0.02, future.cancel).start()
        else:
            future.cancel()
        return future


def test_messages_that_came_together_are_in_the_order_of_the_starts() -> None:
    with ThreadPoolExecutor(2) as threads:
        session: Any = Pool(threads).open().__enter__()

        def first() -> None:
            while session.news.empty():  # until the second one has reported
                time.sleep(0.001)

        session.start(Task(StepStarted(0.0, "1"), first))
        session.start(Task(StepStarted(0.0, "2"), str))
        threads.shutdown()  # both have ended, and the session has not looked yet
        assert [message.task.event.id for message in session.wait()] == ["1", "2"]


def test_a_step_fails_if_the_executor_cancels_it_or_was_shut_down() -> None:
    over = ThreadPoolExecutor(1)
    over.shutdown()
    for executor, words in ((Cancelling(False), "cancel"), (Cancelling(True), "cancel"), (over, "shutdown")):
        run = carry_out([step("1", "fine", value=1), step("2", "fine", "1", value=1)], Pool(executor))
        assert run.board.state == {"1": "failed", "2": "skipped"}
        assert words in run.board.errors["1"].lower()


def test_a_step_that_takes_too_long_is_a_failed_step(workers: Workers) -> None:
    seconds, tool = (2.0, "tells") if isinstance(workers, Simulated) else (0.02, "waits")
    run = carry_out(
        [step("1", tool, seconds=seconds, timeout=seconds / 2), step("2", tool, seconds=seconds, timeout=60)], workers
    )
    assert run.board.state == {"1": "failed", "2": "done"}
    assert "TimeoutError" in run.board.errors["1"]


def test_events_inside_a_step_are_between_its_start_and_its_end(workers: Workers) -> None:
    run = carry_out([step("1", "tells", seconds=2.0)], workers)
    start, *inside, end = (event for event in run.events if getattr(event, "step", None) == "1")
    assert [event.event for event in inside if isinstance(event, Inside)] == ["before", "after"]
    assert start.at <= inside[0].at <= inside[1].at <= end.at


def test_a_charge_counts_for_the_innermost_job_and_is_a_number() -> None:
    charge(5.0, ModelCall("m", 1, 1))
    with Meter() as outer:
        charge(1.0)
        with Meter() as inner:
            charge(2.0, ModelCall("m", 3, 4, 2.0))
        charge(4.0)
    assert (outer.seconds, inner.seconds, outer.calls) == (5.0, 2.0, ())
    assert inner.calls == [ModelCall("m", 3, 4, 2.0)]
    with pytest.raises(ValueError, match="-1"):
        charge(-1)
    with Simulated().open() as session:
        session.start(Task(None, odd_tools.no_number, ()))
        assert len(session.wait()) == 1


def test_no_report_of_parallel_threads_in_a_job_is_lost() -> None:
    call = ModelCall("m", 1, 1)

    def report_often() -> None:
        for _ in range(2_000):
            charge(call=call)
            emit("said")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with Meter() as meter, ThreadPoolExecutor(4) as pool:
            for job in [pool.submit(copy_context().run, report_often) for _ in range(4)]:
                job.result()
    finally:
        sys.setswitchinterval(before)
    assert (len(meter.calls), len(meter.events)) == (8_000, 8_000)


USER = ContextVar("user", default="nobody")


@tool(effects="none")
def user() -> str:
    return USER.get()


@tool(effects="none")
async def user_later() -> str:
    await asyncio.sleep(0)
    return USER.get()


class StreamingPlanner:
    stream = True

    def parts(self, goal: str, board: Board, tools: Toolbox) -> Iterator[Plan]:
        yield Plan.parse([{"description": USER.get()}])


@pytest.mark.parametrize("kind", ["inline", "simulated", "threads"])
def test_tools_and_planners_see_the_context_variables_of_the_program(kind: str, threads: ThreadPoolExecutor) -> None:
    kinds: dict[str, Workers] = {"inline": Inline(), "simulated": Simulated(), "threads": Pool(threads)}
    workers = kinds[kind]
    steps = [step("1", "user"), step("2", "user_later"), step("3", "user")]
    reset = USER.set("ann")
    try:
        run = agents.carry_out(steps, [user, user_later], workers)
        planned = PlannerExecutor(StreamingPlanner(), ToolExecutor(TOOLS), workers=workers).run("g")  # type: ignore[arg-type]
    finally:
        USER.reset(reset)
    assert [*run.results.values(), *planned.results.values()] == ["ann"] * 4


@tool
async def naps(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


@pytest.mark.parametrize("by", ["timeout", "deadline"])
def test_a_timeout_can_be_longer_than_a_thread_can_wait(by: str, threads: ThreadPoolExecutor) -> None:
    one = step("1", "naps", seconds=0.7, timeout=1e300 if by == "timeout" else None)
    run = agents.carry_out([one], [naps], Pool(threads), deadline=1e300 if by == "deadline" else None)
    assert (run.status, run.answer) == ("finished", "done")


Failure = Literal["skip", "stop"]
failures = st.sampled_from(["skip", "stop"])
slots_or_none = st.integers(1, 5) | st.none()


def check_results(run: Run, made: Sequence[Job], workshop: Workshop) -> None:
    """Each step got the results of its dependencies, and the results are those of the done steps."""
    before = {job.id: job.waits_for for job in made}
    for kind, id, uses in workshop.log:
        assert kind != "begin" or uses == [f"{other} {{step_{other}_result}}" for other in before[id]]
    done = {id: f"{id} {{step_{id}_result}}" for id, state in run.board.state.items() if state == "done"}
    assert (run.board.in_flight, run.results) == ({}, done)
    assert list(run.results) == [event.step for event in run.events if isinstance(event, StepDone)]
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
    workers, seen = Simulated(slots, {"oven": ovens} if ovens else {}), list[list[Any]]()

    def watch(run: Run) -> None:
        assert Board.of(run.events) == run.board
        seen.append(list(run.events))
        started = sum(isinstance(event, StepStarted) for event in run.events)
        ended = sum(isinstance(event, StepDone | StepFailed) for event in run.events)
        assert ended <= sum(workshop.calls.values()) <= started, "a job began before it was shown"

    run = agents.carry_out(plan_of(made), workshop.toolbox, workers, watch=watch, failure=failure)
    assert seen[-1] == run.events
    assert all(before == after[: len(before)] and before != after for before, after in pairwise(seen))
    check_results(run, made, workshop)
    check_order(run, slots or math.inf)
    schedule = greedy(made, slots or math.inf, failure == "stop", ovens or math.inf)
    assert attempts(run) == schedule
    assert run.makespan == max(end for _, _, end in schedule)


@rounds(80)
@given(jobs(most=10), failures)
def test_inline_runs_follow_the_rules_in_the_order_of_the_plan(made: list[Job], failure: Failure) -> None:
    workshop = Workshop()
    run = execute(plan_of(made), ToolExecutor(workshop.toolbox), workers=Inline(), policy=Policy(failure=failure))
    check_results(run, made, workshop)
    assert workshop.most_busy <= 1
    one_by_one = greedy([Job(j.id, j.waits_for, 1, j.fails, j.retries) for j in made], 1, failure == "stop")
    assert [id for kind, id, _ in workshop.log if kind == "begin"] == [id for id, _, _ in one_by_one]


def test_skipped_steps_name_the_reason() -> None:
    made = [Job("1", fails=1), Job("2", ("1",)), Job("3", ("2", "4")), Job("4"), Job("5", ("4",))]
    run = execute(plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated())
    skips = {event.step: event.reason for event in run.events if isinstance(event, StepSkipped)}
    assert skips == {"2": "step 1 failed", "3": "step 2 skipped"}
    assert run.board.done == ("4", "5")
    assert "skipped behind it: 2, 3" in run.reason


def test_many_small_latencies_add_up_without_a_rounding_error() -> None:
    tools = Toolbox([Tool(lambda: None, name="tick", latency=0.1, effects="none")])
    plan = Plan.parse([step(str(n), "tick", *([str(n - 1)] if n else [])) for n in range(1000)])
    assert execute(plan, ToolExecutor(tools), workers=Simulated()).makespan == 100.0


def test_a_tool_can_read_the_time_of_the_run_also_in_a_nested_run() -> None:
    @tool(effects="none")
    def tell(wait: float) -> float | None:
        """Return the time after some seconds."""
        charge(seconds=wait)
        return now()

    plan = [step("1", "tell", wait=3), step("2", "tell", "1", wait=4)]
    tasks = [step("1", None, description="first"), step("2", None, "1", description="second")]
    assert agents.carry_out(plan, [tell]).results == {"1": 3.0, "2": 7.0}
    assert agents.carry_out(plan, [tell], Inline()).results == {"1": None, "2": None}
    assert agents.carry_out(tasks, agent_for([tell], [plan[0]])).results == {"1": 3.0, "2": 6.0}
