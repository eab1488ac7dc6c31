"""Approval is of a hash: edited plans, grants within bounds, gates just before their step, and people who are not there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    ApproveAll,
    AskPerson,
    Board,
    Decision,
    Grant,
    Inline,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.events import Paused, PlanProposed, Reviewed, StepStarted, from_dict, to_dict
from tests.core.shapes import Portions, check_fold, check_order, step
from tests.rounds import rounds


class World:
    """What was really done, in order; what is in `broken` fails every time, after it was done."""

    def __init__(self, *broken: str) -> None:
        self.broken, self.done = set(broken), list[str]()

    @property
    def executor(self) -> ToolExecutor:
        def do(what: str) -> str:
            self.done.append(what)
            if what in self.broken:
                raise RuntimeError(f"{what} is broken")
            return what

        @tool(latency=1.0, effects="none")
        def look(what: str) -> str:
            """Look at something."""
            return do(what)

        @tool(effects="idempotent")
        def write(what: str) -> str:
            """Write something."""
            return do(what)

        @tool(effects="once")
        def pay(what: str) -> str:
            """Pay for something."""
            return do(what)

        return ToolExecutor(Toolbox([look, write, pay]))


def look(id: str, *after: str, what: str = "", **more: Any) -> dict[str, Any]:
    return step(id, "look", *after, what=what or id, **more)


def write(id: str, *after: str, what: str = "", **more: Any) -> dict[str, Any]:
    return step(id, "write", *after, what=what or id, **more)


def pay(id: str, *after: str, what: str = "", **more: Any) -> dict[str, Any]:
    return step(id, "pay", *after, what=what or id, **more)


def plan(*steps: dict[str, Any], **more: Any) -> Plan:
    return Plan.parse({"goal": "work", "steps": list(steps), **more})


def agent(world: World, planner: Any, reviewer: Any = None, **policy: Any) -> PlannerExecutor:
    reviewer = AskPerson() if reviewer is None else reviewer
    policy = {"replan": "failure", "max_replans": 9, **policy}
    return PlannerExecutor(planner, world.executor, reviewer, workers=Simulated(), policy=Policy(**policy))


def check(run: Run) -> Run:
    check_fold(run)
    check_order(run)
    check_approved(run)
    return run


def check_approved(run: Run) -> None:
    """Nothing starts but by an approval: of the hash of the plan that stands, or by a grant that the event names."""
    board, approved = Board(), set[str]()
    for event in run.events:
        if isinstance(event, Reviewed) and event.verdict == "approve":
            approved.add(event.plan_hash)
        if isinstance(event, Reviewed) and event.verdict == "change":
            approved.discard(event.plan_hash)
        if isinstance(event, PlanProposed) and event.granted_by and event.plan is not None:
            approved.add(event.plan.hash)
        if isinstance(event, StepStarted):
            assert board.proposal is not None
            assert board.proposal.hash in approved
        board.apply(event)


# A person who is not there, and one who edits.


def test_where_a_person_decides_the_run_waits_for_every_plan_and_every_gate() -> None:
    world = World("1")
    one = agent(world, Portions(plan(look("1"), write("2", gate=True)), plan(look("1b"), write("2", gate=True))))
    run = one.run("work")
    seen = []
    while run.status == "paused":
        assert run.board.paused is not None
        seen.append((run.board.paused.reason, run.board.paused.step, list(world.done)))
        run = check(one.resume(run, Decision("approve", by="Ada")))
    assert seen == [
        ("approval", None, []),
        ("approval", None, ["1"]),
        ("gate", "2", ["1", "1b"]),
    ]
    assert (run.status, world.done) == ("finished", ["1", "1b", "2"])


def test_an_edited_plan_is_what_runs_and_what_is_approved() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"), pay("2", "1", what="dear"))))
    paused = one.run("work")
    edited = plan(look("1"), pay("2", "1", what="cheap"))
    run = check(one.resume(paused, Decision("approve", by="Ada", plan=edited, comment="too dear")))
    assert (run.status, world.done) == ("finished", ["1", "cheap"])
    (review,) = run.board.reviews
    assert (review.plan_hash, review.plan, review.by) == (edited.hash, edited, "Ada")
    assert paused.board.proposal is not None
    assert paused.board.proposal.hash not in run.board[Approvals].approved
    assert run.plan.to_json() == edited.to_json()


@pytest.mark.parametrize(
    ("edited", "code"),
    [
        (plan(look("1"), look("1")), "duplicate_id"),
        (plan(look("1", "2"), look("2", "1")), "cycle"),
        (plan(step("1", "fly", to="the moon")), "unknown_tool"),
        (plan(step("1", "look")), "missing_parameter"),
        (plan(look("1", what="{step_9_result}")), "dangling_reference"),
        (plan(look("1", "7")), "unknown_dependency"),
        (plan(), "empty_plan"),
        (plan(look("1"), rollback=[{"tool": "fly", "params": {}}]), "unknown_tool"),
        (plan(look("1"), answer="{step_9_result}"), "dangling_reference"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_invalid_edited_plan_is_rejected_before_anything_is_recorded(edited: Plan, code: str) -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"))))
    paused = one.run("work")
    before = list(paused.events)
    with pytest.raises(PlanError) as caught:
        one.resume(paused, Decision("approve", plan=edited))
    assert code in [problem.code for problem in caught.value.problems]
    assert (paused.events, world.done) == (before, [])
    assert one.resume(paused, Decision("approve")).status == "finished"


def test_a_rule_that_edits_a_plan_badly_is_told_so_and_nothing_runs() -> None:
    world = World()
    reviewer = ScriptedReviewer([Decision("approve", plan=plan(look("1", "7")))])
    with pytest.raises(PlanError, match="unknown_dependency"):
        agent(world, Portions(plan(look("1"))), reviewer).run("work")
    assert world.done == []


def test_an_edited_plan_that_is_the_same_is_no_edit() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"))))
    paused = one.run("work")
    run = check(one.resume(paused, Decision("approve", plan=plan(look("1")))))
    assert run.board.reviews[0].plan is None
    assert run.status == "finished"


def test_a_half_done_plan_may_be_edited_and_its_done_steps_stay_as_they_are() -> None:
    world = World("2")
    one = agent(world, Portions(plan(look("1"), look("2", "1")), plan(look("3", "1"))), max_replans=1)
    run = one.resume(one.run("work"), Decision("approve"))
    assert (run.status, world.done) == ("paused", ["1", "2"])
    assert run.board.done == ("1",)
    with pytest.raises(PlanError, match="done_already"):
        one.resume(run, Decision("approve", plan=plan(look("1", what="other"), look("3", "1"))))
    edited = plan(look("1"), write("4", "1", what="{step_1_result}"))
    end = check(one.resume(run, Decision("approve", plan=edited)))
    assert (end.status, world.done) == ("finished", ["1", "2", "1"])
    assert end.results == {"1": "1", "4": "1"}
    assert end.board.state["2"] == "superseded"


def test_at_a_gate_the_rest_may_be_edited_too_and_other_gates_still_ask() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"), pay("2", "1", gate=True), pay("3", "2", gate=True))))
    at_gate = one.resume(one.run("work"), Decision("approve"))
    assert at_gate.reason == "waits for gate of step 2"
    edited = plan(look("1"), pay("2", "1", what="less", gate=True), pay("3", "2", gate=True))
    run = check(one.resume(at_gate, Decision("approve", plan=edited)))
    assert (run.status, run.reason, world.done) == ("paused", "waits for gate of step 3", ["1", "less"])
    end = check(one.resume(run, Decision("approve")))
    assert (end.status, world.done) == ("finished", ["1", "less", "3"])


def test_a_plan_that_a_person_empties_ends_the_run_where_something_is_done() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"), pay("2", "1", gate=True))))
    at_gate = one.resume(one.run("work"), Decision("approve"))
    run = check(one.resume(at_gate, Decision("approve", plan=plan(look("1")))))
    assert (run.status, world.done) == ("finished", ["1"])


def test_a_gate_that_a_person_edits_away_is_gone_and_one_that_is_added_asks() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"), pay("2", gate=True))))
    run = check(one.resume(one.run("work"), Decision("approve", plan=plan(look("1", gate=True), pay("2")))))
    assert run.reason == "waits for gate of step 1"
    assert world.done == []
    assert one.resume(run, Decision("approve")).status == "finished"


def test_an_edit_needs_no_planner() -> None:
    world = World()
    paused = execute(plan(look("1"), pay("2", "1", gate=True)), world.executor, workers=Simulated())
    one = PlannerExecutor(None, world.executor, workers=Simulated())
    run = check_run_without_reviewer(one.resume(paused, Decision("approve", plan=plan(look("1"), write("2", "1")))))
    assert (run.status, world.done) == ("finished", ["1", "2"])


def check_run_without_reviewer(run: Run) -> Run:
    check_fold(run)
    check_order(run)
    return run


@pytest.mark.parametrize("verdict", ["reject", "change"])
def test_an_edited_plan_or_a_grant_goes_with_an_approval_only(verdict: Any) -> None:
    with pytest.raises(ValueError, match="go with 'approve'"):
        Decision(verdict, plan=plan(look("1")))
    with pytest.raises(ValueError, match="go with 'approve'"):
        Decision(verdict, grant=Grant(1))
    with pytest.raises(ValueError, match="a reviewer says"):
        Decision("maybe")  # type: ignore[arg-type]


def test_a_paused_run_may_be_resumed_twice_in_two_ways() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"))))
    paused = one.run("work")
    yes = check(one.resume(paused, Decision("approve")))
    no = check(one.resume(paused, Decision("reject", comment="no")))
    assert (yes.status, no.status, paused.status) == ("finished", "stopped", "paused")
    assert world.done == ["1"]


def test_a_run_that_was_written_down_and_read_again_goes_on() -> None:
    world = World()
    one = agent(world, Portions(plan(look("1"), pay("2", "1", gate=True))))
    paused = one.resume(one.run("work"), Decision("approve", grant=Grant(2)))
    again = Run([from_dict(to_dict(event)) for event in paused.events])
    assert again.board == paused.board
    assert check(one.resume(again, Decision("approve"))).status == "finished"
    assert world.done == ["1", "2"]


# Grants.


def granting(bound: int, *more: Any) -> ScriptedReviewer:
    return ScriptedReviewer([Decision("approve", by="Ada", grant=Grant(bound)), *more])


def test_within_a_grant_a_replan_runs_unasked_and_says_whose_grant_it_was() -> None:
    world = World("1")
    run = agent(world, Portions(plan(look("1"), look("2", "1")), plan(look("1b"), look("2", "1b"))), granting(2)).run(
        "x"
    )
    check(run)
    assert (run.status, world.done) == ("finished", ["1", "1b", "2"])
    assert [event.granted_by for event in run.events if isinstance(event, PlanProposed)] == ["", "Ada"]
    assert len(run.board.reviews) == 1


def test_without_a_grant_a_replan_asks_again() -> None:
    world = World("1")
    run = agent(world, Portions(plan(look("1")), plan(look("1b"))), ScriptedReviewer(["approve"])).run("x")
    check(run)
    assert (run.status, run.reason, world.done) == ("paused", "waits for approval", ["1"])


FIRST = plan(look("1"), look("2", "1"), write("3", "2"), rollback=[{"tool": "write", "params": {"what": "back"}}])
BEYOND = {
    "too many new steps": plan(look("1b"), look("1c"), look("1d"), look("2", "1b")),
    "another tool": plan(pay("1b", effects="none")),
    "may be done only once": plan(pay("1b")),
    "says once": plan(look("1b", effects="once")),
    "a gate of its own": plan(look("1b", gate=True)),
    "an undo by another tool": plan(look("1b", undo={"tool": "pay", "params": {"what": "x"}})),
    "a rollback by another tool": plan(look("1b"), rollback=[{"tool": "pay", "params": {"what": "x"}}]),
    "without a tool": plan(step("1b", None, description="do whatever it takes")),
}


@pytest.mark.parametrize("name", BEYOND)
def test_beyond_the_bounds_of_a_grant_the_reviewer_is_asked(name: str) -> None:
    world = World("1")
    run = agent(world, Portions(FIRST, BEYOND[name]), granting(2)).run("x")
    check(run)
    assert (run.status, run.reason, world.done) == ("paused", "waits for approval", ["1"])


def test_what_the_approved_plan_did_itself_is_not_new() -> None:
    world = World("2")
    first = plan(pay("1"), look("2"), write("3", "1", "2"))
    run = agent(world, Portions(first, plan(pay("1"), look("2b"), write("3", "1", "2b"))), granting(2)).run("x")
    check(run)
    assert (run.status, world.done) == ("finished", ["1", "2", "2b", "3"])


def test_a_grant_is_used_up_by_small_steps() -> None:
    world = World("1", "2", "3", "4")
    plans = [plan(look(str(n))) for n in range(1, 8)]
    run = agent(world, Portions(*plans), granting(2)).run("x")
    check(run)
    assert (run.status, world.done) == ("paused", ["1", "2", "3"])
    assert run.reason == "waits for approval"


def test_a_grant_is_used_up_by_portions_of_a_plan() -> None:
    world = World()
    portions = [plan(look(str(n)), complete=False) for n in range(1, 9)]
    run = agent(world, Portions(*portions), granting(3), replan="never").run("x")
    check(run)
    assert (run.status, world.done) == ("paused", ["1", "2", "3", "4"])


def test_a_new_step_under_a_used_id_counts_as_new_again() -> None:
    world = World("a", "b", "c", "d", "e")
    plans = [plan(look("1", what=what)) for what in "abcdef"]
    run = agent(world, Portions(*plans), granting(2)).run("x")
    check(run)
    assert (run.status, world.done) == ("paused", ["a", "b", "c"])


def test_a_grant_of_no_new_steps_lets_only_fewer_of_the_approved_ones_through() -> None:
    world = World("2")
    first = plan(look("1"), look("2"), look("3", "1", "2"), look("4", "1"))
    fewer = agent(world, Portions(first, plan(look("4", "1")).changed(supersedes=("2",))), granting(0)).run("x")
    check(fewer)
    assert fewer.status == "finished"
    changed = agent(
        World("2"), Portions(first, plan(look("3", "1"), look("4", "1")).changed(supersedes=("2",))), granting(0)
    ).run("x")
    check(changed)
    assert changed.status == "paused"


def test_what_stood_behind_a_gate_does_not_run_without_one_under_a_grant() -> None:
    world = World("1")
    first = plan(look("1"), write("2", "1", gate=True))
    run = agent(world, Portions(first, plan(look("1b"), write("2", "1b"))), granting(9)).run("x")
    check(run)
    assert run.status == "paused"
    assert "2" not in world.done


def test_a_change_that_was_asked_for_is_shown_before_it_runs() -> None:
    world = World()
    first = plan(look("1"), write("2", "1", gate=True))
    reviewer = granting(9, Decision("change", by="Ada", comment="not there"))
    run = agent(world, Portions(first, plan(look("1"), look("3", "1"))), reviewer).run("x")
    check(run)
    assert (run.status, run.reason, world.done) == ("paused", "waits for approval", ["1"])


def test_what_may_be_done_only_once_is_not_tried_a_second_time_under_a_grant() -> None:
    world = World("2")
    first = plan(look("1"), pay("2", "1"), look("3", "2"))
    run = agent(world, Portions(first, plan(pay("2", "1"), look("4", "2"))), granting(9)).run("x")
    check(run)
    assert (run.status, world.done) == ("paused", ["1", "2"])


def test_a_grant_counts_from_when_it_is_given() -> None:
    world = World("1", "2", "3", "4", "5")
    plans = [plan(look(str(n))) for n in range(1, 8)]
    reviewer = ScriptedReviewer(["approve", "approve", Decision("approve", grant=Grant(2))])
    run = agent(world, Portions(*plans), reviewer).run("x")
    check(run)
    assert (run.status, world.done) == ("paused", ["1", "2", "3", "4", "5"])


def test_a_grant_ends_with_the_next_decision_about_a_plan() -> None:
    world = World("1", "1b", "1c")
    plans = [plan(look("1")), plan(look("1b"), look("x1"), look("x2")), plan(look("1c"))]
    run = agent(world, Portions(*plans), granting(1, "approve")).run("x")
    check(run)
    assert run.status == "paused"
    assert "1c" not in world.done


def test_a_grant_at_a_gate_counts_from_there() -> None:
    world = World("3")
    first = plan(look("1"), write("2", "1", gate=True), look("3", "2"))
    later = plan(look("3b", "2"))
    reviewer = ScriptedReviewer(["approve", Decision("approve", grant=Grant(1))])
    run = agent(world, Portions(first, later), reviewer).run("x")
    check(run)
    assert (run.status, world.done) == ("finished", ["1", "2", "3", "3b"])


def test_a_grant_that_comes_with_an_edited_plan_is_about_the_edited_plan() -> None:
    world = World("1")
    edited = plan(look("1"))
    decision = Decision("approve", by="Ada", plan=edited, grant=Grant(1))
    one = agent(
        world, Portions(plan(look("1"), pay("2")), plan(pay("2")), plan(look("1b"))), ScriptedReviewer([decision])
    )
    run = check(one.run("x"))
    assert (run.status, run.reason, world.done) == ("paused", "waits for approval", ["1"])


def test_a_reviewer_who_grants_everything_does_not_keep_a_run_going_for_ever() -> None:
    world = World(*(str(n) for n in range(100)))
    plans = [plan(look(str(n))) for n in range(100)]
    run = agent(world, Portions(*plans), granting(10**6), max_replans=5).run("x")
    check(run)
    assert (run.status, len(world.done)) == ("failed", 6)


# Gates.


def test_a_gate_opens_once_for_one_plan() -> None:
    world = World("3")
    first = plan(write("2", gate=True), look("3", "2"), write("4", "3", gate=True))
    reviewer = ScriptedReviewer(["approve", "approve", "approve"])
    run = agent(world, Portions(first, plan(look("3b"), write("4", "3b", gate=True))), reviewer).run("x")
    check(run)
    assert (run.status, run.reason, world.done) == ("paused", "waits for gate of step 4", ["2", "3", "3b"])


def test_a_gate_asks_just_before_its_step_when_nothing_else_is_on_its_way() -> None:
    world = World()
    first = plan(look("1"), look("2", "1"), write("3", gate=True), look("4", "2"))
    run = agent(world, Portions(first), ScriptedReviewer(["approve"])).run("x")
    check(run)
    place = next(n for n, event in enumerate(run.events) if isinstance(event, Paused) and event.reason == "gate")
    board = Board.of(run.events[:place])
    assert not board.in_flight
    assert "3" not in world.done


def test_behind_a_closed_gate_nothing_runs_and_a_rejection_ends_the_run() -> None:
    world = World()
    first = plan(write("1", gate=True), look("2", "1"))
    run = agent(world, Portions(first), ScriptedReviewer(["approve", Decision("reject", "Ada", "no")])).run("x")
    check(run)
    assert (run.status, world.done) == ("stopped", [])
    assert "Ada" in run.reason


# At random: a planner without manners, and a reviewer who grants.

TOOLS = st.sampled_from(["look", "write", "pay"])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    steps: list[dict[str, Any]] = []
    for id in draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=4)):
        after = draw(st.lists(st.sampled_from([one["id"] for one in steps]), unique=True, max_size=1)) if steps else []
        more: dict[str, Any] = {"gate": True} if draw(st.integers(0, 5)) == 0 else {}
        steps.append(step(id, draw(TOOLS), *after, what=draw(st.sampled_from("uvwxyz")), **more))
    return plan(*steps)


@rounds(250)
@given(
    st.lists(plans(), min_size=1, max_size=6),
    st.sets(st.sampled_from("uvwxyz")),
    st.lists(st.sampled_from(["approve", "grant 0", "grant 1", "grant 2", "change", "stay"]), max_size=8),
    st.sampled_from(["failure", "step", "stall"]),
)
def test_nothing_ever_runs_that_was_neither_approved_nor_granted(
    made: list[Plan], broken: set[str], words: list[str], replan: str
) -> None:
    world = World(*broken)
    decisions = [
        Decision("approve", grant=Grant(int(word[-1]))) if word.startswith("grant") else Decision(word)  # type: ignore[arg-type]
        for word in words
        if word != "stay"
    ]
    run = agent(world, Portions(*made), ScriptedReviewer(decisions), replan=replan, max_replans=4, max_rounds=6).run(
        "x"
    )
    check(run)
    assert run.status in ("finished", "failed", "stopped", "paused")
    seen, bound, spent = list[Any](), 0, list[Any]()
    board = Board()
    for event in run.events:
        board.apply(event)
        if isinstance(event, Reviewed):
            if event.step is None or event.verdict == "change":
                seen, bound, spent = [], -1, []
            if event.grant is not None:
                seen, bound, spent = list(board.plan.steps), event.grant.new_steps, []
        if isinstance(event, PlanProposed) and event.granted_by:
            assert event.plan is not None
            assert bound >= 0
            new = [one for one in event.plan.steps if one not in seen]
            assert len(new) <= bound
            for one in new:
                assert one.tool != "pay"
                assert not one.gate
                assert one.tool in {step.tool for step in seen}
        if isinstance(event, StepStarted) and bound >= 0 and board.steps[event.step] not in [*seen, *spent]:
            if event.attempt == 1 and not (board.reviews and board.reviews[-1].plan_hash == board.proposal.hash):  # type: ignore[union-attr]
                spent.append(board.steps[event.step])
            assert len(spent) <= bound, "more new steps than were granted"


@pytest.mark.parametrize("workers", [Simulated(), Inline()])
def test_approve_all_opens_everything(workers: Any) -> None:
    world = World()
    one = PlannerExecutor(
        Portions(plan(look("1", gate=True), pay("2", gate=True))), world.executor, ApproveAll(), workers=workers
    )
    assert one.run("x").status == "finished"


def test_a_yes_to_the_plan_that_is_given_twice_opens_no_gate() -> None:
    plan = Plan.parse([{"id": "1", "tool": "look", "params": {}, "depends_on": [], "gate": True}])
    looked: list[str] = []

    @tool(effects="none")
    def look() -> str:
        looked.append("here")
        return "fine"

    agent = PlannerExecutor(RulePlanner(lambda goal: plan), ToolExecutor(Toolbox([look])), AskPerson())
    yes = Decision("approve", of=agent.run("look").plan.hash)
    at_gate = agent.resume(agent.run("look"), yes)
    assert at_gate.board.paused is not None
    assert at_gate.board.paused.reason == "gate"
    with pytest.raises(ValueError, match="opens no gate"):
        agent.resume(at_gate, yes)
    assert looked == []
    assert agent.resume(at_gate, Decision("approve", by="you")).status == "finished"
    assert looked == ["here"]


@pytest.mark.parametrize("destructive", [False, True])
def test_a_grant_covers_no_new_step_that_may_delete_something(destructive: bool) -> None:
    done: list[str] = []

    def clean(what: str) -> str:
        """Clean something."""
        done.append(what)
        return what

    tools = Toolbox([Tool(clean, effects="idempotent", destructive=destructive)])
    plans = iter([{"steps": [step("1", "clean", what="a")], "complete": False}, [step("2", "clean", what="b")]])
    reviewer = ScriptedReviewer([Decision("approve", grant=Grant(new_steps=5))])
    run = PlannerExecutor(RulePlanner(lambda goal: next(plans)), ToolExecutor(tools), reviewer).run("clean")
    assert (run.status, done) == (("paused", ["a"]) if destructive else ("finished", ["a", "b"]))


def test_a_grant_covers_a_step_that_may_delete_something_and_was_approved() -> None:
    look = Tool(lambda: "x", name="look", effects="none")
    tools = Toolbox([look, Tool(lambda: "y", name="clean", destructive=True)])
    first = {"steps": [step("1", "look"), step("2", "clean", "1")], "complete": False}
    reviewer = ScriptedReviewer([Decision("approve", grant=Grant(new_steps=5))])
    news = iter(["hurry"])

    def watch(run: Run) -> None:
        if run.board.in_flight == {"1"}:
            run.inbox.extend(news)

    plans = iter([first, [step("2", "clean", "1"), step("3", "look", "2")]])
    planner = RulePlanner(lambda goal: next(plans))
    run = PlannerExecutor(planner, ToolExecutor(tools), reviewer, watch=watch).run("clean")
    assert (run.status, run.board.done, len(run.board.reviews)) == ("finished", ("1", "2", "3"), 1)
