"""Versions on the real recording; the check that fails on a regression; and data sets made from runs."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lab import connect, recorded
from planexec_lab.prompts import (
    MEASURES,
    Backtest,
    Comparison,
    PromptVersion,
    RegressionError,
    Row,
    asked,
    backtest,
    check,
    compare,
    recorded_answers,
    rows_from_runs,
    rows_from_transcript,
)
from planexec_lab.prompts.datasets import tool_words
from planexec_lab.recorded import RecordedAnswer, Transcript, smollm2
from planexec_lab.worlds import arithmetic, research
from planexec_lite import Journal, LLMPlanner, PlannerExecutor, Policy, Run, ToolExecutor
from planexec_lite.model.schemas import plan_schema
from planexec_lite.roles.planners import INSTRUCTIONS
from planexec_lite.tools import ToolError

WHOLE = PromptVersion("planner", 1, INSTRUCTIONS)


def without(rule: str, transcript: Transcript) -> PromptVersion:
    return PromptVersion("planner", 2, transcript.variants[f"without {rule}"].prompt)


def held_against(new: PromptVersion, old: PromptVersion, transcript: Transcript, measure: str) -> Comparison:
    rows, answers = rows_from_transcript(transcript), recorded_answers(transcript)
    return compare(backtest(new, rows, answers, measure), backtest(old, rows, answers, measure))


def test_a_backtest_counts_as_the_recording_is_counted() -> None:
    heard = recorded.smollm2()
    counted = {"valid": recorded.is_valid, "ends a step": recorded.ends_a_step}
    assert counted.keys() == MEASURES.keys()
    for rule in recorded.RULES:
        new = without(rule, heard)
        for name, measure in counted.items():
            one = backtest(new, rows_from_transcript(heard), recorded_answers(heard), name)
            assert one.share == recorded.share(heard, f"without {rule}", measure)
    template = PromptVersion("planner", 2, recorded.without(INSTRUCTIONS, "failure"))
    rows, answers = rows_from_transcript(heard), recorded_answers(heard)
    assert backtest(template, rows, answers).answers == backtest(without("failure", heard), rows, answers).answers


def test_the_real_model_does_better_without_a_rule_and_the_way_back_is_red() -> None:
    heard = recorded.smollm2()
    shorter = without("failure", heard)
    better = check(held_against(shorter, WHOLE, heard, "ends a step"))
    assert (better.told, better.new.written, "written" in str(better)) == (True, False, False)
    worse = held_against(WHOLE, shorter, heard, "ends a step")
    assert worse.is_regression()
    with pytest.raises(RegressionError, match=r"planner 1 is worse than planner 2\nanswers of SmolLM2"):
        check(worse)
    assert check(worse, tolerance=0.1) is worse
    more_hits = held_against(without("ids", heard), WHOLE, heard, "ends a step")
    assert (more_hits.value > 0, more_hits.told) == (True, False)
    assert "not significant" in str(more_hits)


def test_what_was_not_asked_or_measured_alike_is_refused() -> None:
    heard = recorded.smollm2()
    rows, answers = rows_from_transcript(heard), recorded_answers(heard)
    with pytest.raises(LookupError, match="was never asked with this text; it was asked with: whole, without ids"):
        backtest(PromptVersion("p", 1, INSTRUCTIONS + " Please."), rows, answers)
    with pytest.raises(LookupError, match="row '1' was never put to SmolLM2"):
        backtest(WHOLE, rows_from_transcript(recorded.family()), answers)
    with pytest.raises(ValueError, match="there is no measure 'vaild'; did you mean 'valid'"):
        backtest(WHOLE, rows, answers, "vaild")
    with pytest.raises(ValueError, match="there is no row to measure"):
        backtest(WHOLE, [], answers)
    with pytest.raises(ValueError, match=r"the field \{step\} is missing"):
        backtest(PromptVersion("planner", 3, "{tools}"), rows, asked(connect("arithmetic")))
    one = backtest(WHOLE, rows, answers)
    with pytest.raises(ValueError, match="with different rows"):
        compare(one, backtest(WHOLE, rows[:9], answers))
    with pytest.raises(ValueError, match="with different measure"):
        compare(one, backtest(WHOLE, rows, answers, "ends a step"))


# Intervals, and noise


def passing(number: int, passed: list[bool]) -> Backtest:
    rows = tuple(Row(str(n), "goal", ()) for n in range(len(passed)))
    answers = (RecordedAnswer("", "stop", 0, 0, 0, ""),) * len(rows)
    return Backtest(PromptVersion("p", number, "text"), rows, answers, tuple(passed), "passed", "a test", True)


NEVER_RED = "could never turn red"


@pytest.mark.parametrize(
    ("passed", "tolerance", "why"),
    [
        *(
            ([True] * 30, tolerance, "give the share by which a version can be worse")
            for tolerance in (-0.1, 1.0, float("nan"))
        ),
        ([True] * 5, 0.0, NEVER_RED),
        ([True] * 30, 0.95, NEVER_RED),
        ([False] * 30, 0.0, f"{NEVER_RED}: the old version has 'passed' in 0 of 30 rows"),
    ],
)
def test_a_check_that_could_never_turn_red_is_refused(passed: list[bool], tolerance: float, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check(compare(passing(2, passed), passing(1, passed)), tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_the_check_is_seldom_red_at_noise_and_red_at_a_regression(share: float) -> None:
    """Of equals, one side in forty is expected to look worse; of a version that loses nearly all, most are seen."""
    random, runs = Random(str(share)), 100

    def red(new: float) -> int:
        count = 0
        for _ in range(runs):
            sides = [[random.random() < each for _ in range(30)] for each in (new, share)]
            count += compare(*(passing(2 - n, side) for n, side in enumerate(sides))).is_regression()
        return count

    assert red(share) <= 0.06 * runs
    assert red(max(0.0, share - 0.7)) >= 0.6 * runs


def arithmetic_run(journal: Journal | None = None) -> Run:
    planner = LLMPlanner(connect("arithmetic"))
    return PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), journal=journal).run(arithmetic.GOAL)


def add(tool: str) -> dict[str, Any]:
    """A reply with a plan of one step."""
    steps = [{"id": "1", "tool": tool, "params": {"a": 1, "b": 2}}]
    return {"json": {"goal": "g", "steps": steps, "complete": True}, "broken": True}


def test_each_question_of_a_run_is_a_row_that_asks_it_word_for_word() -> None:
    llm = MockLLM(
        [{"name": tool, "when": {"turn": turn}, "reply": add(tool)} for turn, tool in ((1, "ad"), (2, "add"))]
    )
    agent = PlannerExecutor(LLMPlanner(llm.client()), ToolExecutor(arithmetic.TOOLS), policy=Policy(max_repairs=1))
    first, repair = rows = rows_from_runs([agent.run("What is 1 + 2?")], arithmetic.TOOLS, tags=["nightly"])
    assert (first.id, first.tags) == ("run 1, question 1", ("nightly", "first", "finished"))
    assert (repair.id, repair.tags) == ("run 1, question 2", ("nightly", "repair", "finished"))
    assert first.goal == "What is 1 + 2?"
    assert [problem.code for problem in repair.board.problems] == ["unknown_tool"]
    for row, call in zip(rows, llm.calls, strict=True):
        again = LLMPlanner(None, "m").messages(row.goal, row.board, row.toolbox)
        assert [one["content"] for one in again] == [one["content"] for one in call.request["messages"]]


@pytest.mark.parametrize("tools", [arithmetic.TOOLS, research.World().tools], ids=["arithmetic", "research"])
def test_the_tools_of_a_row_read_as_those_of_the_run(tools: object) -> None:
    row = Row("1", "goal", tool_words(tools))  # type: ignore[arg-type]
    assert row.toolbox.describe() == tools.describe()  # type: ignore[attr-defined]
    assert plan_schema(row.toolbox) == plan_schema(tools)  # type: ignore[arg-type]
    with pytest.raises(ToolError, match="can be read but not called"):
        next(iter(row.toolbox)).function()


def test_a_journal_becomes_a_data_set(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.db")
    for _ in range(3):
        arithmetic_run(journal)
    rows = rows_from_runs([journal.load(run.id) for run in journal.list()], arithmetic.TOOLS, ["nightly"])
    assert [row.id for row in rows] == ["run 1, question 1", "run 2, question 1", "run 3, question 1"]
    assert len(rows_from_transcript(smollm2())) == 30


def test_another_version_is_asked_the_same_question_with_its_own_text() -> None:
    rule = "Answer with JSON alone"
    scenes = [
        {"name": "well", "when": {"system": [rule]}, "reply": add("add")},
        {"name": "badly", "when": {}, "reply": {"text": "It is 3."}},
    ]
    client = MockLLM(scenes).client()
    run = PlannerExecutor(LLMPlanner(client), ToolExecutor(arithmetic.TOOLS)).run("What is 1 + 2?")
    rows, answers = rows_from_runs([run], arithmetic.TOOLS), asked(client)
    shorter = PromptVersion("planner", 2, INSTRUCTIONS.replace(f"\n- {rule}.", ""))
    assert [backtest(version, rows, answers, "valid").share.hits for version in (WHOLE, shorter)] == [1, 0]
    assert backtest(shorter, rows, answers).answers[0].text == "It is 3."
