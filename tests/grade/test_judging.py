"""Judges against the truth of worlds whose state can be checked."""

from typing import Any

import pytest

from planexec_lab.grade import Case, JudgeScore, judged
from planexec_lite import RuleEvaluator, Step
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Verdict


def case(name: str, result: Any, done: bool) -> Case:
    return Case(name, Step(id="1", success_criteria="ok"), result, Board(), done)


CASES = [case("good", "yes", True), case("modest", "no", True), case("boast", "yes", False), case("bad", "no", False)]


def test_accepts_and_rejects_are_held_against_the_truth() -> None:
    got = judged(RuleEvaluator(lambda step, result: result == "yes"), CASES)
    assert got == JudgeScore(2, 2, ("boast",), ("modest",))
    assert str(got) == "1 of 2 that were not done were accepted, 1 of 2 that were done were not"


@pytest.mark.parametrize("verdict", ["retry", "modify", "replan"])
def test_whatever_does_not_accept_rejects(verdict: Any) -> None:
    got = judged(RuleEvaluator(lambda step, result: Verdict(verdict)), CASES)
    assert (got.false_accepts, got.false_rejects) == ((), ("good", "modest"))


def test_a_judge_that_raises_is_counted_apart() -> None:
    def rule(step: Step, result: Any) -> bool:
        if result == "no":
            raise LookupError("no rule for that")
        return True

    got = judged(RuleEvaluator(rule), CASES)
    told = "LookupError: no rule for that"
    assert got == JudgeScore(2, 2, ("boast",), (), (("modest", told), ("bad", told)))
    assert str(got).endswith(", 2 not judged")
