"""At-most-once calls: they run as approved, and no later plan repeats one without a question."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.json_schema import tool_from_schema
from planexec_lite import ApproveAll, Board, Decision, Plan, Run, Step, Tool, Toolbox, ToolExecutor, Verdict, execute
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.run import events as e
from planexec_lite.tools.references import find, resolve
from tests.core.agents import Fitting, agent_for
from tests.core.bank import ACME, DONE, Bank, agent, granting, mail, pay, plan, who
from tests.core.shapes import check_fold
from tests.rounds import rounds


def test_under_a_grant_a_payment_runs_if_its_dependencies_are_unchanged() -> None:
    paying = [who("1", "ACME"), pay("9", "{step_1_result}", "1")]
    for behind, status, paid in [((), "finished", [ACME]), (("4",), "paused", [])]:
        bank = Bank("boom")
        first, then = (
            plan(who("4", name), who("3", "x", "4"), who("1", "ACME", *behind), paying[1]) for name in ("boom", "ok")
        )
        assert agent(bank, [first, then], granting()).run("pay").status == status
        assert bank.paid == paid


def test_news_can_drop_a_paused_step_without_effects() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    gated = Plan.parse([{"id": "1", "tool": "look", "gate": True}])
    inner = agent_for([Tool(look, effects="none")], gated, gated)
    outer = agent_for(inner, Plan(steps=(Step(id="this"),)), Plan(steps=(Step(id="that"),)))
    run = outer.tell(outer.run("look"), "that instead")
    assert (run.status, run.board.state) == ("paused", {"this": "superseded", "that": "waiting"})


def rewords(words: str) -> Callable[[Step, Any], Verdict]:
    """Return an evaluator that changes the description of the first step that it judges."""
    judged = list[str]()

    def rule(step: Step, result: Any) -> Verdict:
        judged.append(step.id)
        return Verdict("accept") if len(judged) > 1 else Verdict("modify", "no", words)

    return rule


def test_after_a_reworded_step_a_payment_asks_and_a_gate_closes() -> None:
    judged = {"success_criteria": "right", "retries": 1}
    bank, plans = Bank(), [plan(who("1", "x", **judged), pay("2", "ACME", "1"))]
    run = agent(bank, plans, granting(), evaluator=rewords("find MALLORY")).run("pay")
    assert (run.status, bank.paid) == ("paused", [])
    assert "a step that it depends on has changed" in run.reason
    reviewer = ["approve", "approve"]
    gated = plan(pay("1", "ACME", gate=True, **judged))
    one = agent(bank, [gated], reviewer, evaluator=rewords("send it to MALLORY"))
    run = one.run("pay")
    assert (run.status, bank.paid) == ("paused", [ACME])
    assert run.reason.startswith("waits for the gate of step 1")
    assert Run([e.from_dict(e.to_dict(event)) for event in run.events]).board == run.board
    assert one.resume(run, Decision("approve", by="Ada")).status == "finished"


REPEATS = {
    "with the default written out": [pay("3", "ACME", amount=10)],
    "with the amount as a text": [pay("3", "ACME", amount="10")],
    "through a done step": [pay("3", "{step_0_result}", "0")],
    "through an item": [pay("3", "{step_0_result}", "0", "1", amount=10)],
    "with other words beside it": [pay("3", "ACME", "1", description="another", timeout=50, effects="once")],
}


@pytest.mark.parametrize("how", REPEATS)
def test_a_plan_that_repeats_a_done_payment_is_rejected_or_asks(how: str) -> None:
    bank = Bank("boom")
    run = agent(bank, [DONE, plan(*REPEATS[how])]).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])
    assert "[done_once]" in run.reason
    assert "step 1 already made this call" in run.reason
    bank = Bank("boom")
    one = agent(bank, [DONE, plan(*REPEATS[how])], granting())
    run = one.run("pay")
    assert (run.status, run.reason, bank.paid) == ("paused", "waits for approval", [ACME])
    end = one.resume(run, Decision("approve"))
    assert (end.status, bank.paid) == ("finished", [ACME, ACME])


LATE = plan(who("x", "ACME"), pay("3", "{step_x_result}", "x"))
GATED = plan(who("x", "ACME"), pay("3", "{step_x_result}", "x", gate=True))


def test_a_repeat_found_when_the_step_starts_fails_without_a_reviewer() -> None:
    bank = Bank("boom")
    run = agent(bank, [DONE, LATE, plan(who("4", "fine"))]).run("pay")
    assert (run.status, bank.paid) == ("finished", [ACME])
    assert [event.step for event in run.events if isinstance(event, e.StepBlocked)] == ["3"]
    assert "already made this call" in str(run.board.reviews or run.events)
    assert run.board.state["3"] == "superseded"
    check_fold(run)


@pytest.mark.parametrize(("then", "reviewer"), [(LATE, ["approve"] * 2), (GATED, ["approve"] * 2), (GATED, None)])
def test_a_repeat_found_when_the_step_starts_asks_a_person(then: Plan, reviewer: Any) -> None:
    bank = Bank("boom")
    one = agent(bank, [DONE, then], reviewer)
    run = one.run("pay")
    assert (run.status, bank.paid) == ("paused", [ACME])
    assert run.reason == "waits for the gate of step 3: step 1 already made this call, which runs at most once"
    assert [event.step for event in run.events if isinstance(event, e.Paused) and event.reason == "repeat"] == ["3"]
    check_fold(run)
    assert one.resume(run, Decision("reject")).status == "stopped"
    assert one.resume(run, Decision("approve", by="Ada")).status == "finished"
    assert bank.paid == [ACME, ACME]
    run = agent(Bank("boom"), [DONE, then], ApproveAll()).run("pay")
    assert [event.step for event in run.events if isinstance(event, e.Reviewed)] == [None, None, "3"]


def test_a_different_payment_is_not_a_repeat() -> None:
    for later in (pay("3", "ACME", amount=11), pay("3", "Bob"), pay("3", "{step_1_result}", "1")):
        bank = Bank("boom")
        assert agent(bank, [DONE, plan(later)]).run("pay").status == "finished"
        assert len(bank.paid) == 2


def test_a_payment_that_is_twice_in_the_first_plan_is_made_twice() -> None:
    first = plan(who("0", "x"), pay("1", "ACME"), who("2", "boom", "1"), pay("3", "ACME", "2"))
    bank = Bank("boom")
    kept = agent(bank, [first, plan(who("2", "fine"), pay("3", "ACME", "2"))]).run("pay")
    assert (kept.status, bank.paid) == ("finished", [ACME, ACME])  # step 3 was already in the first plan
    bank = Bank("boom")
    other = agent(bank, [first, plan(who("2", "fine", "1"), pay("3", "ACME", "1", "0"))]).run("pay")
    assert (other.status, bank.paid) == ("failed", [ACME])


SLOW = plan(pay("1", "ACME", timeout=2), who("w", "x"))
MADE: dict[str, list[Plan]] = {
    "in doubt, its id used again": [
        plan(pay("1", "ACME", timeout=2)),
        plan(who("1", "boom"), who("5", "x")),
        plan(pay("7", "ACME")),
    ],
    "done too late": [SLOW, plan(pay("w", "Bob", timeout=100), who("x", "boom", "w")), plan(pay("7", "ACME"))],
    "judged, and rejected": [plan(pay("1", "ACME", success_criteria="more")), plan(pay("2", "ACME"))],
    "rejected, its step kept": [
        plan(pay("1", "ACME", success_criteria="more")),
        plan(pay("1", "ACME", success_criteria="more"), who("2", "x")),
    ],
    "planned step by step": [plan(pay("1", "ACME"), complete=False), plan(pay("2", "ACME"), complete=False)],
}


@pytest.mark.parametrize("name", MADE)
def test_a_payment_is_not_repeated_however_it_ended(name: str) -> None:
    bank = Bank("boom", slow=() if "step by step" in name or "rejected" in name else ("ACME", "Bob"))
    run = agent(bank, MADE[name], evaluator=lambda *_: "not enough" if bank.paid == [ACME] else True).run("pay")
    assert (run.status, bank.paid.count(ACME)) == ("failed", 1)
    assert "runs at most once" in run.reason


TASK = {"id": "1", "description": "pay ACME"}


@pytest.mark.parametrize("reviewer", [None, granting()], ids=["alone", "granted"])
def test_a_later_plan_cannot_make_an_at_most_once_step_repeatable(reviewer: Any) -> None:
    bank = Bank("boom")

    def mail_to(to: str) -> str:
        bank.paid.append((to, 0))
        return to

    first = plan(mail("1", "ACME", effects="once"), who("2", "boom", "1"))
    tools = [bank.who, Tool(mail_to, name="mail", effects="none")]
    run = agent_for(tools, first, plan(mail("3", "ACME")), reviewer=reviewer, replan="failure").run("mail")
    assert (run.status, bank.paid) == ("paused" if reviewer else "failed", [("ACME", 0)])


@pytest.mark.parametrize(("first", "then"), [(["a"], [10, "10.0"]), ([str(n) for n in range(20)], [1, 1])], ids=len)
def test_calls_are_compared_as_the_tool_receives_them(first: list[str], then: list[Any]) -> None:
    bank = Bank("boom")
    paid = []

    def pay_all(to: set[str], amount: Decimal) -> str:
        paid.append(amount)
        return "paid"

    def paying(id: str, to: list[str], amount: Any) -> dict[str, Any]:
        return {"id": id, "tool": "pay_all", "params": {"to": to, "amount": amount}, "depends_on": []}

    tools = [bank.who, Tool(pay_all, effects="once")]
    plans = [plan(paying("1", first, then[0]), who("2", "boom", "1")), plan(paying("3", first[::-1], then[1]))]
    assert agent_for(tools, *plans, replan="failure").run("pay").status == "failed"
    assert len(paid) == 1


def test_a_nested_run_that_paid_and_failed_does_not_pay_again() -> None:
    bank, task = Bank("boom"), {**TASK, "retries": 2}
    inner = agent_for(bank.tools, plan(pay("a", "ACME"), who("b", "boom", "a")), replan="failure")
    run = agent_for(inner, plan(task), plan(task, who("2", "x")), replan="failure").run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])
    assert [event.in_doubt for event in run.events if isinstance(event, e.StepFailed)] == [True, False, False]


@pytest.mark.parametrize("how", ["news", "change", "another step"])
def test_a_nested_run_that_paid_and_waits_continues_or_fails(how: str) -> None:
    bank = Bank()
    inner = agent_for(bank.tools, plan(pay("a", "ACME"), who("b", "x", "a", gate=True)))
    other = {**TASK, "id": "1b"} if how == "another step" else TASK
    one = agent_for(inner, plan(TASK), plan(other), replan="failure")
    run = one.run("pay")
    run = one.resume(run, Decision("change", comment="so")) if how == "change" else one.tell(run, "news")
    run = one.resume(run, Decision("approve")) if run.status == "paused" else run
    assert (run.status, bank.paid) == ("failed" if how == "another step" else "finished", [ACME])


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
    """A step and all its dependencies as a nested value."""
    return steps[id].model_dump_json(), [family(steps, other) for other in steps[id].depends_on]


def check_payments(run: Run, bank: Bank) -> None:
    """Each payment was shown with its dependencies, and none repeats a payment of an earlier plan unseen."""
    board, shown, first, made = Board(), list[Any](), dict[str, int](), list[tuple[int, Any]]()
    plans, seen, rejected = 0, set[str](), set[int]()
    for event in run.events:
        if isinstance(event, e.PlanProposed) and event.plan is not None and not event.problems:
            plans += 1
            for step in event.plan.steps:
                if board.steps.get(step.id) != step or board.state[step.id] == "done" or first[step.id] in rejected:
                    first[step.id] = plans
        board.apply(event)
        if isinstance(event, e.Reviewed) and event.verdict == "change":
            rejected.add(plans)
        if isinstance(event, e.Reviewed) and event.verdict == "approve" and event.step is None:
            shown = [family(board.steps, id) for id in board.unfinished]
            seen = set(board.results)
        if isinstance(event, e.StepStarted) and board.steps[event.step].tool == "pay":
            step = board.steps[event.step]
            call = {"amount": 10.0, **resolve(step.params, board.results)}
            said_yes = board[Approvals].asks.get(event.step, "") is None
            if board.has_reviewer and not said_yes:
                assert family(board.steps, event.step) in shown
            uses = {named.step for named in find(step.params)}
            if not (board.has_reviewer and (said_yes or seen >= uses)):
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
def test_no_payment_is_made_unseen_or_repeated(
    made: list[Plan], missing: set[str], words: list[str] | None, replan: Any
) -> None:
    bank = Bank(*missing)
    reviewer = None if words is None else Fitting(["grant 3" if word == "grant" else word for word in words])
    one = agent(bank, made, reviewer, replan=replan, max_replans=4, max_rounds=6)
    run = one.run("pay")
    for _ in range(3):
        if run.status == "paused":
            verb = "approve" if "approve" in run.question.verdicts else "not done"  # type: ignore[union-attr]
            run = one.tell(run, "hurry") if len(made) % 2 else one.resume(run, Decision(verb))  # type: ignore[arg-type]
    check_fold(run)
    check_payments(run, bank)


@pytest.mark.parametrize("from_schema", [False, True])
def test_a_null_result_is_no_missing_argument(from_schema: bool) -> None:
    paid = []

    def pay(to: str, cents: int = 99_900) -> None:
        """Pay."""
        paid.append((to, cents))

    properties = {"to": {"type": "string"}, "cents": {"type": "integer", "default": 99_900}}
    schema = {"properties": properties, "required": ["to"]}
    tool = tool_from_schema(pay, schema, name="pay", effects="once") if from_schema else Tool(pay, effects="once")
    steps = [
        {"id": "1", "tool": "look"},
        {"id": "2", "tool": "pay", "params": {"to": "Bob", "cents": "{step_1_result}"}, "depends_on": ["1"]},
    ]
    run = execute(Plan.parse(steps), ToolExecutor(Toolbox([Tool(lambda: None, effects="none", name="look"), tool])))
    assert "got None" in run.board.errors["2"]
    assert paid == []
