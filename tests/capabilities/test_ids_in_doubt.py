"""The id of a step that might have been done names no other step, so that no result and no answer counts for another."""

from collections.abc import Mapping
from typing import Any

import pytest

from planexec_lite import (
    Board,
    Decision,
    HybridExecutor,
    Plan,
    PlanError,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
)
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.stepping import effects_of_any
from planexec_lite.capabilities.undo import steps_in_doubt
from planexec_lite.core.questions import Question
from planexec_lite.meter import charge
from planexec_lite.plan.reading import lineages
from tests.core.agents import Fitting, agent_for
from tests.core.shapes import END, Portions, Writing, check_fold, step

EFFECTS: dict[str, Any] = {"look": "none", "put": "idempotent", "take": "idempotent", "pay": "once", "mail": "unknown"}


class Shop:
    """Tools that list their calls; `slow` has the seconds of some calls, and the calls in `broken` fail."""

    def __init__(self, slow: Mapping[str, float] | None = None, broken: str = "") -> None:
        self.slow, self.broken, self.done = slow or {}, broken, list[str]()
        self.tools = Toolbox([self.tool(name) for name in EFFECTS])

    def tool(self, name: str) -> Tool:
        def call(n: int) -> int:
            self.done.append(f"{name} {n}")
            charge(self.slow.get(f"{name} {n}", 0.0))
            if f"{name} {n}" == self.broken:
                raise RuntimeError("broken")
            return n

        return Tool(call, name=name, effects=EFFECTS[name])


def taken(number: int) -> dict[str, Any]:
    return {"tool": "take", "params": {"n": number}}


PUT = step("x", "put", n=9, undo=taken(9))
LATE = step("a", "pay", "x", n=1, timeout=1.0)
OTHERS = {
    "no effects": step("a", "look", n=2),
    "another payment": step("a", "pay", n=2),
    "a mail": step("a", "mail", n=2),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_plan_that_gives_away_the_id_of_a_payment_is_repaired(other: str) -> None:
    shop = Shop({"pay 1": 5.0, "look 3": 9.0}, broken="look 4")
    after = [step("b", "look", n=3), step("c", "look", "b", n=4)]
    planner = Portions([PUT, LATE], [OTHERS[other], *after], [OTHERS[other] | {"id": "ab"}, *after])
    run = agent_for(shop.tools, planner, replan="failure", max_replans=1, rollback="failed").run("go")
    check_fold(run)
    assert planner.told == [[], [], ["id_in_doubt"]]
    assert "pay 1" in shop.done
    assert run.status == "partly rolled back"
    assert "a (it was done after its timeout)" in run.reason
    assert "take 9" not in shop.done


def test_a_payment_does_not_get_the_id_of_a_look_that_is_still_at_work() -> None:
    shop = Shop({"look 1": 9.0})
    planner = Portions([step("a", "look", n=1, timeout=1.0)], [step("a", "pay", n=2)], [step("a", "look", n=3)])
    run = agent_for(shop.tools, planner, replan="failure").run("go")
    assert (planner.told, run.status, shop.done) == ([[], [], ["id_in_doubt"]], "finished", ["look 1", "look 3"])


def test_a_streamed_step_does_not_start_early_under_such_an_id() -> None:
    shop = Shop({"pay 1": 90.0})
    planner = Writing([PUT, LATE, END], [step("a", "put", n=1), 3.0, END], [step("ab", "put", n=2), END])
    run = agent_for(shop.tools, planner, replan="failure").run("go")
    check_fold(run)
    assert (planner.told, run.status) == ([[], [], ["id_in_doubt"]], "finished")
    assert shop.done == ["put 9", "pay 1", "put 2"]


def test_a_reviewer_gives_no_such_id_away() -> None:
    shop = Shop()
    plans = [{"id": "a", "description": "pay"}], [step("b", "look", n=1)]
    executor = HybridExecutor(ToolExecutor(shop.tools), Chooses(shop.tools, "pay", "pay"))
    agent = agent_for(executor, *plans, reviewer=Fitting(["approve", "approve", "change"]))
    run = agent.run("go")
    assert (run.reason, shop.done) == ("waits for approval", ["pay 1"])
    edited = Plan.parse([step("a", "look", n=2)])
    with pytest.raises(PlanError, match="id_in_doubt"):
        agent.resume(run, Decision("approve", plan=edited))


class Chooses:
    """Chooses these calls, and then needs five seconds."""

    asks_models = True

    def __init__(self, tools: Toolbox, *calls: str) -> None:
        self.tools, self.calls = tools, calls

    @property
    def effects(self) -> Any:
        return effects_of_any(self.tools)

    def chooses_calls(self, step: Step) -> bool:
        return True

    def execute(self, step: Step, inputs: Any) -> Any:
        results = [self.tools[name].call({"n": number}) for number, name in enumerate(self.calls, 1)]
        charge(5.0)
        return results


class Slow:
    def evaluate(self, *_shown: Any) -> Verdict:
        charge(5.0)
        return Verdict("accept")


@pytest.mark.parametrize("nested", [False, True], ids=["chosen", "nested"])
def test_calls_inside_a_step_that_ends_late_are_known(nested: bool) -> None:
    shop = Shop({"look 7": 9.0}, broken="look 8")
    below: Any = Chooses(shop.tools, "pay")
    if nested:
        below = agent_for(shop.tools, [step("i", "pay", n=1, success_criteria="paid")], evaluator=Slow())
    plans = (
        [{"id": "a", "description": "pay", "timeout": 1.0}, step("b", "look", n=4)],
        [step("c", "look", n=7), step("e", "look", "c", n=8)],
        [step("d", "pay", n=1)],
    )
    executor = HybridExecutor(ToolExecutor(shop.tools), below)
    run = agent_for(executor, *plans, replan="failure", max_repairs=0, max_replans=2).run("go")
    check_fold(run)
    assert shop.done.count("pay 1") == 1
    assert "step a already made this call" in run.reason


def test_a_nested_run_is_rolled_back_though_a_later_step_has_its_id() -> None:
    shop = Shop(broken="look 5")
    below = agent_for(shop.tools, [step("i", "put", n=1, undo=taken(1)), step("j", "look", "i", n=5)])
    plans = [{"id": "a", "description": "put"}], [step("a", "look", n=7), step("e", "look", "a", n=5)]
    executor = HybridExecutor(ToolExecutor(shop.tools), below)
    run = agent_for(executor, *plans, replan="failure", max_replans=1, rollback="failed").run("go")
    check_fold(run)
    assert (run.status, "undone: a/i" in run.reason, shop.done[-1]) == ("rolled back", True, "take 1")


class Asked:
    """Says of the nested run in doubt that it was not done, and lets the run with the payment in doubt be rolled back."""

    def review(self, question: Question, board: Board, tools: Any) -> Decision:
        if question.kind != "doubt":
            return question.decide("approve")
        if "reject" in question.verdicts:
            return question.decide("reject")
        return question.decide("not done" if board.steps["a"].tool is None else "roll back")


class Turns:
    """Accepts the first result after five seconds, and rejects the second at once."""

    def __init__(self) -> None:
        self.asked = 0

    def evaluate(self, *_shown: Any) -> Verdict:
        self.asked += 1
        charge(5.0 if self.asked == 1 else 0.0)
        return Verdict("accept" if self.asked == 1 else "replan")


def test_an_answer_about_a_nested_run_hides_no_later_doubt() -> None:
    shop = Shop({"pay 1": 50.0, "look 3": 9.0})
    below = agent_for(shop.tools, [step("i", "look", n=1, success_criteria="seen")], evaluator=Turns())
    first = [PUT, {"id": "a", "description": "look", "timeout": 1.0}, step("b", "look", n=3)]
    executor = HybridExecutor(ToolExecutor(shop.tools), below)
    run = agent_for(executor, first, [LATE], reviewer=Asked(), replan="failure", max_replans=1).run("go")
    check_fold(run)
    assert (run.status, "take 9" in shop.done) == ("partly rolled back", False)
    assert "x (step a, which depends on it, is in doubt)" in run.reason


def test_lineages_end_though_ids_that_are_used_again_form_a_cycle() -> None:
    steps = {"a": Step(id="a", depends_on=("b",)), "b": Step(id="b", depends_on=("a",))}
    assert len(lineages(steps, ["a"])) == 1
    assert len(lineages(steps, ["a", "b"])) == 2


class Broken:
    """The evaluator of a nested run: an error the first time, the end of the process the second time, then a yes."""

    def __init__(self) -> None:
        self.asked = 0

    def evaluate(self, *_shown: Any) -> Verdict:
        self.asked += 1
        if self.asked == 2:
            raise KeyboardInterrupt
        return Verdict("accept")


def test_an_answer_is_about_the_attempt_that_no_nested_run_explains() -> None:
    shop = Shop(broken="pay 1")
    look = step("j", "look", n=5, success_criteria="seen")
    below = agent_for(shop.tools, [look, step("i", "pay", "j", n=1)], [look], [look], evaluator=Broken())
    executor = HybridExecutor(ToolExecutor(shop.tools), below)
    agent = agent_for(executor, [{"id": "a", "description": "pay", "retries": 3}])
    with pytest.raises(KeyboardInterrupt) as killed:
        agent.run("go")
    run = agent.resume(killed.value.run)  # type: ignore[attr-defined]
    assert run.question is not None
    board = agent.resume(run, run.question.decide("not done")).board
    assert (board[Doubt].attempts["a"], steps_in_doubt(board)) == (1, {})
