"""A step that chooses its calls and has not said which: until that is clear, it might have made any at-most-once call."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import (
    Board,
    Decision,
    HybridExecutor,
    Journal,
    Plan,
    Pool,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.core.questions import Question
from planexec_lite.meter import charge, idempotency_key
from tests.capabilities.test_ids_in_doubt import Chooses, Shop, Slow
from tests.core.agents import agent_for
from tests.core.shapes import check_fold, step

FREE = {"id": "a", "description": "pay", "timeout": 1.0}
MIGHT = "step a might have made this call, which runs at most once"


def words(name: str) -> dict[str, Any]:
    return {"id": name, "description": "put"}


def below(shop: Shop, nested: bool, *calls: str) -> Any:
    """Chooses these calls, or makes them in a nested run; both are still at work after the step's timeout."""
    if not nested:
        return Chooses(shop.tools, *calls)
    steps = [step(f"i{number}", name, n=number, success_criteria="done") for number, name in enumerate(calls, 1)]
    return agent_for(shop.tools, steps, evaluator=Slow())


def mixed(shop: Shop, nested: bool, *calls: str) -> HybridExecutor:
    return HybridExecutor(ToolExecutor(shop.tools), below(shop, nested, *calls))


@pytest.mark.parametrize("nested", [False, True], ids=["chosen", "nested"])
def test_no_later_plan_pays_while_a_step_has_not_said_what_it_chose(nested: bool) -> None:
    shop = Shop()
    agent = agent_for(mixed(shop, nested, "pay"), [FREE], [step("d", "pay", n=1)], replan="failure", max_repairs=0)
    run = agent.run("go")
    check_fold(run)
    assert (shop.done, MIGHT in run.reason) == (["pay 1"], True)


@pytest.mark.parametrize("nested", [False, True], ids=["chosen", "nested"])
def test_other_payments_go_on_when_it_has_said_so(nested: bool) -> None:
    shop = Shop({"look 7": 9.0}, broken="look 8")
    wait = [step("c", "look", n=7), step("e", "look", "c", n=8)]
    plans = [FREE], wait, [step("d", "pay", n=2)]
    run = agent_for(mixed(shop, nested, "pay"), *plans, replan="failure", max_replans=2).run("go")
    check_fold(run)
    assert (run.status, shop.done[-1]) == ("finished", "pay 2")


@pytest.mark.parametrize("calls", [("look",), ("put", "mail")], ids=" ".join)
def test_whatever_it_chose_a_payment_waits(calls: tuple[str, ...]) -> None:
    shop = Shop()
    plans = [FREE], [step("d", "pay", n=1)], [step("d", "put", n=1)]
    run = agent_for(mixed(shop, False, *calls), *plans, replan="failure", max_repairs=1).run("go")
    assert (run.status, shop.done[-1]) == ("finished", "put 1")


def test_a_model_does_not_choose_a_payment_meanwhile() -> None:
    shop = Shop()
    plans = [FREE], [{"id": "b", "description": "pay again"}]
    run = agent_for(mixed(shop, False, "pay"), *plans, replan="failure", max_replans=1).run("go")
    check_fold(run)
    assert shop.done == ["pay 1"]
    assert 'pay({"n": 1}) is not called: step a might have made pay({"n": 1}), which runs at most once' in run.reason


def test_a_step_with_a_tool_has_said_everything() -> None:
    shop = Shop({"pay 1": 5.0})
    plans = [step("a", "pay", n=1, timeout=1.0)], [step("d", "pay", n=2)]
    run = agent_for(mixed(shop, False), *plans, replan="failure").run("go")
    assert (run.status, shop.done) == ("finished", ["pay 1", "pay 2"])


class SaysDone:
    """Approves every plan, and says of a step in doubt that it was done."""

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision:
        return question.decide("done", result=1) if question.kind == "doubt" else question.decide("approve")


def test_a_reviewer_who_approves_the_later_plan_allows_it() -> None:
    shop = Shop(broken="look 3")
    plans = [FREE, step("c", "look", "a", n=3)], [step("d", "pay", n=2)]
    agent = agent_for(mixed(shop, False, "put"), *plans, reviewer=SaysDone(), replan="failure", max_replans=1)
    run = agent.run("go")
    check_fold(run)
    assert [one.about for one in run.board.reviews] == ["the plan", "step a", "the plan"]
    assert (run.status, shop.done) == ("finished", ["put 1", "look 3", "pay 2"])


class Killed(Chooses):
    """The process ends after the first calls; the next time they are made without it."""

    lives = False

    def execute(self, step: Step, inputs: Any) -> Any:
        if self.lives:
            return "done"
        super().execute(step, inputs)
        self.lives = True
        raise KeyboardInterrupt


@pytest.mark.parametrize(("said", "paid"), [("done", 0), ("not done", 1)])
def test_a_person_says_what_became_of_a_killed_step(said: Any, paid: int) -> None:
    shop = Shop(broken="look 3")
    executor = HybridExecutor(ToolExecutor(shop.tools), Killed(shop.tools, "put"))
    plans = [FREE | {"timeout": None}, step("b", "look", "a", n=3)], [step("d", "pay", n=2)]
    agent = agent_for(executor, *plans, replan="failure", max_repairs=0)
    with pytest.raises(KeyboardInterrupt) as ended:
        agent.run("go")
    run = agent.resume(ended.value.run)  # type: ignore[attr-defined]
    assert run.question is not None
    run = agent.resume(run, run.question.decide(said, result="paid" if said == "done" else None))
    check_fold(run)
    assert shop.done == ["put 1", "look 3", *["pay 2"] * paid]
    assert (MIGHT in run.reason) is not bool(paid)


class Both(Chooses):
    """Carries out step "a" as a nested run, and chooses the calls of the others."""

    inner: Any = None

    def agent_inside(self, step: Step) -> Any:
        return self.inner if step.id == "a" else None

    def execute(self, step: Step, inputs: Any) -> Any:
        return self.inner.execute(step, inputs) if step.id == "a" else super().execute(step, inputs)


def test_steps_beside_each_other_give_each_chosen_call_its_own_key() -> None:
    keys = list[str]()

    def put(n: int) -> None:
        keys.append(str(idempotency_key()))
        charge(1.0)

    executor = Both(Toolbox([Tool(put, effects="idempotent")]), "put")
    executor.inner = agent_for(Chooses(executor.tools, "put"), [words("x"), words("y")])
    agent_for(executor, [words("a"), words("b")]).run("go")
    assert len({*keys}) == len(keys) == 3


@pytest.mark.parametrize("first", ["nested", "plan"])
def test_the_same_call_in_a_plan_and_in_a_nested_run_has_two_keys(first: str) -> None:
    keys = list[str]()

    def pay(n: int) -> None:
        keys.append(str(idempotency_key()))
        charge(1.0)

    tools = Toolbox([Tool(pay, effects="once")])
    inner = agent_for(tools, [step("i", "pay", n=1)])
    steps = [words("a"), step("b", "pay", n=1)]
    run = agent_for(HybridExecutor(ToolExecutor(tools), inner), steps if first == "nested" else steps[::-1]).run("go")
    assert (run.status, len({*keys}), len(keys)) == ("finished", 2, 2)


class Wordy(Chooses):
    """Carries out a step whose description lists its calls, such as "look 1; pay 2"."""

    def execute(self, step: Step, inputs: Any) -> Any:
        calls = [words.split() for words in step.description.split("; ")]
        return [self.tools[name].call({"n": int(number)}) for name, number in calls]


class Mail:
    """A mailbox with the keys of its calls; the `busy` ones, counted from 1, fail and did nothing. `slow` takes real time."""

    def __init__(self, *busy: int) -> None:
        self.keys, self.busy = list[str](), busy
        tools = [
            Tool(self.mail, retry_on=[ConnectionError], not_done=[ConnectionError]),
            Tool(self.slow, effects="none"),
        ]
        self.tools = Toolbox(tools)

    def mail(self, n: int) -> None:
        self.keys.append(str(idempotency_key()))
        charge(1.0)
        if len(self.keys) in self.busy:
            raise ConnectionError

    def slow(self, n: int) -> None:
        time.sleep(n / 10)


def test_two_steps_that_try_the_same_call_again_keep_their_keys() -> None:
    box = Mail(1, 2)
    steps = [{"id": name, "description": "mail 1", "retries": 1} for name in "ab"]
    run = execute(Plan.parse(steps), Wordy(box.tools), workers=Simulated())
    assert run.status == "finished"
    assert box.keys[:2] == box.keys[2:]
    assert len({*box.keys}) == 2


def test_a_step_that_is_tried_again_alone_keeps_its_key() -> None:
    box = Mail(2)
    steps = [{"id": "a", "description": "mail 2"}, {"id": "b", "description": "mail 1", "retries": 1}]
    run = execute(Plan.parse(steps), Wordy(box.tools), workers=Simulated())
    assert (run.status, len(box.keys)) == ("finished", 3)
    assert box.keys[1] == box.keys[2]


def test_the_calls_of_a_step_that_is_still_at_work_have_keys_of_their_own() -> None:
    box = Mail()
    overdue = {"id": "a", "description": "slow 6; mail 1", "timeout": 0.1}
    other = {"id": "b", "description": "slow 7; mail 1", "depends_on": ["a"], "run_anyway": True}
    with ThreadPoolExecutor(4) as threads:
        execute(Plan.parse([overdue, other]), Wordy(box.tools), workers=Pool(threads))
    assert len({*box.keys}) == len(box.keys) == 2


def test_what_a_person_says_inside_a_nested_run_counts_outside(tmp_path: Path) -> None:
    shop = Shop()
    below = agent_for(shop.tools, [words("i")])
    below.executor = Killed(shop.tools, "put")
    executor = HybridExecutor(ToolExecutor(shop.tools), below)
    plans = {"steps": [words("a")], "complete": False}, [step("d", "pay", n=1)]
    agent = agent_for(executor, *plans, journal=Journal(tmp_path / "runs"), max_repairs=0)
    with pytest.raises(KeyboardInterrupt) as killed:
        agent.run("go")
    run = agent.resume(killed.value.run)  # type: ignore[attr-defined]
    while run.question is not None:
        run = agent.resume(run, run.question.decide("not done"))
    assert (run.status, shop.done) == ("finished", ["put 1", "pay 1"])
