"""Ways round the promise about what may be done once, and round the log, that were open; each is closed by one rule."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from enum import IntEnum
from threading import Thread
from typing import Any

import pytest

from planexec_lite import (
    ApproveAll,
    AskPerson,
    Board,
    Decision,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    Pool,
    RuleEvaluator,
    Run,
    ScriptedReviewer,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
    tool,
)
from planexec_lite.events import Inside, Paused, PlanProposed, StepFailed, Thought, from_dict, to_dict
from planexec_lite.meter import charge, emit
from tests.core.bank import ACME, DONE, Bank, agent, granting, mail, pay, plan, who
from tests.core.shapes import Portions

TASK = {"id": "1", "description": "pay ACME"}


def around(inner: Any, plans: Any, reviewer: Any = None) -> PlannerExecutor:
    return PlannerExecutor(Portions(*plans), inner, reviewer, workers=Simulated(), policy=Policy(replan="failure"))


# --- the same step again, in a later plan ---------------------------------------------------------------------------


def test_a_payment_in_doubt_is_not_made_again_by_a_plan_that_keeps_its_step() -> None:
    bank = Bank("boom", slow=("ACME",))
    paying = pay("1", "ACME", timeout=2)
    run = agent(bank, [plan(paying, who("2", "boom")), plan(paying, who("3", "x"))]).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])


def test_a_rejected_payment_is_not_made_again_by_a_plan_that_keeps_it() -> None:
    bank = Bank()
    judge = RuleEvaluator(lambda step, result: "no" if len(bank.paid) < 2 else True)
    paying = pay("1", "ACME", success_criteria="enough")
    run = agent(bank, [plan(paying), plan(paying, who("2", "x"))], evaluator=judge).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])


def test_a_yes_from_before_the_payment_is_no_yes_to_its_repeat() -> None:
    def rule(step: Step, result: Any) -> Verdict:
        if len(bank.paid) > 1:
            return Verdict("accept")
        return Verdict("modify", "so", changed=step.model_copy(update={"description": "otherwise"}))

    bank = Bank()
    paying = plan(pay("1", "ACME", success_criteria="x"))
    run = agent(bank, [paying], ScriptedReviewer(["approve"]), evaluator=RuleEvaluator(rule)).run("pay")
    assert (run.status, bank.paid) == ("paused", [ACME])


def test_a_late_error_of_another_step_of_the_same_id_takes_no_payment_back() -> None:
    class Slow(Bank):
        def pay(self, to: str, amount: float = 10) -> str:
            """Pay ACME, late; nobody else can be paid."""
            charge(seconds=100 if to == "ACME" else 5)
            if to == "Bob":
                raise OSError(to)
            return super().pay(to, amount)

    bank = Slow("boom")
    second = [pay("1", "Bob", timeout=2), who("w", "x"), who("z", "boom", "w")]
    third = plan(pay("5", "Carl", timeout=50), who("6", "boom", "5"))
    run = agent(
        bank, [plan(pay("1", "ACME", timeout=2)), plan(*second), third, plan(pay("7", "ACME"), who("8", "x"))]
    ).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME, ("Carl", 10)])


# --- what was said of a call, and how it is compared -----------------------------------------------------------------


@pytest.mark.parametrize("reviewer", [None, granting()], ids=["alone", "granted"])
def test_a_later_plan_cannot_say_that_a_careful_step_may_be_repeated(reviewer: Any) -> None:
    bank = Bank("boom")

    def mail_to(to: str) -> str:
        bank.paid.append((to, 0))
        return to

    first = plan(mail("1", "ACME", effects="once"), who("2", "boom", "1"))
    executor = ToolExecutor(Toolbox([bank.who, Tool(mail_to, name="mail", effects="none")]))
    run = around(executor, [first, plan(mail("3", "ACME"))], reviewer).run("mail")
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

    executor = ToolExecutor(Toolbox([bank.who, Tool(pay_all, effects="once")]))
    plans = [plan(paying("1", first, then[0]), who("2", "boom", "1")), plan(paying("3", first[::-1], then[1]))]
    assert around(executor, plans).run("pay").status == "failed"
    assert len(paid) == 1


def test_a_planner_that_changes_a_tool_changes_nothing_about_its_effects() -> None:
    class Tampers(Portions):
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            with suppress(AttributeError):
                tools["pay"].effects = "none"  # type: ignore[misc]
            return super().plan(goal, board, tools)

    bank = Bank("boom")
    one = PlannerExecutor(
        Tampers(DONE, plan(pay("3", "ACME"))), bank.executor, workers=Simulated(), policy=Policy(replan="failure")
    )
    assert (one.run("pay").status, bank.paid) == ("failed", [ACME])


# --- yes to one thing is no yes to another ---------------------------------------------------------------------------


@pytest.mark.parametrize("reviewer", [None, ScriptedReviewer(["approve", "approve"])], ids=["gate alone", "reviewer"])
def test_at_the_gate_of_a_repeat_a_person_is_told_that_it_is_one(reviewer: Any) -> None:
    bank = Bank("boom")
    late = plan(who("x", "ACME"), pay("3", "{step_x_result}", "x", gate=True))
    one = agent(bank, [DONE, late], reviewer)
    run = one.run("pay")
    assert run.reason == "waits for gate of step 3: step 1 already made this call, which runs at most once"
    assert [event.step for event in run.events if isinstance(event, Paused) and event.about == "repeat"] == ["3"]
    assert one.resume(run, Decision("approve")).status == "finished"


def test_a_change_that_is_asked_for_ends_earlier_approvals() -> None:
    first, other = (plan(who("0", name, gate=True), pay("1", "ACME", "0")) for name in ("x", "y"))
    bank = Bank()
    one = agent(bank, [first, other, first], ScriptedReviewer(["approve"]))
    run = one.tell(one.run("pay"), "news")
    run = one.resume(run, Decision("change", comment="nothing of it"))
    assert (run.status, run.reason, bank.paid) == ("paused", "waits for approval", [])


@pytest.mark.parametrize("who_does", ["planner", "evaluator"])
def test_a_step_that_is_changed_by_force_where_it_stands_asks(who_does: str) -> None:
    def force(board: Board) -> None:
        dict.__setitem__(board.steps["9"].params, "to", "MALLORY")

    class Judge(RuleEvaluator):
        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            if who_does == "evaluator":
                force(board)
            return Verdict("accept")

    class Planner(Portions):
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            if self.asked and who_does == "planner":
                force(board)
                return Plan(steps=(board.steps["9"],))
            return super().plan(goal, board, tools)

    bank = Bank("boom")
    steps = [who("1", "x", success_criteria="y"), pay("9", "ACME", "1")]
    if who_does == "planner":
        steps = [who("1", "x"), who("2", "boom", "1"), pay("9", "ACME", "1")]
        steps[2]["depends_on"] = ["1", "2"]
    one = PlannerExecutor(
        Planner(plan(*steps)),
        bank.executor,
        granting(),
        Judge(lambda step, result: None),
        Simulated(),
        Policy(replan="failure"),
    )
    try:
        run = one.run("pay")
    except ValueError as problem:
        run = problem.run  # type: ignore[attr-defined]
    assert (run.status, bank.paid) == ("paused" if who_does == "evaluator" else run.status, [])


def test_a_verdict_of_two_faces_is_read_once() -> None:
    class Faces(Verdict):
        asked = 0

        def __getattribute__(self, name: str) -> Any:
            if name == "changed":
                Faces.asked += 1
                return None if Faces.asked == 1 else Step(**pay("1", "MALLORY"))
            return object.__getattribute__(self, name)

    def rule(step: Step, result: Any) -> Verdict:
        if bank.paid:
            return Verdict("accept")
        made = Faces("modify", "so")
        Faces.asked = 0
        return made

    bank = Bank()
    steps = plan(who("1", "x", success_criteria="y", retries=1))
    agent(bank, [steps], ApproveAll(), evaluator=RuleEvaluator(rule)).run("pay")
    assert bank.paid == []


# --- runs inside steps ------------------------------------------------------------------------------------------------


def test_a_run_inside_that_paid_and_failed_is_not_begun_anew() -> None:
    bank = Bank("boom")
    inner = around(bank.executor, [plan(pay("a", "ACME"), who("b", "boom", "a"))])
    run = around(inner, [plan({**TASK, "retries": 2}), plan({**TASK, "retries": 2}, who("2", "x"))]).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])
    assert [event.in_doubt for event in run.events if isinstance(event, StepFailed)] == [True]


@pytest.mark.parametrize("how", ["news", "change", "another step"])
def test_a_run_inside_that_paid_and_waits_goes_on_or_is_no_more(how: str) -> None:
    bank = Bank()
    inner = around(bank.executor, [plan(pay("a", "ACME"), who("b", "x", "a", gate=True))])
    other = {**TASK, "id": "1b"} if how == "another step" else TASK
    one = around(inner, [plan(TASK), plan(other)])
    run = one.run("pay")
    run = one.resume(run, Decision("change", comment="so")) if how == "change" else one.tell(run, "news")
    run = one.resume(run, Decision("approve")) if run.status == "paused" else run
    assert (run.status, bank.paid) == ("failed" if how == "another step" else "finished", [ACME])


def test_a_step_of_a_run_inside_may_do_what_any_tool_does() -> None:
    bank = Bank("boom")
    inner = around(bank.executor, [plan(pay("a", "MALLORY"))])
    first, then = plan(who("1", "boom"), who("2", "x", "1")), plan(who("1", "MALLORY"), who("2", "x", "1"))
    outer = around(inner, [first, then], AskPerson())
    assert not (board := outer.run("look").board).repeatable(board.steps["1"])


def test_a_payment_whose_result_is_no_data_was_made_all_the_same() -> None:
    class Odd(Bank):
        def pay(self, to: str, amount: float = 10) -> Any:
            """Pay, and return no data."""
            super().pay(to, amount)
            return object()

    bank = Odd()
    run = agent(bank, [plan(pay("1", "ACME")), plan(pay("2", "ACME"), who("3", "x"))]).run("pay")
    assert (run.status, bank.paid) == ("failed", [ACME])


def test_pools_that_wait_for_each_other_in_a_ring_come_to_an_end() -> None:
    with ThreadPoolExecutor(1) as a, ThreadPoolExecutor(1) as b:
        third = PlannerExecutor(Portions(plan(who("c", "x"))), Bank().executor, workers=Pool(a))
        second = PlannerExecutor(Portions(plan(TASK)), third, workers=Pool(b))
        first = PlannerExecutor(Portions(plan(TASK)), second, workers=Pool(a))
        ended: list[str] = []
        thread = Thread(target=lambda: ended.append(first.run("x").status), daemon=True)
        thread.start()
        thread.join(20)
        assert ended == ["finished"]


# --- the log, and what is read ---------------------------------------------------------------------------------------


def test_a_tool_that_says_that_a_run_inside_it_waits_does_not_block_the_run() -> None:
    class RunPaused(Exception):
        pass

    tried: list[int] = []

    @tool(effects="none")
    def claims() -> str:
        tried.append(1)
        if len(tried) == 1:
            emit(Paused(0.0, "gate", "1"))
            raise RunPaused("for nothing")
        return "done"

    one = PlannerExecutor(
        Portions(Plan.parse([{"id": "1", "tool": "claims"}])), ToolExecutor(Toolbox([claims])), workers=Simulated()
    )
    run = one.run("x")
    assert (run.status, tried) == ("failed", [1])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "event",
    [Thought(5), Inside("x", None, Thought(3)), PlanProposed(0.0, "no plan")],
    ids=lambda one: type(one).__name__,  # type: ignore[arg-type]
)
def test_an_event_that_holds_what_none_may_does_not_make_the_log_unreadable(event: Any) -> None:
    @tool(effects="none")
    def emits() -> str:
        emit(event)
        return "done"

    run = execute(Plan.parse([{"id": "1", "tool": "emits"}]), ToolExecutor(Toolbox([emits])), workers=Simulated())
    written = json.dumps([to_dict(one) for one in run.events])
    assert Run([from_dict(data) for data in json.loads(written)]).board == run.board


def test_a_number_of_a_class_of_its_own_becomes_a_number() -> None:
    class Level(IntEnum):
        HIGH = 3

    @tool(effects="none")
    def level() -> int:
        return Level.HIGH

    run = execute(Plan.parse([{"id": "1", "tool": "level"}]), ToolExecutor(Toolbox([level])))
    assert type(run.results["1"]) is int


def test_a_result_with_two_names_that_are_one_when_written_is_refused() -> None:
    @tool(effects="none")
    def odd() -> Any:
        return {1: "a", "1": "b"}

    run = execute(Plan.parse([{"id": "1", "tool": "odd"}]), ToolExecutor(Toolbox([odd])))
    assert "two of its keys are the same" in run.reason


@pytest.mark.parametrize(
    "text",
    [
        '{"steps": [{"id": "1", "tool": "pay", "params": {"to": "ACME", "to": "MALLORY"}}]}',
        '{"steps": [{"id": "1", "tool": "pay"}], "steps": [{"id": "2", "tool": "pay"}]}',
    ],
)
def test_a_name_that_stands_twice_in_one_object_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="stands twice"):
        Plan.parse(text)


def test_a_reference_in_the_name_of_a_parameter_is_refused() -> None:
    steps = [{"id": "1", "tool": "t"}, {"id": "2", "params": {"{step_1_result}": 1}, "depends_on": ["1"]}]
    assert [problem.code for problem in Plan.parse(steps).problems()] == ["unreadable_reference"]


def test_a_run_that_went_on_under_a_grant_adds_up_to_its_events() -> None:
    bank = Bank("boom")
    run = agent(bank, [plan(who("1", "boom"), pay("9", "ACME")), plan(who("2", "x"))], granting()).run("pay")
    assert Board.of(run.events) == run.board
