"""Evaluators: the verdict about a result decides the next event."""

from dataclasses import dataclass
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lite import ApproveAll, LLMEvaluator, RuleEvaluator, Step, Tool, Toolbox, Verdict
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Judging
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import check_fold, step


class Counter:
    """A world that counts what was done to it."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.tools = Toolbox([Tool(self.make, latency=1.0, effects="none")])

    def make(self, n: int) -> int:
        self.made.append(n)
        return n * len(self.made)


ONE = [step("1", "make", n=1, success_criteria="it is even"), step("2", "make", "1", n=1)]


def test_the_verdict_modify_runs_the_step_with_other_words() -> None:
    world = Counter()

    def rule(step: Step, result: Any) -> Verdict:
        return Verdict("accept") if step.description == "once more" else Verdict("modify", "small", "once more")

    run = carry_out(ONE, world.tools, evaluator=rule, retries=1)
    assert (run.status, world.made, run.results["1"]) == ("finished", [1, 1, 1], 2)


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        (True, "accept", ""),
        (None, "accept", ""),
        (False, "replan", "cheap"),
        ("too dear", "replan", "too dear"),
        (Verdict("retry"), "retry", ""),
        ({"score": 1}, "replan", "{'score': 1}"),
    ],
)
def test_a_rule_can_return_a_shorter_answer(answer: Any, verdict: str, reason: str) -> None:
    step = Step(id="1", success_criteria="cheap")
    ruled = RuleEvaluator(lambda step, result: answer).evaluate(step, 1, Board())
    assert ruled.verdict == verdict
    assert reason in ruled.reason


@dataclass
class Odd:
    """An evaluator that returns any value, or raises."""

    answer: Any

    def evaluate(self, step: Step, result: Any, board: Board) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(step) if callable(self.answer) else self.answer


def model_that_says(**reply: Any) -> tuple[LLMEvaluator, MockLLM]:
    llm = MockLLM([{"name": "says", "when": {"system": "Role: evaluator"}, "reply": reply}])
    return LLMEvaluator(llm.client()), llm


NO_VERDICT: dict[str, Any] = {
    "no evaluator": None,
    "an error": Odd(ZeroDivisionError("no idea")),
    "nothing": Odd(None),
    "a word": Odd("accept"),
    "a list": Odd(lambda step: Verdict("modify", "no", changed=["x"])),
} | {text: model_that_says(text=text, broken=True)[0] for text in ("fine by me", '{"verdict": "accept"}', "[]", "null")}


@pytest.mark.parametrize("name", NO_VERDICT)
@pytest.mark.parametrize("reviewer", [None, ApproveAll()], ids=["alone", "reviewed"])
def test_without_a_verdict_the_step_is_done_and_unverified(name: str, reviewer: Any) -> None:
    roles = {"reviewer": reviewer, "evaluator": NO_VERDICT[name]}
    run = agent_for(Counter().tools, ONE, retries=1, **roles).run("make")
    assert (run.status, run.board[Judging].unverified) == ("finished", {"1"})
    check_fold(run)


YES = {"verdict": "accept", "reason": "fine", "task": None, "rejects": None}


def test_the_judging_model_sees_only_the_criterion_and_the_result() -> None:
    judge, llm = model_that_says(json=YES, latency=2.0)
    run = carry_out(ONE, Counter().tools, evaluator=judge)
    assert (run.makespan, run.usage.calls) == (4.0, 1)
    sent = str(llm.calls[-1].request)
    assert "it is even" in sent
    assert "Result: data: 1" in sent
    assert "tools" not in llm.calls[-1].request
    assert "You plan" not in sent
