"""When each step starts and what failure means: random plans on all kinds of workers, compared with an independent schedule."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    ApproveAll,
    Board,
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RuleEvaluator,
    RulePlanner,
    Run,
    Simulated,
    Team,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
)
from planexec_lite.events import JudgeStarted, StepDone, StepFailed, StepSkipped, StepStarted
from planexec_lite.meter import charge, now
from tests.core.shapes import (
    Job,
    Portions,
    Workshop,
    check_fold,
    check_order,
    check_replay,
    greedy,
    jobs,
    plan_of,
    step,
)
from tests.rounds import rounds

Failure = Literal["skip", "stop"]
failures = st.sampled_from(["skip", "stop"])
slots_or_none = st.integers(1, 5) | st.none()


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def check_lawful(run: Run, made: Sequence[Job], workshop: Workshop, failure: Failure) -> None:
    """What holds of every run on every kind of workers, whatever the order of things."""
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
    if failure == "skip":
        assert state == expected_states(made)


def expected_states(made: Sequence[Job]) -> dict[str, str]:
    states: dict[str, str] = {}
    while len(states) < len(made):
        for job in made:
            if job.id not in states and all(id in states for id in job.waits_for):
                fine = all(states[id] == "done" for id in job.waits_for)
                states[job.id] = ("done" if job.works_out else "failed") if fine else "skipped"
    return {job.id: states[job.id] for job in made}


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


@rounds(60)
@given(jobs(most=8), failures, st.integers(1, 2))
def test_the_policys_retries_count_where_the_step_says_nothing(made: list[Job], failure: Failure, retries: int) -> None:
    workshop = Workshop()
    policy = Policy(failure=failure, retries=retries)
    run = execute(plan_of(made), ToolExecutor(workshop.toolbox), workers=Simulated(2), policy=policy)
    meant = [Job(job.id, job.waits_for, job.quarters, job.fails, job.retries or retries) for job in made]
    check_lawful(run, meant, workshop, failure)


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


USES = {"plain": (), "oven": ("heat",), "pan": ("heat", "water"), "sink": ("water",)}
# Everything at once, at random: failures, retries, timeouts, verdicts, limits, roles, replans, approvals.


class Chaos:
    """One tool under several names that does as it is told, each time it is called."""

    def __init__(self, takes: dict[str, list[int]], fails: dict[str, list[bool]]) -> None:
        self.takes, self.fails = takes, fails
        self.calls = Counter[str]()

    def tool(self, name: str) -> Tool:
        def work(name: str) -> str:
            turn = self.calls[name]
            self.calls[name] += 1
            takes, fails = self.takes.get(name, [1]), self.fails.get(name, [False])
            charge(takes[turn % len(takes)] / 4)
            if fails[turn % len(fails)]:
                raise RuntimeError(f"{name} went wrong")
            return f"{name}, time {turn + 1}"

        return Tool(work, name=name, uses=USES[name], effects="once" if name == "sink" else "none")

    @property
    def team(self) -> Any:
        by_role = {"a": ToolExecutor(Toolbox([self.tool("plain"), self.tool("oven")]))}
        return by_role | {"b": ToolExecutor(Toolbox([self.tool("pan"), self.tool("sink")]))}


NAMES = [f"{letter}{n}" for letter in "xyz" for n in range(5)]


@st.composite
def plans(draw: st.DrawFn, letter: str) -> Plan:
    steps: list[dict[str, Any]] = []
    for n in range(draw(st.integers(1, 5))):
        after = draw(st.lists(st.sampled_from([one["id"] for one in steps]), unique=True, max_size=2)) if steps else []
        more: dict[str, Any] = {"retries": draw(st.integers(0, 2))}
        if draw(st.integers(0, 3)) == 0:
            more["timeout"] = draw(st.sampled_from([0.3, 0.6, 1.0]))
        if draw(st.integers(0, 3)) == 0:
            more["success_criteria"] = "well done"
        if draw(st.integers(0, 7)) == 0:
            more["gate"] = True
        if draw(st.integers(0, 3)) == 0:
            more["effects"] = draw(st.sampled_from(["none", "idempotent", "once"]))
        name = f"{letter}{n}"
        steps.append(step(name, draw(st.sampled_from(tuple(USES))), *after, name=name, **more))
    complete = draw(st.integers(0, 4)) > 0
    return Plan.parse({"steps": draw(st.permutations(steps)), "complete": complete})


@rounds(300)
@given(
    made=st.tuples(plans("x"), plans("y"), plans("z")),
    takes=st.dictionaries(st.sampled_from(NAMES), st.lists(st.integers(0, 5), min_size=1, max_size=3)),
    fails=st.dictionaries(st.sampled_from(NAMES), st.lists(st.booleans(), min_size=1, max_size=3)),
    verdicts=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["accept", "retry", "replan"])),
    slots=st.sampled_from([1, 2, 3, None]),
    limits=st.dictionaries(st.sampled_from(["heat", "water", "sink"]), st.integers(1, 2)),
    hands=st.dictionaries(st.sampled_from("ab"), st.integers(1, 2)),
    policy=st.tuples(
        st.sampled_from(["skip", "stop"]), st.integers(0, 1), st.sampled_from(["never", "failure", "step", "stall"])
    ),
    approved=st.booleans(),
)
def test_whatever_goes_wrong_every_run_ends_and_keeps_to_the_rules(
    made: Any, takes: Any, fails: Any, verdicts: Any, slots: Any, limits: Any, hands: Any, policy: Any, approved: bool
) -> None:
    failure, retries, replan = policy
    replan = "failure" if (failure, replan) == ("stop", "stall") else replan
    rules = Policy(failure=failure, retries=retries, replan=replan, max_replans=2, max_rounds=4)
    runs = []
    for _ in range(2):
        chaos = Chaos(takes, fails)
        judge = RuleEvaluator(lambda step, result: Verdict(verdicts.get(step.id, "accept"), "so"))
        agent = PlannerExecutor(
            Portions(*made),
            Team(chaos.team, hands),
            ApproveAll() if approved else None,
            judge,
            Simulated(slots, limits),
            rules,
        )
        run = agent.run("work")
        while run.status == "paused":
            run = agent.resume(run, ApproveAll().review(Plan(), Board(), Toolbox()))  # type: ignore[arg-type]
        runs.append(run)
        check_fold(run)
        check_order(run, slots or 10**6)
        check_replay(run, rules)
        assert run.status in ("finished", "failed", "stopped")
        assert run.reason
        assert not run.board.in_flight
        started = Counter(event.step for event in run.events if isinstance(event, StepStarted))
        ended = Counter(event.step for event in run.events if isinstance(event, StepDone | StepFailed))
        assert started == ended == chaos.calls
        done = Counter(event.step for event in run.events if isinstance(event, StepDone))
        judged = Counter(event.step for event in run.events if isinstance(event, JudgeStarted))
        for id in run.results:
            assert done[id] >= 1
            assert done[id] <= max(1, judged[id])
        if failure == "skip" and run.status == "failed" and not run.board.problems:
            assert "waiting" not in run.board.state.values()
        if run.status == "finished":
            assert set(run.board.state.values()) <= {"done", "superseded"}
    assert runs[0].events == runs[1].events
