"""Approval: no step runs without it, it covers one hash; a gate asks right before its step; a grant has bounds."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import AskPerson, Board, Decision, Grant, Plan, PlanError, Run, Tool
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.run.events import PlanProposed, Reviewed, StepStarted
from tests.core.agents import Fitting, agent_for, carry_out
from tests.core.shapes import Portions, check_fold, check_order, step
from tests.core.world import World
from tests.rounds import rounds


def act(tool: str, id: str, *after: str, name: str = "", **more: Any) -> dict[str, Any]:
    return step(id, tool, *after, name=name or id, **more)


look, write, pay = (partial(act, tool) for tool in ("look", "put", "pay"))


def plan(*steps: dict[str, Any], **more: Any) -> Plan:
    return Plan.parse({"goal": "work", "steps": list(steps), **more})


def agent(world: World, planner: Any, reviewer: Any = None, **policy: Any) -> Any:
    policy = {"replan": "failure", "max_replans": 9, **policy}
    return agent_for(world.tools, planner, reviewer=reviewer or AskPerson(), **policy)


def check(run: Run) -> Run:
    check_fold(run)
    check_order(run)
    check_approved(run)
    return run


def check_approved(run: Run) -> None:
    """Each step starts under an approval of the current plan's hash, or under a grant that the event names."""
    board, approved = Board(), set[str]()
    for event in run.events:
        if isinstance(event, Reviewed) and event.verdict == "approve":
            plan = event.plan or board.asked.plan
            approved |= set() if plan is None else {plan.hash}
        if isinstance(event, Reviewed) and event.verdict == "change":
            approved.clear()
        if isinstance(event, PlanProposed) and event.granted_by and event.plan is not None:
            approved.add(event.plan.hash)
        if isinstance(event, StepStarted):
            assert board.proposal.hash in approved
        board.apply(event)


def test_the_run_waits_for_a_person_at_each_plan_and_gate() -> None:
    world = World(broken=["1"])
    plans = plan(look("1"), write("2", "1", gate=True)), plan(look("1b"), write("2", "1b", gate=True), look("3"))
    one = agent(world, Portions(*plans))
    first = run = one.run("work")
    seen, before = [], list(first.events)
    while run.status == "paused":
        seen.append((run.board.paused.reason, run.board.paused.step, list(world.done)))
        run = check(one.resume(run, Decision("approve", by="Ada")))
    assert seen == [("approval", None, []), ("approval", None, ["1"]), ("gate", "2", ["1", "1b", "3"])]
    assert (run.status, world.done) == ("finished", ["1", "1b", "3", "2"])
    assert [(one.verdict, one.by, one.step) for one in run.board.reviews] == [
        ("approve", "Ada", step) for step in (None, None, "2")
    ]
    assert (first.status, first.events) == ("paused", before), "the run that was resumed stays as it was"
    with pytest.raises(ValueError, match="finished"):
        one.resume(run, Decision("approve"))


def test_a_requested_change_goes_to_the_planner_and_needs_a_new_approval() -> None:
    world, planner = World(), Portions(plan(write("1", name="production")), plan(write("1", name="staging")))
    one = agent(world, planner, [Decision("change", "Ada", "leave production alone")])
    run = check(one.run("clean"))
    assert (run.status, run.reason, world.done, planner.asked) == ("paused", "waits for approval", [], 2)
    assert planner.told[1] == ["change_asked"]
    assert one.resume(run, Decision("approve")).status == "finished"
    assert world.done == ["staging"]
    run = agent(world, planner, [Decision("change")], max_changes=0).run("clean")
    assert (run.status, "max_changes" in run.reason) == ("stopped", True)


def test_without_a_planner_a_change_is_refused_and_an_open_plan_stops() -> None:
    world = World()
    one = agent_for(world.tools)
    paused = carry_out(plan(look("1", gate=True)), world.tools)
    with pytest.raises(ValueError, match='Answer "approve", "reject"'):
        one.resume(paused, Decision("change", comment="not there"))
    with pytest.raises(ValueError, match="planner"):
        one.run("clean")
    with pytest.raises(ValueError, match="an edited plan and a grant answer a question about a plan"):
        one.resume(paused, Decision("approve", plan=plan(look("1", gate=True), write("2", "1"))))
    run = one.resume(paused, Decision("approve"))
    assert (run.status, world.done) == ("finished", ["1"])
    run = carry_out(plan(look("3"), complete=False), world.tools)
    assert (run.status, world.done[1:]) == ("stopped", ["3"])
    assert "no planner" in run.reason


@pytest.mark.parametrize(
    ("edited", "code"),
    [
        (plan(look("1", "2"), look("2", "1")), "cycle"),
        (plan(step("1", "fly", to="the moon")), "unknown_tool"),
        (plan(), "empty_plan"),
        (plan(look("1"), rollback=[{"tool": "fly", "params": {}}]), "unknown_tool"),
        (plan(look("1"), answer="{step_9_result}"), "dangling_reference"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("by", ["person", "rule"])
def test_an_invalid_edited_plan_is_rejected_before_anything_is_recorded(edited: Plan, code: str, by: str) -> None:
    world, decision = World(), Decision("approve", plan=edited)
    one = agent(world, Portions(plan(look("1"))), [decision] if by == "rule" else None)
    with pytest.raises(PlanError) as caught:
        one.resume(one.run("work"), decision)
    assert code in [problem.code for problem in caught.value.problems]
    run = caught.value.run if by == "rule" else one.run("work")  # type: ignore[attr-defined]
    assert (run.status, run.board.reviews, world.done) == ("paused", [], [])
    assert one.resume(run, Decision("approve")).status == "finished"


def test_the_rest_of_a_plan_can_be_edited_and_its_done_steps_stay() -> None:
    world = World(broken=["2"])
    one = agent(world, Portions(plan(look("1"), look("2", "1")), plan(look("3", "1"))), max_replans=1)
    run = one.resume(one.run("work"), Decision("approve"))
    assert (run.status, world.done) == ("paused", ["1", "2"])
    assert run.board.done == ("1",)
    with pytest.raises(PlanError, match="done_already"):
        one.resume(run, Decision("approve", plan=plan(look("1", name="other"), look("3", "1"))))
    edited = plan(look("1"), write("4", "1", name="{step_1_result}"))
    end = check(one.resume(run, Decision("approve", by="Ada", plan=edited)))
    assert (end.status, world.done) == ("finished", ["1", "2", "1"])
    assert end.results == {"1": "1", "4": "1"}
    assert (end.board.state["2"], end.plan.to_json()) == ("superseded", edited.to_json())
    review = end.board.reviews[-1]
    assert (review.by, review.about) == ("Ada", "the plan")
    assert run.board.proposal.hash not in end.board[Approvals].approved


def granting(bound: int, *more: Any) -> list[Any]:
    return [Decision("approve", by="Ada", grant=Grant(bound)), *more]


FIRST = plan(look("1"), look("2", "1"), write("3", "2"), rollback=[{"tool": "put", "params": {"name": "back"}}])
PAYS = {"tool": "pay", "params": {"name": "x"}}
ASKS: dict[str, tuple[Plan, Plan, int, str]] = {  # two plans, the approvals (or a grant), and the question
    "another step behind the same gate": (
        plan(write("2", gate=True, name="1")),
        plan(write("2", gate=True, name="production")),
        3,
        "the gate of step 2",
    ),
    "a gate that was approved for another step": (
        plan(look("1", gate=True), write("4", "1", gate=True)),
        plan(look("1b"), write("4", "1b", gate=True)),
        3,
        "the gate of step 4",
    ),
    "a step that had a gate": (
        plan(look("1"), write("2", "1", gate=True)),
        plan(look("1b"), write("2", "1b")),
        0,
        "approval",
    ),
    "an undo by another tool": (FIRST, plan(look("1b", undo=PAYS)), 0, "approval"),
    "a rollback by another tool": (FIRST, plan(look("1b"), rollback=[PAYS]), 0, "approval"),
    "without a tool": (FIRST, plan(step("1b", None, description="do whatever it takes")), 0, "approval"),
}


@pytest.mark.parametrize("name", ASKS)
def test_a_plan_that_no_approval_or_grant_covers_asks(name: str) -> None:
    first, second, approved, question = ASKS[name]
    world = World(broken=["1"])
    reviewer = ["approve"] * approved if approved else granting(2)
    run = check(agent(world, Portions(first, second), reviewer).run("x"))
    assert (run.status, run.reason) == ("paused", f"waits for {question}")
    assert [what for what in world.done if what != "1b"] == ["1"]


def test_within_a_grant_a_replan_runs_without_a_question() -> None:
    world = World(broken=["2"])
    plans = plan(pay("1"), look("2"), write("3", "1", "2")), plan(pay("1"), look("2b"), write("3", "1", "2b"))
    run = check(agent(world, Portions(*plans), granting(2)).run("x"))
    assert (run.status, world.done) == ("finished", ["1", "2", "2b", "3"])
    assert [event.granted_by for event in run.events if isinstance(event, PlanProposed)] == ["", "Ada"]
    assert len(run.board.reviews) == 1


def test_a_grant_covers_an_unchanged_step_beside_one_that_needs_care() -> None:
    world = World(broken=["1"])
    rest = (write("2", "1b"), write("3", effects="once"))
    first, second = plan(look("1"), look("1b"), *rest), plan(look("1c"), look("1b"), *rest)
    run = check(agent(world, Portions(first, second), granting(1)).run("x"))
    assert (run.status, len(run.board.reviews)) == ("finished", 1)


def test_a_grant_with_an_edited_plan_is_about_the_edited_plan() -> None:
    world, decision = World(broken=["1"]), Decision("approve", by="Ada", plan=plan(look("1")), grant=Grant(1))
    plans = Portions(plan(look("1"), pay("2")), plan(pay("2")), plan(look("1b")))
    run = check(agent(world, plans, [decision]).run("x"))
    assert (run.status, run.reason, world.done) == ("paused", "waits for approval", ["1"])


@pytest.mark.parametrize("edited", [True, 1.0, 2], ids=repr)
def test_a_change_to_a_value_that_python_calls_equal_is_an_edit(edited: object) -> None:
    seen: list[str] = []

    def put(x: bool | int | float) -> None:
        seen.append(repr(x))

    plans = [plan(step("put", "put", x=x)) for x in (1, edited)]
    one = agent_for([Tool(put, effects="idempotent")], plans[0], reviewer=AskPerson())
    runs = [one.resume(one.run("put"), Decision("approve", plan=each)) for each in plans]
    assert seen == ["1", repr(edited)]
    assert [run.board.reviews[-1].plan for run in runs] == [None, plans[1]]


def test_the_rollback_of_an_unapproved_plan_is_not_granted() -> None:
    world = World(broken=["0"])
    back = [{"tool": "put", "params": {"name": "x"}}]
    unseen = plan(*(look(f"n{n}") for n in range(4)), rollback=back)
    one = agent(world, Portions(plan(look("0")), unseen, plan(look("2"), rollback=back)), granting(1))
    run = one.tell(one.run("clean"), "hurry")
    assert (run.status, run.reason, world.done) == ("paused", "waits for approval", ["0"])


@pytest.mark.parametrize("says", ["approve", {"verdict": "approve"}, RuntimeError("out of office")], ids=repr)
def test_finished_work_is_kept_if_the_reviewer_fails_later(says: Any) -> None:
    class Late:
        def review(self, plan: Plan, board: Board, tools: Any) -> Any:
            if not board.reviews:
                return Decision("approve")
            if isinstance(says, Exception):
                raise says
            return says

    world = World(broken=["2"])
    one = agent(world, Portions(plan(look("1"), look("2")), plan(look("3"))), Late())
    with pytest.raises((TypeError, RuntimeError)) as problem:
        one.run("clean")
    run = problem.value.run  # type: ignore[attr-defined]
    assert (run.status, run.results, world.done) == ("paused", {"1": "1"}, ["1", "2"])
    assert one.resume(run, Decision("approve")).status == "finished"


TOOLS = st.sampled_from(["look", "put", "pay"])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    steps: list[dict[str, Any]] = []
    for id in draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=4)):
        after = draw(st.lists(st.sampled_from([one["id"] for one in steps]), unique=True, max_size=1)) if steps else []
        more: dict[str, Any] = {"gate": True} if draw(st.integers(0, 5)) == 0 else {}
        steps.append(step(id, draw(TOOLS), *after, name=draw(st.sampled_from("uvwxyz")), **more))
    return plan(*steps)


@rounds(250)
@given(
    st.lists(plans(), min_size=1, max_size=6),
    st.sets(st.sampled_from("uvwxyz")),
    st.lists(st.sampled_from(["approve", "grant 0", "grant 1", "grant 2", "change", "stay"]), max_size=8),
    st.sampled_from(["failure", "step", "stall"]),
)
def test_a_step_runs_only_if_it_was_approved_or_granted(
    made: list[Plan], broken: set[str], words: list[str], replan: str
) -> None:
    world = World(broken=broken)
    decisions = Fitting([word for word in words if word != "stay"])
    bounds: dict[str, Any] = {"replan": replan, "max_replans": 4, "max_rounds": 6}
    run = check(agent(world, Portions(*made), decisions, **bounds).run("x"))
    assert run.status in ("finished", "failed", "stopped", "paused")
    seen, bound, spent, approved = list[Any](), 0, list[Any](), set[str]()
    board = Board()
    for event in run.events:
        plan_asked = board.paused is not None and board.asked.plan is not None
        board.apply(event)
        if isinstance(event, Reviewed):
            approved = set() if event.verdict == "change" else approved
            if plan_asked and event.verdict == "approve":
                approved.add(board.proposal.hash)  # type: ignore[union-attr]
            if plan_asked or event.verdict == "change":
                seen, bound, spent = [], -1, []
            if event.grant is not None:
                seen, bound, spent = list(board.plan.steps), event.grant.new_steps, []
        if isinstance(event, PlanProposed) and event.granted_by:
            assert bound >= 0
            new = [one for one in event.plan.steps if one not in seen]
            assert len(new) <= bound
            for one in new:
                assert one.tool != "pay"
                assert not one.gate
                assert one.tool in {step.tool for step in seen}
        if isinstance(event, StepStarted) and bound >= 0 and board.steps[event.step] not in [*seen, *spent]:
            if event.attempt == 1 and board.proposal.hash not in approved:  # type: ignore[union-attr]
                spent.append(board.steps[event.step])
            assert len(spent) <= bound, "more new steps than were granted"


def test_a_decision_that_names_its_plan_opens_no_gate_and_no_other_plan() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1", gate=True)), plan(look("1", name="production"))))
    first, other = one.run("look"), one.run("look")
    yes = first.question.decide("approve", by="Ada")
    with pytest.raises(ValueError, match="answers another question; this run waits for approval"):
        one.resume(other, yes)
    with pytest.raises(ValueError, match="answers another question"):
        one.resume(other, Decision("approve", of=yes.of))
    at_gate = one.resume(first, yes)
    with pytest.raises(ValueError, match="answers another question; this run waits for the gate of step 1"):
        one.resume(at_gate, yes)
    assert world.done == []
    assert one.resume(at_gate, Decision("approve", by="you")).status == "finished"


@pytest.mark.parametrize("destructive", [False, True])
def test_a_grant_covers_no_new_destructive_step(destructive: bool) -> None:
    world = World()
    tools = [Tool(world.note, name="clean", effects="idempotent", destructive=destructive)]
    plans = {"steps": [step("1", "clean", name="a")], "complete": False}, [step("2", "clean", name="b")]
    run = agent_for(tools, *plans, reviewer=granting(5)).run("clean")
    assert (run.status, world.done) == ("paused", ["a"])  # the approved plan does not clean b
