"""Judges against the truth of worlds whose state can be checked."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lite import LLMEvaluator, RuleEvaluator, Step, connect
from planexec_lite.board import Board
from planexec_lite.grade import Case, JudgeScore, judged, migration_cases, refactor_cases, research_cases
from planexec_lite.review import Verdict
from planexec_lite.scenarios import migration


def case(name: str, result: Any, done: bool) -> Case:
    return Case(name, Step(id="1", success_criteria="ok"), result, Board(), done)


CASES = [case("good", "yes", True), case("modest", "no", True), case("boast", "yes", False), case("bad", "no", False)]
BELIEVES_WORDS = RuleEvaluator(lambda step, result: "error" not in str(result).lower())


def looks(world: migration.World) -> RuleEvaluator:
    """A judge that does not read the result, and looks at production."""
    schema = world.read_schema()
    whole = schema["now"] == schema["wanted"] and not world.damage()
    return RuleEvaluator(lambda step, result: whole)


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


def test_a_judge_that_believes_words_accepts_a_lost_address() -> None:
    believing, looking = judged(BELIEVES_WORDS, migration_cases()), judged(looks, migration_cases())
    assert believing.false_accepts == (
        "the tested script, step 5 in words",
        "the hasty script, step 5 in words",
        "the hasty script, step 5",
        "the hasty script, step 6",
    )
    assert (looking.done, looking.not_done, looking.false_accepts, looking.false_rejects) == (2, 4, (), ())


def test_a_judge_that_is_afraid_of_a_word_rejects_good_work() -> None:
    afraid = RuleEvaluator(lambda step, result: "fault" not in str(result))
    assert judged(afraid, migration_cases()).false_rejects == ("the tested script, step 6",)


def test_the_truth_of_the_migration_is_in_its_rows() -> None:
    truths = {one.name: one.done for one in migration_cases()}
    assert [name for name, done in truths.items() if done] == ["the tested script, step 5", "the tested script, step 6"]


def test_the_truth_of_the_report_is_in_the_library() -> None:
    reports = {one.name: (one.done, one.world.report) for one in research_cases()}
    done = [name for name, (done, _) in reports.items() if done]
    assert done == ["a report that cites, step 10"]
    assert all(written == "" for name, (_, written) in reports.items() if name.endswith("in words"))
    assert judged(BELIEVES_WORDS, research_cases()).false_accepts == tuple(name for name in reports if name not in done)


@pytest.mark.slow
def test_the_truth_of_the_refactoring_is_what_its_unit_tests_say() -> None:
    truths = {(one.name, one.world.run_test_suite()["failed"] == []): one.done for one in refactor_cases()}
    passed = [name for (name, passed), done in truths.items() if done and passed]
    assert passed == ["the header mended, step 7"]
    moved = [name for (name, _), done in truths.items() if done and "step 5" in name]
    assert moved == ["the header forgotten, step 5", "the header mended, step 5"]
    assert sum(truths.values()) == 3
    assert len(truths) == 10


def count(cases: Iterator[Case]) -> tuple[int, int]:
    every = [one.done for one in cases]
    return sum(every), len(every) - sum(every)


@pytest.mark.parametrize(("world", "cases"), [("migration", migration_cases), ("research", research_cases)])
def test_the_score_of_a_scripted_model_is_that_of_its_script(world: str, cases: Callable[[], Iterator[Case]]) -> None:
    told = [
        judged(LLMEvaluator(client), cases())
        for client in (connect(world), *(scripted(verdict) for verdict in ("accept", "replan")))
    ]
    done, not_done = count(cases())
    own, credulous, strict = told
    assert (len(credulous.false_accepts), credulous.false_rejects) == (not_done, ())
    assert (strict.false_accepts, len(strict.false_rejects)) == ((), done)
    assert all(name in credulous.false_accepts for name in own.false_accepts)
    assert 0 < len(own.false_accepts) < not_done, (
        "its script believes words, and reads a result that says it has faults"
    )


def scripted(verdict: str) -> Any:
    scene = {"verdict": verdict, "reason": "the script says so", "task": None, "rejects": None}
    llm = MockLLM([{"name": "always the same", "when": {"role": "evaluator"}, "reply": {"json": scene}}])
    return llm.client()


def test_an_evaluator_sees_the_run_as_it_stands() -> None:
    llm = MockLLM.load("planexec_lite/scenarios/migration/scenes.yaml")
    judged(LLMEvaluator(llm.client()), migration_cases())
    assert len(llm.calls) == 6
    assert "Done before:\n- step 1, Analyze current schema\n- step 2, Create backup" in str(
        llm.calls[0].request["messages"][1]["content"]
    )
