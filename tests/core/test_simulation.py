"""The virtual clock against a simulation written by somebody else: 10,000 random plans, to the millisecond and to the byte."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    ApproveAll,
    Board,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    RulePlanner,
    Simulated,
    Team,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
)
from planexec_lite.events import JudgeStarted, StepDone, StepFailed, StepStarted
from planexec_lite.meter import charge, now
from tests.core.shapes import Portions, check_fold, check_order, check_replay, starts, step
from tests.core.simulating import LATENCIES, USES, Piece, Shop, at_random, carried_out, simulate, written
from tests.rounds import rounds

ROOT = Path(__file__).parents[2]


def compare(shop: Shop) -> None:
    run = carried_out(shop)
    end, begun = simulate(shop)
    assert run.status == "finished"
    assert run.makespan == end / 1000
    assert starts(run) == [(id, at / 1000) for id, at in begun]


def test_the_other_simulation_knows_the_easy_cases() -> None:
    chain = Shop((Piece("b", ("a",), "plain", 200), Piece("a", (), "plain", 100)), None, {})
    assert simulate(chain) == (300, [("a", 0), ("b", 100)])
    two_pans = (Piece("a", (), "pan", 100), Piece("b", (), "oven", 100), Piece("c", (), "plain", 50))
    assert simulate(Shop(two_pans, None, {"heat": 1})) == (200, [("a", 0), ("c", 0), ("b", 100)])
    assert simulate(Shop(two_pans, 1, {})) == (250, [("a", 0), ("b", 100), ("c", 200)])


@pytest.mark.weekly
def test_ten_thousand_random_plans_take_as_long_as_the_other_simulation_says() -> None:
    sizes = Counter[int]()
    for seed in range(10_000):
        shop = at_random(seed)
        sizes[len(shop.pieces)] += 1
        compare(shop)
    assert min(sizes) == 1
    assert max(sizes) == 30


@pytest.mark.slow
def test_a_few_hundred_random_plans_take_as_long_as_the_other_simulation_says() -> None:
    for seed in range(10_000, 10_400):
        compare(at_random(seed))


@st.composite
def shops(draw: st.DrawFn) -> Shop:
    pieces: list[Piece] = []
    for n in range(draw(st.integers(1, 12))):
        after = draw(st.lists(st.sampled_from(pieces), unique=True, max_size=3)) if pieces else []
        tool, takes = draw(st.sampled_from(tuple(USES))), draw(st.sampled_from(LATENCIES))
        pieces.append(Piece(str(n), tuple(piece.id for piece in after), tool, takes))
    names = st.sampled_from(["heat", "water", *USES])
    limits = draw(st.dictionaries(names, st.integers(1, 3), max_size=3))
    return Shop(tuple(draw(st.permutations(pieces))), draw(st.sampled_from([1, 2, 3, 4, 5, None])), limits)


@rounds(300)
@given(shops())
def test_any_plan_takes_as_long_as_the_other_simulation_says(shop: Shop) -> None:
    compare(shop)


@rounds(40)
@given(shops())
def test_a_simulated_run_is_lawful_and_the_same_every_time(shop: Shop) -> None:
    run = carried_out(shop)
    check_fold(run)
    check_order(run, shop.slots or 10**6)
    assert written(carried_out(shop)) == written(run)


@pytest.mark.slow
def test_the_same_bytes_of_events_in_other_processes_under_other_hash_seeds() -> None:
    def printed(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.core.simulating"]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=True
        ).stdout

    one, other = printed("0"), printed("4711")
    assert len(one.splitlines()) == 300
    assert len({line.split()[1] for line in one.splitlines()}) > 290
    assert one == other


def test_many_small_latencies_add_up_without_an_error_of_rounding() -> None:
    pieces = tuple(Piece(str(n), (str(n - 1),) if n else (), "plain", 100) for n in range(1000))
    assert carried_out(Shop(pieces, None, {})).makespan == 100.0


def test_a_step_that_takes_no_time_leaves_its_slot_at_the_same_instant() -> None:
    pieces = tuple(Piece(str(n), (), "plain", 0) for n in range(5))
    run = carried_out(Shop(pieces, 1, {}))
    assert run.makespan == 0.0
    kinds = [type(event) for event in run.events if isinstance(event, StepStarted | StepDone)]
    assert kinds == [StepStarted, StepDone] * 5


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
    assert written(runs[0]) == written(runs[1])


def test_a_tool_may_ask_for_the_time_of_the_run() -> None:
    def tell(wait: float) -> float | None:
        """Say what time it is after some seconds."""
        charge(seconds=wait)
        return now()

    tools = Toolbox([Tool(tell, effects="none")])
    steps = [
        {"id": "1", "tool": "tell", "params": {"wait": 3}},
        {"id": "2", "tool": "tell", "params": {"wait": 4}, "depends_on": ["1"]},
    ]
    run = execute(Plan.parse(steps), ToolExecutor(tools), workers=Simulated(1))
    assert run.results == {"1": 3.0, "2": 7.0}
    assert now() is None
    assert execute(Plan.parse(steps), ToolExecutor(tools)).results == {"1": None, "2": None}


def test_a_nested_run_has_the_time_of_the_run_around_it() -> None:
    def tell(wait: float) -> float | None:
        """Say what time it is after some seconds."""
        charge(seconds=wait)
        return now()

    step = {"tool": "tell", "params": {"wait": 2}, "depends_on": []}
    inner = PlannerExecutor(
        RulePlanner(lambda goal: [step | {"id": "a"}]),
        ToolExecutor(Toolbox([Tool(tell, effects="none")])),
        workers=Simulated(1),
    )
    tasks = [{"id": "1", "description": "first"}, {"id": "2", "description": "second", "depends_on": ["1"]}]
    outer = PlannerExecutor(RulePlanner(lambda goal: tasks), inner, workers=Simulated(1)).run("twice")
    assert list(outer.results.values()) == [2.0, 4.0]
