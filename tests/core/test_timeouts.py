"""Real timeouts: a step that was given up is in doubt, its late result never counts, and what has not begun is taken back."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
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
    Simulated,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.events import StepCancelled, StepDone, StepFailed, StepLate, StepStarted
from planexec_lite.meter import ModelCall, charge
from planexec_lite.workers import Workers
from tests.core import odd_tools
from tests.core.shapes import (
    END,
    Job,
    Portions,
    Workshop,
    Writing,
    check_fold,
    check_order,
    jobs,
    plan_of,
    rounds,
    step,
    within,
)


class Site:
    """Tools that wait until they are let go, and count what really happened."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.begun, self.ended = Counter[str](), Counter[str]()

    def work(self, name: str, holds: int = 0, fails: int = 0) -> str:
        """Do it; the first `holds` times only when it is let go."""
        self.begun[name] += 1
        time_of_day = self.begun[name]
        if time_of_day <= holds:
            assert self.let_go.wait(20)
        self.ended[name] += 1
        if time_of_day <= fails:
            raise RuntimeError(f"{name} went wrong")
        return f"{name}, time {time_of_day}"

    def lets_go(self, name: str = "go") -> str:
        """Let the others go, and give them the time to end."""
        self.let_go.set()
        time.sleep(0.15)
        return name

    def waits(self, seconds: float) -> float:
        """Sleep."""
        time.sleep(seconds)
        return seconds

    @property
    def tools(self) -> Toolbox:
        return Toolbox([self.work, self.lets_go, self.waits])

    @property
    def executor(self) -> ToolExecutor:
        return ToolExecutor(self.tools)


def carry_out(steps: list[dict[str, Any]], workers: Workers, site: Site, **policy: Any) -> Run:
    plan = Plan.parse(steps)
    run = within(20, lambda: execute(plan, site.executor, workers=workers, policy=Policy(**policy)))
    site.let_go.set()
    check_fold(run)
    check_order(run)
    return run


def events(run: Run, id: str, *kinds: Any) -> list[Any]:
    return [event for event in run.events if isinstance(event, kinds) and event.step == id]


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_a_step_that_is_given_up_is_in_doubt_and_its_late_result_is_recorded_and_never_counts(
    threads: ThreadPoolExecutor,
) -> None:
    site = Site()
    steps = [
        step("1", "work", name="a", holds=1, timeout=0.1),
        step("2", "work", "1", name="b"),
        step("3", "work", "2", name="c"),
        step("4", "waits", seconds=0.3),
        step("5", "lets_go", "4"),
    ]
    run = carry_out(steps, Pool(threads), site)
    assert run.board.state == {"1": "failed", "2": "skipped", "3": "skipped", "4": "done", "5": "done"}
    failed, late = events(run, "1", StepFailed, StepLate)
    assert failed.in_doubt
    assert "TimeoutError: took longer than its timeout of 0.1 s" in failed.error
    assert (late.result, late.error) == ("a, time 1", None)
    assert 0.1 <= failed.seconds <= late.seconds
    assert "1" not in run.results
    assert (run.status, run.answer) == ("failed", None)
    assert run.board.late == {"1": "a, time 1"}
    assert site.begun == {"a": 1}


def test_while_nobody_knows_the_step_stays_in_doubt(threads: ThreadPoolExecutor) -> None:
    site = Site()
    run = carry_out([step("1", "work", name="a", holds=1, timeout=0.05)], Pool(threads), site)
    assert list(run.board.in_doubt) == ["1"]
    assert run.board.late == {}
    assert not events(run, "1", StepLate)


def test_a_late_error_is_recorded_too(threads: ThreadPoolExecutor) -> None:
    site = Site()
    steps = [
        step("1", "work", name="a", holds=1, fails=1, timeout=0.05),
        step("2", "waits", seconds=0.15),
        step("3", "lets_go", "2"),
    ]
    run = carry_out(steps, Pool(threads), site)
    (late,) = events(run, "1", StepLate)
    assert (late.result, late.error) == (None, "RuntimeError: a went wrong")
    assert run.board.errors["1"].startswith("TimeoutError")
    assert not run.board.in_doubt


@pytest.mark.parametrize(
    ("effects", "retries", "policy", "calls"),
    [
        ("none", 1, 0, 2), ("idempotent", 1, 0, 2), ("once", 1, 0, 1), ("once", 0, 2, 1), ("none", 0, 1, 2),
    ],
)  # fmt: skip
def test_what_is_in_doubt_is_tried_again_only_if_a_repeat_does_no_harm(
    threads: ThreadPoolExecutor, effects: str, retries: int, policy: int, calls: int
) -> None:
    site = Site()
    one = step("1", "work", name="a", holds=1, timeout=0.05, retries=retries, effects=effects)
    run = carry_out([one, step("2", "work", "1", name="b")], Pool(threads), site, retries=policy)
    assert site.begun["a"] == calls
    assert run.board.state == ({"1": "done", "2": "done"} if calls == 2 else {"1": "failed", "2": "skipped"})


def test_a_late_result_after_a_retry_that_went_well_changes_nothing(threads: ThreadPoolExecutor) -> None:
    site = Site()
    steps = [
        step("1", "work", name="a", holds=1, timeout=0.6, retries=1),
        step("2", "lets_go", "1"),
        step("3", "work", "2", name="{step_2_result}"),
    ]
    run = carry_out(steps, Pool(threads), site)
    assert [type(e) for e in events(run, "1", StepStarted, StepDone, StepFailed, StepLate)] == [
        StepStarted,
        StepFailed,
        StepStarted,
        StepDone,
        StepLate,
    ]
    assert (run.status, run.results["1"]) == ("finished", "a, time 2")
    assert run.board.state["1"] == "done"
    assert run.board.late == {"1": "a, time 1"}
    assert "1" not in run.board.errors


def test_a_late_result_while_the_retry_still_runs_is_not_taken_for_its_result(threads: ThreadPoolExecutor) -> None:
    site = Site()
    second = threading.Event()

    def slow() -> str:
        site.begun["slow"] += 1
        if site.begun["slow"] == 1:
            assert site.let_go.wait(20)
            return "first"
        site.let_go.set()
        time.sleep(0.1)
        second.set()
        return "second"

    plan = Plan.parse([step("1", "slow", timeout=2, retries=1, effects="idempotent")])
    run = within(30, lambda: execute(plan, ToolExecutor(Toolbox([slow])), workers=Pool(threads)))
    assert run.results == {"1": "second"}
    assert run.board.late == {"1": "first"}
    check_fold(run)


def test_the_timeout_counts_from_when_the_step_begins_not_from_when_it_is_handed_over() -> None:
    site = Site()
    with ThreadPoolExecutor(2) as two:
        run = carry_out([step(str(n), "waits", seconds=0.2, timeout=0.9) for n in range(10)], Pool(two), site)
    assert run.status == "finished", "the last of them waits half a second for a thread"


def test_the_timeout_counts_from_when_the_step_begins_in_processes_too() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as one:
        one.submit(odd_tools.waits, 0).result()
        plan = Plan.parse([step(str(n), "waits", seconds=0.6, timeout=1.1) for n in range(3)])
        run = within(20, lambda: execute(plan, ToolExecutor(Toolbox([odd_tools.waits])), workers=Pool(one)))
    assert run.board.state == {"0": "done", "1": "done", "2": "done"}


def test_a_process_that_takes_too_long_is_given_up_and_heard_later() -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as two:
        two.submit(odd_tools.waits, 0).result()
        plan = Plan.parse(
            [
                step("1", "waits", seconds=0.4, timeout=0.1),
                step("2", "waits", "1", seconds=0),
                step("3", "waits", seconds=1.0),
            ]
        )
        run = within(20, lambda: execute(plan, ToolExecutor(Toolbox([odd_tools.waits])), workers=Pool(two)))
    assert run.board.state == {"1": "failed", "2": "skipped", "3": "done"}
    assert run.board.late == {"1": 0.4}
    check_fold(run)


def test_a_step_that_ends_just_after_its_timeout_is_a_failed_step_on_every_kind_of_workers(
    threads: ThreadPoolExecutor,
) -> None:
    for workers in (Inline(), Pool(threads)):
        run = carry_out([step("1", "waits", seconds=0.06, timeout=0.05)], workers, Site())
        assert run.board.state == {"1": "failed"}
        assert "TimeoutError" in run.board.errors["1"]


def test_on_this_thread_the_late_result_is_known_at_once_and_is_not_counted_either() -> None:
    run = carry_out(
        [step("1", "waits", seconds=0.05, timeout=0.01), step("2", "work", "1", name="b")], Inline(), Site()
    )
    assert [type(event) for event in events(run, "1", StepFailed, StepLate)] == [StepFailed, StepLate]
    assert run.board.late == {"1": 0.05}
    assert not run.board.in_doubt
    assert run.board.state["2"] == "skipped"


def test_what_may_be_done_only_once_is_not_done_again_because_it_took_too_long(threads: ThreadPoolExecutor) -> None:
    paid: list[int] = []

    @tool(latency=2.0, effects="once")
    def pay(amount: int, seconds: float) -> int:
        paid.append(amount)
        time.sleep(seconds)
        return amount

    plan = Plan.parse([step("1", "pay", amount=3, seconds=0.05, timeout=0.01, retries=3)])
    for workers in (Inline(), Pool(threads), Simulated()):
        paid.clear()
        run = within(30, lambda workers=workers: execute(plan, ToolExecutor(Toolbox([pay])), workers=workers))  # type: ignore[misc]
        assert paid == [3]
        assert run.status == "failed"
        check_fold(run)


def test_a_slot_is_free_when_its_step_is_given_up_and_the_executors_thread_is_not() -> None:
    site = Site()
    with ThreadPoolExecutor(2) as two:
        steps = [
            step("1", "work", name="a", holds=1, timeout=0.1),
            step("2", "work", name="b"),
            step("3", "lets_go", "2"),
        ]
        run = carry_out(steps, Pool(two, slots=1), site)
    assert run.board.state == {"1": "failed", "2": "done", "3": "done"}
    assert events(run, "2", StepStarted)[0].at >= events(run, "1", StepFailed)[0].at


def test_a_step_with_time_enough_is_not_given_up_while_the_loop_is_busy_with_something_else(
    threads: ThreadPoolExecutor,
) -> None:
    site = Site()
    steps = [step("1", "waits", seconds=0.1, timeout=5.0), step("2", "waits", seconds=0.02, timeout=0.01)]
    plan = Plan.parse(steps)
    run = within(
        10,
        lambda: execute(plan, site.executor, workers=Pool(threads), watch=lambda run: time.sleep(0.1)),
    )
    assert run.board.state == {"1": "done", "2": "failed"}


def test_the_model_calls_of_a_step_that_was_given_up_are_paid_for_when_they_are_known(
    threads: ThreadPoolExecutor,
) -> None:
    def asks(seconds: float) -> str:
        charge(5.0, ModelCall("m", 100, 10, 5.0))
        time.sleep(seconds)
        return "answer"

    steps = [step("1", "asks", seconds=0.1, timeout=0.05), step("2", "asks", seconds=0.5)]
    for workers in (Inline(), Pool(threads)):
        run = within(30, lambda w=workers: execute(Plan.parse(steps), ToolExecutor(Toolbox([asks])), workers=w))  # type: ignore[misc]
        assert (run.board.state["1"], run.usage.calls) == ("failed", 2)
        check_fold(run)


def test_in_simulation_a_late_result_comes_when_the_work_is_over() -> None:
    @tool(latency=10.0)
    def slow() -> str:
        return "slow"

    @tool(latency=4.0)
    def quick() -> str:
        return "quick"

    steps = [
        step("1", "slow", timeout=3.0),
        step("2", "quick", "1"),
        step("3", "quick"),
        step("4", "slow", "3"),
        step("5", "slow", timeout=10.0),
    ]
    run = execute(Plan.parse(steps), ToolExecutor(Toolbox([slow, quick])), workers=Simulated())
    check_fold(run)
    check_order(run)
    (failed,), (late,) = events(run, "1", StepFailed), events(run, "1", StepLate)
    assert (failed.at, failed.seconds, failed.in_doubt) == (3.0, 3.0, True)
    assert (late.at, late.seconds, late.result) == (10.0, 10.0, "slow")
    assert run.board.state == {"1": "failed", "2": "skipped", "3": "done", "4": "done", "5": "done"}
    assert run.makespan == 14.0


def test_a_timeout_of_an_attempt_that_runs_alone_does_not_wait_for_the_late_result() -> None:
    @tool(latency=100.0)
    def slow() -> str:
        return "slow"

    run = execute(Plan.parse([step("1", "slow", timeout=3.0)]), ToolExecutor(Toolbox([slow])), workers=Simulated())
    assert (run.status, run.makespan) == ("failed", 3.0)
    assert list(run.board.in_doubt) == ["1"]


def test_while_the_second_attempt_is_in_doubt_the_end_of_the_first_does_not_settle_it() -> None:
    seconds = iter([5.0, 50.0])

    @tool(effects="idempotent")
    def slow() -> str:
        charge(next(seconds))
        return "slow"

    @tool(latency=20.0)
    def other() -> str:
        return ""

    plan = Plan.parse([step("1", "slow", timeout=3.0, retries=1), step("2", "other")])
    run = execute(plan, ToolExecutor(Toolbox([slow, other])), workers=Simulated())
    assert [event.at for event in events(run, "1", StepFailed, StepLate)] == [3.0, 5.0, 6.0]
    assert list(run.board.in_doubt) == ["1"]


# What has not begun is taken back.


def test_when_a_failure_stops_the_run_what_waits_for_a_thread_is_taken_back() -> None:
    site = Site()
    steps = [step("bad", "work", name="bad", fails=1), *(step(str(n), "waits", seconds=0.05) for n in range(40))]
    with ThreadPoolExecutor(1) as one:
        run = carry_out(steps, Pool(one), site, failure="stop")
    cancelled = [event.step for event in run.events if isinstance(event, StepCancelled)]
    assert run.status == "failed"
    assert len(cancelled) >= 20
    assert all(run.board.state[id] == "waiting" for id in cancelled)
    assert not {event.step for event in run.events if isinstance(event, StepDone)} & set(cancelled)
    assert all(type(event) is not StepStarted for event in run.events[run.events.index(failure_of(run, "bad")) :])


def failure_of(run: Run, id: str) -> StepFailed:
    return next(event for event in run.events if isinstance(event, StepFailed) and event.step == id)


def test_when_the_rest_is_planned_again_what_waits_for_a_thread_is_taken_back_and_not_lost() -> None:
    site = Site()
    first = [step("bad", "work", name="bad", fails=1), *(step(str(n), "work", name=str(n)) for n in range(20))]
    later = [step("good", "work", name="good"), *first[1:]]
    with ThreadPoolExecutor(1) as one:
        agent = PlannerExecutor(
            Portions(first, later), site.executor, workers=Pool(one), policy=Policy(replan="failure", failure="stop")
        )
        run = within(20, lambda: agent.run("work"))
    check_fold(run)
    check_order(run)
    assert run.status == "finished"
    assert site.begun == dict.fromkeys(["bad", "good", *map(str, range(20))], 1)
    assert any(isinstance(event, StepCancelled) for event in run.events)


def test_a_step_that_is_to_be_tried_again_is_not_taken_back_and_handed_over_again_and_again() -> None:
    site = Site()
    with ThreadPoolExecutor(3) as pool:
        held: list[Any] = []

        def bad() -> str:
            held.extend(pool.submit(time.sleep, 0.4) for _ in range(2))  # somebody else keeps the threads busy
            time.sleep(0.1)
            raise RuntimeError("bad")

        def shaky() -> str:
            site.begun["shaky"] += 1
            time.sleep(0.2)
            if site.begun["shaky"] == 1:
                raise RuntimeError("once")
            return "done"

        tools = Toolbox([bad, shaky, site.waits])
        first = [step("1", "bad"), step("2", "shaky", retries=1), step("3", "waits", seconds=0.5)]
        agent = PlannerExecutor(
            Portions(first, [step("9", "waits", seconds=0.0)]),
            ToolExecutor(tools),
            workers=Pool(pool),
            policy=Policy(replan="failure"),
        )
        run = within(30, lambda: agent.run("work"))
    assert len(run.events) < 40
    assert run.status == "finished"
    check_fold(run)


def test_a_retry_that_waits_for_a_thread_when_the_run_stops_is_taken_back_and_stays_failed() -> None:
    second_attempt, over = threading.Event(), threading.Event()

    def look(run: Run) -> None:
        if any(isinstance(event, StepStarted) and event.attempt == 2 for event in run.events):
            second_attempt.set()

    with ThreadPoolExecutor(2) as pool:

        def shaky() -> str:
            for _ in range(2):  # somebody else takes the threads before the next attempt
                pool.submit(over.wait, 20)
            raise RuntimeError("shaky")

        def bad() -> str:
            assert second_attempt.wait(20)
            raise RuntimeError("bad")

        plan = Plan.parse([step("1", "shaky", retries=1), step("2", "bad"), step("3", "shaky", "1")])
        tools, stop = ToolExecutor(Toolbox([shaky, bad])), Policy(failure="stop")
        run = within(30, lambda: execute(plan, tools, workers=Pool(pool), policy=stop, watch=look))
        over.set()
    check_fold(run)
    check_order(run)
    assert run.board.state == {"1": "failed", "2": "failed", "3": "waiting"}
    assert [type(event) for event in events(run, "1", StepStarted, StepFailed, StepCancelled)] == [
        StepStarted,
        StepFailed,
        StepStarted,
        StepCancelled,
    ]
    assert run.board.errors["1"] == "RuntimeError: shaky"
    assert run.reason.startswith("step 2 failed")


def test_a_late_result_of_a_step_whose_id_was_used_again_is_not_the_new_ones(threads: ThreadPoolExecutor) -> None:
    site = Site()
    first = [step("1", "work", name="old", holds=1, timeout=0.05), step("2", "work", "1", name="b")]
    later = [step("0", "lets_go"), step("1", "work", "0", name="new"), step("2", "work", "1", name="b")]
    agent = PlannerExecutor(
        Portions(first, later), site.executor, workers=Pool(threads), policy=Policy(replan="failure")
    )
    run = within(30, lambda: agent.run("work"))
    check_fold(run)
    check_order(run)
    assert (run.status, run.results["1"]) == ("finished", "new, time 1")
    assert run.board.late == {"1": "old, time 1"}
    assert not run.board.in_doubt


@rounds(40)
@given(
    made=jobs(most=8),
    slots=st.sampled_from([1, 2, None]),
    failure=st.sampled_from(["skip", "stop"]),
    replan=st.sampled_from(["never", "failure", "step"]),
    limit=st.sampled_from([{}, {"work": 1}, {"work": 2}]),
)
def test_random_runs_on_few_threads_are_lawful_whatever_is_taken_back(
    made: list[Job], slots: Any, failure: Any, replan: Any, limit: Any
) -> None:
    workshop = Workshop()
    later = [Job(f"{job.id}x", tuple(f"{id}x" for id in job.waits_for), retries=job.retries) for job in made]
    with ThreadPoolExecutor(2) as two:
        agent = PlannerExecutor(
            Portions(plan_of(made), plan_of(later)),
            ToolExecutor(workshop.toolbox),
            workers=Pool(two, slots, limit),
            policy=Policy(failure=failure, replan=replan, max_rounds=3),
        )
        run = within(20, lambda: agent.run("build"))
    check_fold(run)
    check_order(run, slots or 10**6)
    assert run.board.ended
    assert workshop.most_busy <= min(2, slots or 2, limit.get("work", 2))
    begun = Counter(event.step for event in run.events if isinstance(event, StepStarted))
    begun.subtract(event.step for event in run.events if isinstance(event, StepCancelled))
    assert +begun == workshop.calls


def test_when_a_streamed_plan_breaks_off_what_waits_for_a_thread_is_taken_back() -> None:
    site = Site()
    with ThreadPoolExecutor(1) as one:
        answer = [*(step(str(n), "waits", seconds=0.1) for n in range(15)), lambda: time.sleep(0.15)]
        planner = Writing(answer, [step("last", "work", name="last"), END])
        agent = PlannerExecutor(planner, site.executor, workers=Pool(one))
        run = within(20, lambda: agent.run("work"))
    check_fold(run)
    check_order(run)
    assert run.status == "finished"
    done = {id for id in run.results if id != "last"}
    taken_back = {event.step for event in run.events if isinstance(event, StepCancelled)}
    assert 1 <= len(done) < 12
    assert done | taken_back == {str(n) for n in range(15)}
    assert {run.board.state[id] for id in taken_back} == {"superseded"}


def test_what_was_handed_over_and_has_not_begun_when_the_loop_is_left_is_cancelled() -> None:
    site = Site()

    def burst(run: Run) -> None:
        if any(isinstance(event, StepDone) for event in run.events):
            raise ZeroDivisionError

    plan = Plan.parse([step(str(n), "waits", seconds=0.1) for n in range(30)])
    with ThreadPoolExecutor(1) as one:
        began = time.monotonic()
        with pytest.raises(ZeroDivisionError):
            execute(plan, site.executor, workers=Pool(one), watch=burst)
        one.shutdown()
    assert time.monotonic() - began < 1.5


# On a virtual clock, at random.


@st.composite
def slow_plans(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, list[int]]]:
    steps: list[dict[str, Any]] = []
    takes: dict[str, list[int]] = {}
    for n in range(draw(st.integers(1, 8))):
        after = draw(st.lists(st.sampled_from([one["id"] for one in steps]), unique=True, max_size=2)) if steps else []
        more: dict[str, Any] = {"retries": draw(st.integers(0, 2)), "effects": draw(st.sampled_from(["none", "once"]))}
        if draw(st.booleans()):
            more["timeout"] = draw(st.integers(1, 4)) + 0.5
        steps.append(step(str(n), "takes", *after, name=str(n), **more))
        takes[str(n)] = draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
    return steps, takes


@rounds(120)
@given(slow_plans(), st.sampled_from([1, 2, None]), st.sampled_from(["skip", "stop"]))
def test_random_timeouts_are_lawful(made: Any, slots: int | None, failure: Any) -> None:
    steps, seconds = made
    calls: Counter[str] = Counter()

    def takes(name: str) -> str:
        calls[name] += 1
        charge(seconds[name][calls[name] - 1])
        return f"{name}, time {calls[name]}"

    policy = Policy(failure=failure)
    run = execute(Plan.parse(steps), ToolExecutor(Toolbox([takes])), workers=Simulated(slots), policy=policy)
    check_fold(run)
    check_order(run, slots or 10**6)
    assert run.board.ended
    for one in steps:
        id, limit = one["id"], one.get("timeout", 10**6)
        ok = [n for n, took in enumerate(seconds[id][: 1 + one["retries"]]) if took <= limit]
        if run.board.state[id] == "done":
            assert run.results[id] == f"{id}, time {ok[0] + 1}"
            assert calls[id] == ok[0] + 1
        if one["effects"] == "once":
            assert calls[id] <= 1
        for late in events(run, id, StepLate):
            assert late.seconds > limit
            assert late.result != run.results.get(id)
