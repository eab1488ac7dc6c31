"""Data sets made from past runs: a row holds the whole question, so that it can be asked again."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lab import connect
from planexec_lab.prompts import (
    PromptVersion,
    Registry,
    RegistryError,
    Row,
    ToolWords,
    asked,
    backtest,
    check,
    compare,
    rows_from_runs,
    rows_from_transcript,
)
from planexec_lab.prompts.datasets import tool_words
from planexec_lab.recorded import smollm2
from planexec_lab.worlds import arithmetic, research
from planexec_lite import Journal, LLMPlanner, PlannerExecutor, Policy, Run, ToolExecutor
from planexec_lite.model.schemas import plan_schema
from planexec_lite.roles.planners import INSTRUCTIONS
from planexec_lite.tools import ToolError

WHOLE = PromptVersion("planner", 1, INSTRUCTIONS)


def arithmetic_run(journal: Journal | None = None) -> Run:
    planner = LLMPlanner(connect("arithmetic"))
    return PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), journal=journal).run(arithmetic.GOAL)


def test_each_question_of_a_run_is_a_row_that_asks_it_word_for_word() -> None:
    right = {"goal": "g", "steps": [{"id": "1", "tool": "add", "params": {"a": 1, "b": 2}}], "complete": True}
    wrong = {**right, "steps": [{"id": "1", "tool": "ad", "params": {"a": 1, "b": 2}}]}
    scenes = [(1, wrong), (2, right)]
    llm = MockLLM(
        [{"name": f"{n}", "when": {"turn": n}, "reply": {"json": plan, "broken": True}} for n, plan in scenes]
    )
    agent = PlannerExecutor(LLMPlanner(llm.client()), ToolExecutor(arithmetic.TOOLS), policy=Policy(max_repairs=1))
    first, repair = rows = rows_from_runs([agent.run("What is 1 + 2?")], arithmetic.TOOLS, tags=["nightly"])
    assert (first.id, first.score, first.tags) == ("run 1, question 1", 0.0, ("nightly", "first", "finished"))
    assert (repair.id, repair.score, repair.tags) == ("run 1, question 2", 1.0, ("nightly", "repair", "finished"))
    assert first.goal == "What is 1 + 2?"
    assert [problem.code for problem in repair.board.problems] == ["unknown_tool"]
    assert '"tool":"ad"' in first.answer.replace(" ", "")
    for row, call in zip(rows, llm.calls, strict=True):
        again = LLMPlanner(None, "m").messages(row.goal, row.board, row.toolbox)
        assert [one["content"] for one in again] == [one["content"] for one in call.request["messages"]]


@pytest.mark.parametrize("tools", [arithmetic.TOOLS, research.World().tools], ids=["arithmetic", "research"])
def test_the_tools_of_a_row_read_as_those_of_the_run(tools: object, tmp_path: Path) -> None:
    row = Row("1", "goal", tool_words(tools))  # type: ignore[arg-type]
    registry = Registry(tmp_path / "p.db")
    registry.add_rows("d", [row])
    (stored,) = registry.rows("d")
    assert stored == row
    assert stored.toolbox.describe() == tools.describe()  # type: ignore[attr-defined]
    assert plan_schema(stored.toolbox) == plan_schema(tools)  # type: ignore[arg-type]
    with pytest.raises(ToolError, match="can be read but not called"):
        next(iter(stored.toolbox)).function()


def test_a_journal_becomes_a_data_set_and_an_equal_row_is_kept_once(tmp_path: Path) -> None:
    journal, registry = Journal(tmp_path / "runs.db"), Registry(tmp_path / "p.db")
    for _ in range(3):
        arithmetic_run(journal)
    rows = rows_from_runs(journal, arithmetic.TOOLS, ["nightly"])
    assert [row.id for row in rows] == ["run 1, question 1", "run 2, question 1", "run 3, question 1"]
    added = [registry.add_rows(name, some) for name, some in (("sums", rows), ("sums", rows), ("other", rows[:1]))]
    assert added == [3, 0, 1]
    assert registry.rows("sums") == rows
    assert registry.datasets() == {"sums": 3, "other": 1}
    registry.add_rows("recorded", rows_from_transcript(smollm2()))
    assert len(registry.rows("recorded")) == 30


def test_a_row_that_was_spoiled_is_named(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "p.db")
    registry.add_rows("d", rows_from_runs([arithmetic_run()], arithmetic.TOOLS))
    for data in ("{", "[]", '{"id": "1"}', '{"id": "1", "goal": "g", "tools": [], "events": ["x"]}', "[" * 9_999):
        with closing(sqlite3.connect(registry.path)) as db, db:
            db.execute("UPDATE dataset_rows SET data = ?", (data,))
        with pytest.raises(RegistryError, match="row 1 of the data sets can't be read"):
            registry.rows("d")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (Row("1", "goal", (ToolWords("look", "", {"type": "array"}),)), "tool 'look': its schema must be"),
        (Row("1", "goal", (), ("{",)), "row '1' can't be added"),
        (Row("1", "goal", (), (), score=float("nan")), "row '1' can't be added"),
    ],
)
def test_a_row_that_could_not_be_read_again_is_not_added(row: Any, words: str, tmp_path: Path) -> None:
    registry = Registry(tmp_path / "prompts.db")
    good = Row("0", "goal", ())
    with pytest.raises(ValueError, match=words):
        registry.add_rows("sums", [good, row])
    assert registry.datasets() == {}
    assert (registry.add_rows("sums", [good]), registry.rows("sums")) == (1, [good])


def test_another_version_is_asked_the_same_questions_again() -> None:
    """The scripted planner plans only where it is told to answer with JSON alone."""
    goals = [f"What is {n} + {n}?" for n in range(8)]
    rule = "Answer with JSON alone"
    scenes = []
    for n, goal in enumerate(goals):
        plan = {"goal": goal, "steps": [{"id": "1", "tool": "add", "params": {"a": n, "b": n}}], "complete": True}
        scenes += [
            {"name": f"{n} well", "when": {"user": [goal], "system": [rule]}, "reply": {"json": plan, "broken": True}},
            {"name": f"{n} badly", "when": {"user": [goal]}, "reply": {"text": f"It is {2 * n}.", "broken": True}},
        ]
    client = MockLLM(scenes).client()
    agent = PlannerExecutor(LLMPlanner(client), ToolExecutor(arithmetic.TOOLS))
    rows = rows_from_runs([agent.run(goal) for goal in goals], arithmetic.TOOLS)
    answers = asked(client)
    assert answers.written
    shorter = PromptVersion("planner", 2, INSTRUCTIONS.replace(f"\n- {rule}.", ""))
    old, new = (backtest(version, rows, answers, "valid") for version in (WHOLE, shorter))
    comparison = compare(new, old)
    assert comparison.value == -1.0
    assert comparison.is_regression(0.5)
    assert check(compare(old, new.__class__(WHOLE, *(getattr(old, f) for f in old.__slots__[1:])))).value == 0
    assert backtest(WHOLE, rows, answers, lambda answer, row: row.goal in answer.text).share.of == len(goals)
    with pytest.raises(ValueError, match=r"the field \{step\} is missing"):
        backtest(PromptVersion("planner", 3, "{tools}"), rows, answers)
