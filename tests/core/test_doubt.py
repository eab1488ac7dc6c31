"""A step in doubt: a run that is left while a call was made that may be made once asks what became of it, and takes the answer."""

from __future__ import annotations

import multiprocessing
from typing import Any

import pytest

from planexec_lite import (
    ApproveAll,
    AskPerson,
    Decision,
    HybridExecutor,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    RulePlanner,
    Run,
    ScriptedReviewer,
    Simulated,
    Toolbox,
    ToolExecutor,
    tool,
)
from planexec_lite import events as e
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.capabilities.replanning import Replanning
from planexec_lite.meter import idempotency_key
from tests.core.shapes import step


class Bank:
    """Pays; the first payment is cut off, before or after the money has gone."""

    def __init__(self, *, gone: bool) -> None:
        self.paid: list[str] = []
        self.cut = True

        @tool(effects="once")
        def pay(to: str) -> dict[str, Any]:
            if self.cut:
                self.cut = False
                if gone:
                    self.paid.append(to)
                raise KeyboardInterrupt
            self.paid.append(to)
            return {"id": len(self.paid)}

        @tool(effects="none")
        def note(text: object) -> str:
            return f"noted {text}"

        @tool(effects="idempotent")
        def refund(number: int) -> str:
            self.paid.clear()
            return f"{number} is back"

        @tool(effects="idempotent")
        def reserve(to: str) -> str:
            return to

        @tool(effects="idempotent")
        def release(to: str) -> str:
            self.released = to
            return to

        self.tools = Toolbox([pay, note, refund, reserve, release])


PLAN = Plan.parse(
    [
        step("1", "reserve", to="Ann") | {"undo": {"tool": "release", "params": {"to": "Ann"}}},
        step("2", "pay", "1", to="Ann")
        | {"undo": {"tool": "refund", "params": {"number": "{step_2_result.id}"}}, "success_criteria": "an id"},
        step("3", "note", "2", text="{step_2_result.id}"),
    ]
)


class Once:
    def plan(self, *_: object) -> Plan:
        return PLAN


def left(bank: Bank, **more: Any) -> tuple[PlannerExecutor, Run]:
    agent = PlannerExecutor(Once(), ToolExecutor(bank.tools), **more)
    with pytest.raises(KeyboardInterrupt) as caught:
        agent.run("pay Ann")
    return agent, agent.resume(caught.value.run)  # type: ignore[attr-defined]


@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
def test_it_was_done_and_its_result_counts(workers: Any) -> None:
    bank = Bank(gone=True)
    agent, run = left(bank, workers=workers)
    assert (run.status, run.board.paused and run.board.paused.gate) == ("paused", "doubt 2")
    run = agent.resume(run, Decision("done", "Ann", result={"id": 1}, comment="it is on the statement"))
    assert (run.status, run.results["3"], bank.paid) == ("finished", "noted 1", ["Ann"])
    assert not +run.board[Doubt].attempts
    assert [one.sure for one in run.board[OnceCalls].spent] == [True]
    assert Run(list(run.events)).board == run.board


def test_it_was_not_done_and_is_done_now() -> None:
    bank = Bank(gone=False)
    agent, run = left(bank)
    run = agent.resume(run, Decision("not done", "Ann"))
    assert (run.status, run.results["3"], bank.paid) == ("finished", "noted 1", ["Ann"])
    assert [event.attempt for event in run.events if isinstance(event, e.StepStarted)] == [1, 1, 1, 1]


def test_what_was_done_before_is_taken_back_and_the_step_in_doubt_is_named() -> None:
    bank = Bank(gone=True)
    agent, run = left(bank)
    run = agent.resume(run, Decision("roll back", "Ann", comment="too late"))
    assert (run.status, bank.released, bank.paid) == ("rolled back", "Ann", ["Ann"])
    assert run.reason == "Ann asked for it: too late; undone: 1; not undone: 2 (nobody knows whether it was done)"


def test_a_result_that_the_steps_behind_it_cannot_use_is_refused() -> None:
    agent, run = left(Bank(gone=True))
    for result in (None, {"number": 1}, "1"):
        with pytest.raises(ValueError, match=r"step 3 uses \{step_2_result\.id\}, and .*; say what step 2 gave"):
            agent.resume(run, Decision("done", result=result))
    with pytest.raises(ValueError, match=r"step 2: pay returned a value of type object, which JSON can't hold"):
        agent.resume(run, Decision("done", result=object()))
    assert run.status == "paused"


def test_a_result_that_a_person_gives_is_judged_as_any_other() -> None:
    seen: list[object] = []

    def judge(_: object, result: Any) -> bool:
        seen.append(result)
        return bool(result["id"])

    agent, run = left(Bank(gone=True), evaluator=RuleEvaluator(judge))
    assert agent.resume(run, Decision("done", result={"id": 7})).status == "finished"
    assert seen == [{"id": 7}]
    assert agent.resume(run, Decision("done", result={"id": 0})).status == "failed"


@pytest.mark.parametrize("verdict", ["approve", "reject", "change"])
def test_a_yes_or_a_no_is_no_answer(verdict: Any) -> None:
    agent, run = left(Bank(gone=True))
    with pytest.raises(ValueError, match=rf'"{verdict}" is no answer here.*answer "done", "not done", "roll back"'):
        agent.resume(run, Decision(verdict))
    with pytest.raises(ValueError, match="a result goes with 'done'"):
        Decision("not done", result=1)


def test_an_answer_to_another_question_does_not_count() -> None:
    agent, run = left(Bank(gone=True))
    with pytest.raises(
        ValueError, match="about step 3, which is in doubt, and this run waits to be told whether step 2"
    ):
        agent.resume(run, Decision("not done", gate="doubt 3"))
    with pytest.raises(ValueError, match="about the gate of step 2, and this run waits to be told"):
        agent.resume(run, Decision("not done", gate="2"))
    asks = PlannerExecutor(Once(), ToolExecutor(Bank(gone=True).tools), AskPerson())
    waits = asks.run("pay Ann")
    with pytest.raises(ValueError, match='"done" is no answer here, since this run waits for approval'):
        asks.resume(waits, Decision("done"))


@pytest.mark.parametrize(
    "reviewer", [None, ApproveAll(), ScriptedReviewer(["approve"])], ids=["nobody", "approves all", "scripted"]
)
def test_no_reviewer_answers_what_only_a_person_can_know(reviewer: Any) -> None:
    bank = Bank(gone=True)
    agent, run = left(bank, reviewer=reviewer)
    assert run.status == agent.resume(run).status == "paused"
    assert agent.resume(run, Decision("done", result={"id": 1})).status == "finished"
    assert bank.paid == ["Ann"]


def test_news_waits_until_it_is_known_what_was_done() -> None:
    bank = Bank(gone=True)
    agent, run = left(bank)
    told = agent.tell(run, "Ann has moved")
    assert told.reason == "waits to be told whether step 2 was done"
    run = agent.resume(told, Decision("done", result={"id": 1}))
    assert run.board[Replanning].asked_for == "news"


def test_two_steps_in_doubt_are_asked_about_one_after_the_other() -> None:
    plan = Plan.parse([step("1", "pay", to="Ann"), step("2", "pay", to="Bob")])
    run = Run([e.RunStarted(0.0, "", False, False, effects={"pay": "once"}), e.PlanProposed(0.0, plan)])
    for id in "12":
        run.record(e.StepStarted(0.0, id))
    bank = Bank(gone=False)
    bank.cut = False
    agent = PlannerExecutor(None, ToolExecutor(bank.tools))
    run = agent.resume(run)
    assert run.reason == "waits to be told whether step 1 was done"
    run = agent.resume(run, Decision("done", result=1))
    assert run.reason == "waits to be told whether step 2 was done"
    assert agent.resume(run, Decision("not done")).status == "finished"
    assert bank.paid == ["Bob"]


def _answer(path: str, verdict: Any) -> None:
    bank = Bank(gone=False)
    bank.cut = False
    journal = Journal(path)  # type: ignore[arg-type]
    agent = PlannerExecutor(Once(), ToolExecutor(bank.tools), journal=journal)
    agent.resume(journal.load(1), Decision(verdict, "Bob"))


def test_it_is_answered_in_another_process_from_the_journal_alone(tmp_path: Any) -> None:
    journal = Journal(tmp_path / "runs.db")
    _, run = left(Bank(gone=False), journal=journal)
    assert [one.status for one in journal.list()] == ["paused"]
    there = multiprocessing.get_context("spawn").Process(target=_answer, args=(str(journal.path), "not done"))
    there.start()
    there.join()
    assert (there.exitcode, journal.load(1).status) == (0, "finished")
    with pytest.raises(Exception, match="has gone on since this copy of it was read"):
        PlannerExecutor(Once(), ToolExecutor(Bank(gone=False).tools)).resume(run, Decision("not done"))


def test_a_failure_elsewhere_does_not_end_the_run_before_the_question() -> None:
    plan = Plan.parse([step("1", "pay", to="Ann"), step("2", "note", text="x")])
    start = e.RunStarted(0.0, "", False, False, effects={"pay": "once"})
    run = Run([start, e.PlanProposed(0.0, plan), e.StepStarted(0.0, "1"), e.StepStarted(0.0, "2")])
    run.record(e.StepFailed(0.0, "2", "no"))
    agent = PlannerExecutor(None, ToolExecutor(Bank(gone=False).tools), policy=Policy(failure="stop"))
    run = agent.resume(run)
    assert run.reason == "waits to be told whether step 1 was done"
    run = agent.resume(run, Decision("done"))
    assert (run.status, run.board.state) == ("failed", {"1": "done", "2": "failed"})


# Inside a run inside a step: without a journal, what happened there is known when the step has ended


class Inner:
    """Pays, then notes it; the first note is cut off. It pays under the key that it was given."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        self.noted = 0

        @tool(effects="once")
        def pay(to: str) -> str:
            self.keys.append(idempotency_key())
            return to

        @tool(effects="none")
        def note(text: str) -> str:
            self.noted += 1
            if self.noted == 1:
                raise KeyboardInterrupt
            return text

        tools = Toolbox([pay, note])
        steps = [step("a", "pay", to="Ann"), step("b", "note", "a", text="{step_a_result}")]
        inner = PlannerExecutor(RulePlanner(lambda goal: steps), ToolExecutor(tools))
        self.hands = {"alone": inner, "beside tools": HybridExecutor(ToolExecutor(tools.only("note")), inner)}


@pytest.mark.parametrize("who", ["alone", "beside tools"])
@pytest.mark.parametrize(("verdict", "paid"), [("done", 1), ("not done", 2), ("roll back", 1)])
def test_a_step_is_in_doubt_when_a_call_in_the_run_inside_it_may_have_been_made(
    who: str, verdict: Any, paid: int
) -> None:
    inner = Inner()
    plan = Plan.parse([{"id": "1", "description": "pay Ann"}])
    agent = PlannerExecutor(RulePlanner(lambda goal: plan), inner.hands[who])
    with pytest.raises(KeyboardInterrupt) as left:
        agent.run("pay Ann")
    run = agent.resume(left.value.run)  # type: ignore[attr-defined]
    assert run.reason == "waits to be told whether step 1 was done"
    result = "Ann" if verdict == "done" else None
    run = agent.resume(run, Decision(verdict, "Bob", result=result))
    assert run.status == ("rolled back" if verdict == "roll back" else "finished")
    # told that it was not done, it begins again at the first step inside, and the bank is given the same key
    assert (len(inner.keys), len(set(inner.keys))) == (paid, 1)
    assert None not in inner.keys
