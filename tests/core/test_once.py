"""What may be done once: it runs as it was approved, with what it depends on, and no later plan does it again unasked."""

from __future__ import annotations

from collections.abc import Mapping
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
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    ScriptedReviewer,
    Simulated,
    Step,
    Verdict,
    execute,
)
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.events import PlanProposed, Reviewed, StepBlocked, StepFailed, StepStarted, from_dict, to_dict
from planexec_lite.references import resolve
from tests.core.bank import ACME, DONE, Bank, agent, granting, pay, plan, who
from tests.core.shapes import Portions, check_fold
from tests.rounds import rounds

FIRST = plan(who("2", "boom"), pay("9", "{step_2_result}", "2"))
CHANGED = {
    "the step before": [who("2", "MALLORY"), pay("9", "{step_2_result}", "2")],
    "a step far before": [who("1", "x"), who("2", "MALLORY", "1"), who("3", "{step_2_result}", "2"),
                          pay("9", "{step_3_result}", "3")],
    "what it waits for": [who("2", "ACME"), pay("9", "MALLORY", "2")],
}  # fmt: skip


# --- a grant, and an approval, cover a step together with what it depends on -----------------------------------------


def test_under_a_grant_a_payment_whose_input_has_changed_asks() -> None:
    bank = Bank("boom")
    run = agent(bank, [FIRST, plan(*CHANGED["the step before"])], granting()).run("pay")
    assert (run.status, run.reason, bank.paid) == ("paused", "waits for approval", [])
    check_fold(run)


def test_under_a_grant_a_change_far_behind_a_payment_asks() -> None:
    bank = Bank("boom")
    first = plan(
        who("1", "x"), who("2", "boom", "1"), who("3", "{step_2_result}", "2"), pay("9", "{step_3_result}", "3")
    )
    run = agent(bank, [first, plan(*CHANGED["a step far before"])], granting()).run("pay")
    assert (run.status, bank.paid) == ("paused", [])


def test_under_a_grant_a_payment_runs_where_only_something_else_has_changed() -> None:
    paying = [who("1", "ACME"), pay("9", "{step_1_result}", "1")]
    for behind, status, paid in [((), "finished", [ACME]), (("4",), "paused", [])]:
        bank = Bank("boom")
        first, then = (
            plan(who("4", name), who("3", "x", "4"), who("1", "ACME", *behind), paying[1]) for name in ("boom", "ok")
        )
        assert agent(bank, [first, then], granting()).run("pay").status == status
        assert bank.paid == paid


def test_a_plan_whose_hash_was_approved_when_its_inputs_were_others_asks_again() -> None:
    bank = Bank("boom", "bang")
    again = plan(who("2", "bang"), pay("9", "{step_2_result}", "2"))
    third = plan(who("2", "MALLORY"), pay("9", "{step_2_result}", "2"))
    one = agent(bank, [FIRST, again, third], ScriptedReviewer(["approve", "approve"]))
    run = one.run("pay")
    assert (run.status, run.reason, bank.paid) == ("paused", "waits for approval", [])


@pytest.mark.parametrize("tool", ["who", None])
def test_behind_a_step_that_an_evaluator_put_otherwise_a_payment_asks(tool: str | None) -> None:
    def rule(step: Step, result: Any) -> Verdict:
        if step.description == "find ACME":
            return Verdict("modify", "no", changed=step.model_copy(update={"description": "find MALLORY"}))
        return Verdict("accept")

    class Finds:
        def __init__(self, bank: Bank) -> None:
            self.inner, self.tools = bank.executor, bank.executor.tools

        def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
            return step.description.split()[-1] if step.id == "1" else self.inner.execute(step, inputs)

    bank = Bank()
    find = {"id": "1", "description": "find ACME", "success_criteria": "right", "retries": 1}
    find |= {"tool": "who", "params": {"name": "x"}} if tool else {"effects": "none"}
    steps = plan(find, pay("2", "{step_1_result}", "1"))
    one = PlannerExecutor(
        Portions(steps), Finds(bank), ScriptedReviewer(["approve", "approve"]), RuleEvaluator(rule), Simulated()
    )
    run = one.run("pay")
    if tool is None:  # a step without a tool may do the worst that any tool does, so it asks itself
        assert (run.status, bank.paid) == ("paused", [])
    run = one.resume(run, Decision("approve", by="Ada")) if run.status == "paused" and tool is None else run
    alone = ScriptedReviewer(["approve"])
    run = PlannerExecutor(Portions(steps), Finds(Bank()), alone, RuleEvaluator(rule), Simulated()).run("pay")
    asks = "a step that it depends on has changed" if tool else "the evaluator changed the words"
    assert asks in run.reason


def test_a_gate_that_was_opened_closes_when_its_step_is_put_otherwise() -> None:
    def rule(step: Step, result: Any) -> Verdict:
        changed = step.model_copy(update={"description": "send it to MALLORY"})
        return Verdict("modify", "no", changed=changed) if not step.description else Verdict("accept")

    bank = Bank()
    steps = plan(pay("1", "ACME", gate=True, success_criteria="right", retries=1))
    one = agent(bank, [steps], ScriptedReviewer(["approve", "approve"]), evaluator=RuleEvaluator(rule))
    run = one.run("pay")
    assert (run.status, bank.paid) == ("paused", [ACME])
    assert run.reason.startswith("waits for gate of step 1")
    assert Run([from_dict(to_dict(event)) for event in run.events]).board == run.board
    assert one.resume(run, Decision("approve", by="Ada")).status == "finished"


# --- no repeat of what was done ---------------------------------------------------------------------------------------

REPEATS = {
    "word for word": [pay("3", "ACME")],
    "with the default written out": [pay("3", "ACME", amount=10)],
    "with 10.0 for 10": [pay("3", "ACME", amount=10.0)],
    "with the amount as a text": [pay("3", "ACME", amount="10")],
    "through a done step": [pay("3", "{step_0_result}", "0")],
    "through an item": [pay("3", "{step_0_result}", "0", "1", amount=10)],
    "with other words beside it": [pay("3", "ACME", "1", description="another", timeout=50, effects="once")],
    "as the second of two": [who("x", "fine"), pay("3", "ACME", "x")],
}


@pytest.mark.parametrize("how", REPEATS)
def test_without_a_reviewer_a_plan_that_repeats_a_done_payment_is_rejected(how: str) -> None:
    bank = Bank("boom")
    run = agent(bank, [DONE, plan(*REPEATS[how])]).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])
    assert "[done_once]" in run.reason
    assert "step 1 already made this call" in run.reason


@pytest.mark.parametrize("how", REPEATS)
def test_with_a_reviewer_a_plan_that_repeats_a_done_payment_asks(how: str) -> None:
    bank = Bank("boom")
    one = agent(bank, [DONE, plan(*REPEATS[how])], granting())
    run = one.run("pay")
    assert (run.status, run.reason, bank.paid) == ("paused", "waits for approval", [ACME])
    end = one.resume(run, Decision("approve"))  # a person saw it, and said yes
    assert (end.status, bank.paid) == ("finished", [ACME, ACME])


LATE = plan(who("x", "ACME"), pay("3", "{step_x_result}", "x"))


def test_a_repeat_that_shows_only_when_the_step_starts_fails_without_a_reviewer() -> None:
    bank = Bank("boom")
    run = agent(bank, [DONE, LATE, plan(who("4", "fine"))]).run("pay")
    assert (run.status, bank.paid) == ("finished", [ACME])
    assert [event.step for event in run.events if isinstance(event, StepBlocked)] == ["3"]
    assert "already made this call" in str(run.board.reviews or run.events)
    assert run.board.state["3"] == "superseded"
    check_fold(run)


def test_a_repeat_that_shows_only_when_the_step_starts_asks_a_reviewer() -> None:
    bank = Bank("boom")
    one = agent(bank, [DONE, LATE], ScriptedReviewer(["approve", "approve"]))
    run = one.run("pay")
    assert (run.status, bank.paid) == ("paused", [ACME])
    assert run.reason == "waits for gate of step 3: step 1 already made this call, which runs at most once"
    check_fold(run)
    assert one.resume(run, Decision("reject")).status == "stopped"
    assert one.resume(run, Decision("approve", by="Ada")).status == "finished"
    assert bank.paid == [ACME, ACME]


def test_another_payment_is_no_repeat() -> None:
    for later in (pay("3", "ACME", amount=11), pay("3", "Bob"), pay("3", "{step_1_result}", "1")):
        bank = Bank("boom")
        assert agent(bank, [DONE, plan(later)]).run("pay").status == "finished"
        assert len(bank.paid) == 2


def test_what_the_first_plan_says_twice_is_done_twice() -> None:
    twice = plan(pay("1", "ACME"), pay("2", "ACME", "1"))
    bank = Bank()
    assert execute(twice, bank.executor, workers=Simulated()).status == "finished"
    assert bank.paid == [ACME, ACME]
    rest = [who("2", "boom", "1"), pay("3", "ACME", "1", "0")]
    first = plan(who("0", "x"), pay("1", "ACME"), who("2", "boom", "1"), pay("3", "ACME", "2"))
    bank = Bank("boom")
    kept = agent(bank, [first, plan(who("2", "fine"), pay("3", "ACME", "2"))]).run("pay")
    assert (kept.status, bank.paid) == ("finished", [ACME, ACME])  # the second one stood there from the first
    bank = Bank("boom")
    other = agent(bank, [first, plan(who("2", "fine", "1"), *rest[1:])]).run("pay")
    assert (other.status, bank.paid) == ("failed", [ACME])


def test_a_payment_in_doubt_is_remembered_when_its_id_is_given_to_another_step() -> None:
    bank = Bank("boom", slow=("ACME",))
    first = plan(pay("1", "ACME", timeout=2))
    second, third = plan(who("1", "boom"), who("5", "x")), plan(pay("7", "ACME"))
    run = agent(bank, [first, second, third]).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])
    assert "runs at most once" in run.reason


def test_a_payment_whose_result_came_too_late_was_made_all_the_same() -> None:
    bank = Bank("boom", slow=("ACME",))
    first = plan(pay("1", "ACME", timeout=2), who("w", "x"))
    waits = plan(pay("w", "Bob", timeout=100), who("x", "boom", "w"))
    bank.slow = ("ACME", "Bob")
    run = agent(bank, [first, waits, plan(pay("7", "ACME"))]).run("pay")
    assert (run.status, bank.paid.count(ACME)) == ("failed", 1)


def test_a_payment_that_was_judged_and_rejected_was_made_all_the_same() -> None:
    rule = RuleEvaluator(lambda step, result: "not enough" if step.id == "1" else True)
    bank = Bank()
    first = plan(pay("1", "ACME", success_criteria="enough"))
    run = agent(bank, [first, plan(pay("2", "ACME"))], evaluator=rule).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])


def test_a_payment_that_failed_may_be_tried_by_another_plan() -> None:
    class Fails(Bank):
        def pay(self, to: str, amount: float = 10) -> str:
            """Pay somebody, at the second attempt."""
            if not self.missing:
                return super().pay(to, amount)
            self.missing.clear()
            raise ConnectionError("refused")

    bank = Fails("once")
    run = agent(bank, [plan(pay("1", "ACME")), plan(pay("2", "ACME"), who("3", "x"))]).run("pay")
    assert (run.status, bank.paid) == ("finished", [ACME])


def test_a_planner_that_is_asked_step_by_step_does_not_pay_twice_either() -> None:
    bank = Bank()
    portions = [plan(pay("1", "ACME"), complete=False), plan(pay("2", "ACME"), complete=False), Plan(goal="pay")]
    run = agent(bank, portions).run("pay")
    assert (run.status, bank.paid) == ("finished", [ACME])


# --- at random: a planner without manners ----------------------------------------------------------------------------

NAMES = st.sampled_from(["ACME", "Bob", "boom"])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    steps: list[dict[str, Any]] = []
    for id in draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=5)):
        before = [one["id"] for one in steps]
        after = draw(st.lists(st.sampled_from(before), unique=True, max_size=2)) if before else []
        name = f"{{step_{after[0]}_result}}" if after and draw(st.booleans()) else draw(NAMES)
        if draw(st.booleans()):
            steps.append(pay(id, name, *after, amount=draw(st.sampled_from([None, 10, 10.0, 5]))))
        else:
            steps.append(who(id, name, *after))
    return plan(*steps, complete=draw(st.integers(0, 4)) > 0)


def family(steps: Mapping[str, Step], id: str) -> Any:
    """A step and all that it depends on, as one nested value."""
    return steps[id].model_dump_json(), [family(steps, other) for other in steps[id].depends_on]


def check_payments(run: Run, bank: Bank) -> None:
    """Each payment was shown with all behind it, and none repeats one of an earlier plan that was not shown."""
    board, shown, first, made = Board(), list[Any](), dict[str, int](), list[tuple[int, Any]]()
    plans, seen = 0, set[str]()
    for event in run.events:
        if isinstance(event, PlanProposed) and event.plan is not None and not event.problems:
            plans += 1
            for step in event.plan.steps:
                if board.steps.get(step.id) != step or board.state[step.id] == "done":
                    first[step.id] = plans
        board.apply(event)
        if isinstance(event, Reviewed) and event.verdict == "approve" and event.step is None:
            shown = [family(board.steps, id) for id in board.unfinished]
            seen = set(board.results)
        if isinstance(event, StepStarted) and board.steps[event.step].tool == "pay":
            step = board.steps[event.step]
            call = {"amount": 10.0, **resolve(step.params, board.results)}
            if board.has_reviewer and event.step not in board[Approvals].opened:
                assert family(board.steps, event.step) in shown
            if not (board.has_reviewer and (event.step in board[Approvals].opened or seen.issuperset(step.depends_on))):
                assert all(number >= first[event.step] for number, other in made if other == call)
            made.append((first[event.step], call))
    assert len(made) == len(bank.paid)


@rounds(250)
@given(
    st.lists(plans(), min_size=2, max_size=6),
    st.sets(NAMES, max_size=2),
    st.none() | st.lists(st.sampled_from(["approve", "grant", "change"]), max_size=7),
    st.sampled_from(["failure", "step", "stall"]),
)
def test_no_payment_is_made_that_was_not_shown_and_none_is_made_again(
    made: list[Plan], missing: set[str], words: list[str] | None, replan: Any
) -> None:
    bank = Bank(*missing)
    decisions = [Decision("approve", grant=Grant(3)) if word == "grant" else Decision(word) for word in words or ()]  # type: ignore[arg-type]
    reviewer = None if words is None else ScriptedReviewer(decisions)
    policy = Policy(replan=replan, max_replans=4, max_rounds=6)
    one = PlannerExecutor(Portions(*made), bank.executor, reviewer, workers=Simulated(), policy=policy)
    run = one.run("pay")
    for _ in range(3):
        if run.status == "paused":
            run = one.tell(run, "hurry") if len(made) % 2 else one.resume(run, Decision("approve"))
    check_fold(run)
    check_payments(run, bank)


def test_approve_all_is_asked_too() -> None:
    bank = Bank("boom")
    run = agent(bank, [DONE, LATE], ApproveAll()).run("pay")
    assert (run.status, bank.paid) == ("finished", [ACME, ACME])
    assert [event.step for event in run.events if isinstance(event, Reviewed)] == [None, None, "3"]
    assert not [event for event in run.events if isinstance(event, StepFailed) and event.step == "3"]
    assert AskPerson().review is not None
