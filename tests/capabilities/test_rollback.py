"""Rollback: each result is undone once, the latest first, and the run names each step that can't be undone, or may not."""

from typing import Any

import pytest

from planexec_lab.views.narration import trace
from planexec_lite import (
    Board,
    Decision,
    Plan,
    Policy,
    Run,
    Tool,
    Toolbox,
    execute,
)
from planexec_lite.assembly import decide
from planexec_lite.capabilities.rollback import RollbackStarted, not_undone
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core.questions import Question
from planexec_lite.meter import made_once
from planexec_lite.run import events as e
from tests.capabilities.scaffold import Site, broken, call, up
from tests.core.shapes import check_fold, step


@pytest.mark.parametrize(("when", "status"), [("unfinished", "rolled back"), ("failed", "stopped")])
def test_a_rejected_replan_rolls_back_if_the_policy_says_so(when: Any, status: str) -> None:
    site = Site()
    reviewer = [Decision("approve", "Ada"), Decision("reject", "Ada", "no more")]
    policy = Policy(rollback=when, replan="failure")
    run = site.agent([up("1"), broken("2", "1")], [up("3", "1")], policy=policy, reviewer=reviewer).run("build")
    assert (run.status, site.standing) == (status, [] if status == "rolled back" else ["1"])
    assert run.reason.startswith("Ada rejected the plan: no more")


@pytest.mark.parametrize("fails", [True, False])
def test_a_failed_step_counts_though_the_plan_is_not_complete(fails: bool) -> None:
    site = Site()
    plan = Plan.parse({"steps": [up("1"), (broken if fails else up)("2", "1")], "complete": False})
    run = execute(plan, site.agent().executor, policy=Policy(rollback="failed"))
    reason = "step 2 failed" if fails else "the plan is not complete, and there is no planner to ask for more"
    assert (run.status, run.reason.startswith(reason)) == ("rolled back" if fails else "stopped", True)
    assert site.standing == ([] if fails else ["1", "2"])


def test_a_manual_rollback_can_stop_at_a_step_and_continue_later() -> None:
    site = Site()
    agent, done = site.agent(), site.run(up("1"), up("2", "1"), up("3", "2"), rollback=[call("tell", text="sorry")])
    part = agent.roll_back(done, to=2)
    assert (part.reason, site.log[-1]) == ("requested; undone: 3", "-3")
    whole = agent.roll_back(part)
    assert (whole.reason, site.log[3:]) == ("requested; undone: 2, 1; called: rollback 1", ["-3", "-2", "-1", "!sorry"])
    again = agent.roll_back(whole)
    assert (again.reason, len(site.log)) == ("requested; nothing was undone", 7)
    check_fold(again)


@pytest.mark.parametrize("listed", [False, True])
def test_an_undo_that_might_have_been_made_is_not_repeated(listed: bool) -> None:
    site, refunds = Site(), list[str]()

    def refund(name: str) -> None:
        refunds.append(name)
        made_once()
        raise RuntimeError("no answer")

    site.tools = Toolbox([*site.tools, Tool(refund, effects="once")])
    back = call("refund", name="{step_1_result.name}")
    run = site.run(up("1", undo=None if listed else back), broken("2", "1"), rollback=[back] * listed)
    label = "rollback 1" if listed else "1"
    assert (label, "RuntimeError: no answer") in not_undone(run.board)
    again = site.agent().roll_back(run)
    check_fold(again)
    assert (again.status, refunds) == ("partly rolled back", ["1"])
    assert (label, "it is unknown whether it was undone") in not_undone(again.board)


TELL = call("tell", text="sorry")
BACK = call("take_down", name="{step_2_result.name}")
ON = call("tell", text="{step_2_result.name} on {step_1_result.name}")
CASES: dict[str, tuple[list[Any], list[Any], str, str]] = {
    "the undo fails": (
        [up("1", name="stuck"), up("2", "1"), broken("3", "2")],
        [],
        "+stuck +2 -2 -stuck",
        "undone: 2; not undone: 1 (RuntimeError: stuck is stuck)",
    ),
    "no undo": (
        [step("1", "look"), step("2", "tell", "1", text="hi"), up("3", "2"), broken("4", "3")],
        [],
        "!hi +3 -3",
        "undone: 3; not undone: 2 (no undo of its own)",
    ),
    "done after its timeout": (
        [up("1", quarters=12, timeout=1.0), up("2", quarters=20), broken("3", "2")],
        [],
        "+1 +2 -2",
        "undone: 2; not undone: 1 (it was done after its timeout)",
    ),
    "its reference has no result": (
        [up("1", fails=9), up("2", "1", undo=up("1")["undo"]) | {"run_anyway": True}],
        [],
        "+2",
        "(MissingResultError: {step_1_result.name}: step 1 has no result)",
    ),
    "the undo uses an earlier result": (
        [up("1"), up("2", "1", undo=ON), broken("3", "2")],
        [],
        "+1 +2 !2 on 1 -1",
        "undone: 2, 1",
    ),
    "calls of the plan": (
        [up("1"), broken("2", "1")],
        [up("1")["undo"], TELL],
        "+1 -1 !sorry",
        "undone: 1; called: rollback 2",
    ),
    "a call for a step without a result": (
        [up("1", undo=None), up("2", "1", fails=9)],
        [BACK, TELL],
        "+1 !sorry",
        "not undone: 1 (no undo of its own); not undone: rollback 1 (step 2 gave no result)",
    ),
}


PARTLY = {"the undo fails", "done after its timeout", "its reference has no result"}  # something with an undo was left


@pytest.mark.parametrize("name", CASES)
def test_undone_steps_and_the_others_are_named(name: str) -> None:
    steps, rollback, log, reason = CASES[name]
    site = Site(stuck="stuck")
    run = site.run(*steps, rollback=rollback)
    assert run.status == ("partly rolled back" if name in PARTLY else "rolled back")
    assert " ".join(site.log) == log
    assert run.reason.endswith(reason)


@pytest.mark.parametrize("name", ["{step_1_result.name}", "1"])
def test_a_call_that_was_already_made_is_not_repeated(name: str) -> None:
    site = Site()
    same, sorry = call("take_down", name=name), call("tell", text="sorry")
    run = site.run(up("1"), broken("2", "1"), rollback=[same | {"gate": True}, sorry, sorry])
    assert (run.status, site.log) == ("rolled back", ["+1", "-1", "!sorry"])


@pytest.mark.parametrize("by_hand", [False, True])
def test_no_call_of_an_unapproved_plan_is_made(by_hand: bool) -> None:
    site = Site()
    hostile = {"steps": [up("9")], "rollback": [call("take_down", name="1"), call("tell", text="all is well")]}
    decisions = [Decision("approve", "Ada"), *([] if by_hand else [Decision("reject", "Ada")])]
    policy = Policy(rollback="unfinished", replan="failure")
    first = {"steps": [up("1"), broken("2", "1")], "rollback": [call("tell", text="sorry")]}
    run = site.agent(first, hostile, policy=policy, reviewer=decisions).run("build")
    if by_hand:
        assert run.status == "paused"
        run = site.agent().roll_back(run)
    assert (run.status, site.log) == ("rolled back", ["+1", "-1", "!sorry"])


def test_the_rollback_of_an_edited_plan_counts() -> None:
    site = Site()
    first = {"steps": [up("1"), broken("2", "1")], "rollback": [call("tell", text="sorry")]}
    edited = Plan.parse({**first, "rollback": [call("tell", text="forgive us")]})
    run = site.agent(first, reviewer=[Decision("approve", "Ada", plan=edited)]).run("build")
    assert (run.status, site.log) == ("rolled back", ["+1", "-1", "!forgive us"])


def asked(id: str, *after: str, **more: Any) -> dict[str, Any]:
    one = up(id, *after, **more)
    return one | {"undo": one["undo"] | {"gate": True}}


NO = Decision("reject", "Ada", "the neighbours watch")


def test_after_a_rejected_undo_the_others_follow_and_the_step_is_named() -> None:
    site = Site()
    run = site.run(asked("a"), up("b", "a"), broken("c", "b"), rollback=[up("a")["undo"]])
    run = site.agent().resume(run, NO)
    check_fold(run)
    assert (run.status, site.standing) == ("partly rolled back", ["a"])
    assert run.reason.endswith("undone: b; not undone: a (Ada rejected it: the neighbours watch)")
    assert "Ada rejects the undo of step a: the neighbours watch" in trace(run)


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (
            Question("undo", {"approve": ""}, step="a").decide("approve"),
            "waits for a yes to the undo of step c",
        ),
        (
            Decision("change", comment="plan it otherwise"),
            'no answer to this question: a yes.* Answer "approve", "reject"',
        ),
        (Decision("approve", plan=Plan()), "an edited plan and a grant answer a question about a plan"),
    ],
)
def test_a_decision_about_something_else_is_rejected(decision: Decision, words: str) -> None:
    site = Site()
    agent, run = site.agent(), site.run(asked("a"), up("b", "a"), asked("c", "b"), broken("d", "c"))
    with pytest.raises(ValueError, match=words):
        agent.resume(run, decision)
    assert agent.resume(run, run.question.decide("approve")).reason == "waits for a yes to the undo of step a"


@pytest.mark.parametrize("reviewer", [None, ["approve"]], ids=["none", "a reviewer"])
def test_a_planner_that_changes_an_undo_in_place_opens_no_gate(reviewer: Any) -> None:
    class Hostile:
        """A planner that changes the completed plan in place when it plans again."""

        plans = 0

        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            self.plans += 1
            if self.plans == 1:
                return Plan.parse([asked("a"), broken("b", "a")])
            for kept in (board.steps["a"], board[WorkDone].pieces[1].step):
                vars(kept.undo)["gate"] = False
            return Plan.parse([broken("c")])

    site = Site()
    policy = Policy(rollback="failed", replan="failure", max_replans=1)
    run = site.agent(Hostile(), reviewer=reviewer, policy=policy).run("go")
    assert (run.status, run.reason) == ("paused", "waits for a yes to the undo of step a")
    assert site.standing == ["a"]


class Says:
    """Answers with these verdicts in turn; while it looks at a plan, news can come."""

    def __init__(self, *verdicts: Any, news: int = 0) -> None:
        self.verdicts, self.news = list(verdicts), news
        self.agent: Any = None
        self.run: Any = None

    def watch(self, run: Run) -> None:
        self.run = run

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision:
        if self.news:
            self.news -= 1
            self.agent.tell(self.run, "news")
        return question.decide(self.verdicts.pop(0))


def test_the_rollback_of_the_plan_that_is_carried_out_counts() -> None:
    site, reviewer = Site(), Says("approve", "approve", news=2)
    plans = [
        {"steps": [up("1", undo=None), broken("2", "1")], "rollback": [call("tell", text="first")]},
        {"steps": [up("3")], "rollback": [call("tell", text="second")]},
    ]
    policy = Policy(rollback="failed", max_replans=2)
    agent = site.agent(*plans, plans[0], policy=policy, reviewer=reviewer, watch=reviewer.watch)
    reviewer.agent = agent
    run = agent.run("build")
    check_fold(run)
    assert (run.status, site.log[-1]) == ("rolled back", "!first")


def after_an_interrupted_undo() -> Board:
    """The board after the undo of step a was allowed and interrupted, and step b, which was in doubt, turned out to be done."""
    undo = [{"tool": "put", "params": {"n": n}, "gate": True} for n in (1, 2)]
    plan = Plan.parse([step("a", "put", n=1, undo=undo[0]), step("b", "pay", "a", n=2, timeout=1.0, undo=undo[1])])
    board, policy = Board(), Policy()

    def go(*events: Any) -> None:
        for event in events:
            board.apply(event or decide(board, policy))

    def say(verdict: Any, result: Any = None) -> None:
        go(None)
        question = board.asked
        of = {"of": question.digest, "about": question.about}
        go(e.Reviewed(board.now, verdict, plan.hash, "Ann", step=question.own_step, result=result, **of))

    go(e.RunStarted(0.0, "go", planner=False, reviewer=True, effects={"put": "idempotent", "pay": "once"}))
    go(e.PlanProposed(0.0, plan))
    say("approve")
    go(None, e.StepDone(1.0, "a", "A"), None, e.StepFailed(2.0, "b", "late", 1.0, in_doubt=True, final=True))
    go(RollbackStarted(2.0, "requested"))
    say("not done")
    say("approve")
    go(None, e.StepLate(3.0, "b", "B"), e.Requeued(3.0, "a", "interrupted"))
    say("done", "B")
    go(None)
    return board


def test_a_yes_to_one_undo_opens_no_other_gate() -> None:
    board = after_an_interrupted_undo()
    assert board.paused is not None
    assert (board.asked.kind, board.asked.step) == ("undo", "b")
