"""A gate before an undo: after a rejection the rollback continues without the call. And rollbacks of random runs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views.narration import trace
from planexec_lite import Backoff, Board, Breaker, Decision, Plan, Policy, Run, Simulated, Toolbox
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.events import RollbackStarted, UndoStarted
from tests.capabilities.scaffold import Site, broken, check_rollback, told, up
from tests.core.shapes import Job, check_fold, check_replay, jobs
from tests.rounds import rounds


def asked(id: str, *after: str, **more: Any) -> dict[str, Any]:
    one = up(id, *after, **more)
    return one | {"undo": one["undo"] | {"gate": True}}


def paused(site: Site, *steps: dict[str, Any], **more: Any) -> Run:
    run = site.run(*(steps or (asked("a"), up("b", "a"), asked("c", "b"), broken("d", "c"))), **more)
    assert run.status == "paused"
    return run


def decided(site: Site, run: Run, decision: Decision) -> Run:
    run = site.agent().resume(run, decision)
    check_fold(run)
    return run


NO = Decision("reject", "Ada", "the neighbours watch")


def test_after_a_rejected_undo_the_others_follow_and_the_step_is_named() -> None:
    site = Site()
    run = paused(site, asked("a"), up("b", "a"), broken("c", "b"), rollback=[up("a")["undo"]])
    run = decided(site, run, NO)
    assert (run.status, site.standing) == ("rolled back", ["a"])
    assert run.reason.endswith("undone: b; not undone: a (Ada rejected it: the neighbours watch)")
    assert "Ada rejects the undo of step a: the neighbours watch" in trace(run)


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        *((Decision("approve", gate=gate), "this run waits before the undo of step c") for gate in ("c", "undo a")),
        (Decision("change", comment="plan it otherwise"), "approve.*this call"),
        (Decision("approve", plan=Plan()), "approve.*this call"),
    ],
)
def test_a_decision_about_something_else_is_rejected(decision: Decision, words: str) -> None:
    site = Site()
    run = paused(site)
    with pytest.raises(ValueError, match=words):
        decided(site, run, decision)
    assert decided(site, run, Decision("approve", gate="undo c")).reason == "waits before the undo of step a"


class Person:
    """Approves plans and gates, and rejects the undos in `refuses`."""

    def __init__(self, refuses: set[str]) -> None:
        self.refuses = refuses

    def review(self, plan: Plan, board: Board, tools: Any) -> Decision:
        gate = (board.paused.gate if board.paused else None) or ""
        refused = gate.startswith("undo ") and gate.removeprefix("undo ") in self.refuses
        return Decision("reject" if refused else "approve")


def steps_of(draw: st.DrawFn, made: list[Job], prefix: str) -> list[dict[str, Any]]:
    """Return steps with undos; some steps and undos have gates, and some run anyway."""
    some = st.integers(0, 3).map(lambda n: n == 0)
    steps = []
    for job in made:
        waits_for = [prefix + id for id in job.waits_for]
        one = up(prefix + job.id, *waits_for, fails=job.fails, quarters=job.quarters, retries=job.retries)
        undo = None if draw(some) else one["undo"] | {"gate": draw(some)}
        steps.append(one | {"undo": undo, "gate": draw(some), "run_anyway": draw(some)})
    return steps


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[dict[str, Any]]], Policy, int | None, dict[str, int], set[str], set[str]]:
    plans = [steps_of(draw, draw(jobs(6)), prefix) for prefix in ("", "r", "s")]
    policy = Policy(
        failure=draw(st.sampled_from(["skip", "stop"])),
        retries=draw(st.integers(0, 1)),
        replan=draw(st.sampled_from(["never", "failure"])),
        max_replans=draw(st.integers(0, 2)),
        rollback=draw(st.sampled_from(["never", "failed", "unfinished"])),
        backoff=draw(st.sampled_from([None, Backoff(0.5), Backoff(3.0)])),
        breaker=draw(st.sampled_from([None, Breaker(1, 0.5), Breaker(2, 5.0)])),
        deadline=draw(st.sampled_from([None, None, 1.0, 2.5, 6.0])),
    )
    ids = [one["id"] for plan in plans for one in plan]
    refuses, stuck = (set(draw(st.lists(st.sampled_from(ids), max_size=3))) for _ in range(2))
    limits = draw(st.sampled_from([{}, {"put_up": 1}, {"put_up": 2}]))
    return plans, policy, draw(st.sampled_from([None, 1, 3])), limits, refuses, stuck


@given(cases())
@rounds(300)
def test_in_random_runs_each_step_with_a_result_is_undone_or_named(drawn: Any) -> None:
    plans, policy, slots, limits, refuses, stuck = drawn
    site = Site(" ".join(stuck))
    agent = site.agent(*plans, reviewer=Person(refuses), workers=Simulated(slots, limits=limits), policy=policy)
    run = agent.run("build")
    if any(isinstance(event, RollbackStarted) for event in run.events):
        check_replay(run, policy)
    else:
        run = agent.roll_back(run)
    check_fold(run)
    begun = next(place for place, event in enumerate(run.events) if isinstance(event, RollbackStarted))
    undo = {one["id"]: one["undo"] for plan in plans for one in plan if one["undo"]}
    left_out = {id for id in refuses if undo.get(id, {}).get("gate")}
    before = run.events[:begun]
    doubted = {id for id, attempts in Board.of(before)[Doubt].attempts.items() if attempts}
    site.standing = [id for id in site.standing if id not in doubted]
    run.board[Rollback].remains = [(id, why) for id, why in run.board[Rollback].remains if id not in doubted]
    check_rollback(run, site, undo.keys() - left_out, before)
    assert not left_out & set(told(run, UndoStarted))
    asked_about = [one.step for one in run.board.reviews if (one.step or "").startswith("undo ")]
    wanted = [label for label in told(run, UndoStarted) if undo[label]["gate"]]
    assert [gate for gate in asked_about if gate.removeprefix("undo ") not in left_out] == [
        f"undo {id}" for id in wanted
    ]
    assert run.status == "rolled back"


@pytest.mark.parametrize("reviewer", [None, ["approve"]], ids=["none", "a reviewer"])
def test_a_planner_that_changes_an_undo_in_place_opens_no_gate(reviewer: Any) -> None:
    class Hostile:
        """A planner that changes the completed plan in place when it plans again."""

        plans = 0

        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            self.plans += 1
            if self.plans == 1:
                return Plan.parse([asked("a"), broken("b", "a")])
            for step in (board.steps["a"], board[WorkDone].completed[1].step):
                vars(step.undo)["gate"] = False
            return Plan.parse([broken("c")])

    site = Site()
    policy = Policy(rollback="failed", replan="failure", max_replans=1)
    run = site.agent(Hostile(), reviewer=reviewer, policy=policy).run("go")
    assert (run.status, run.reason) == ("paused", "waits before the undo of step a")
    assert site.standing == ["a"]
