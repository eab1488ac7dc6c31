"""Data sets of gold plans in the published formats, plans that were written before, and lists of tools."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from planexec_lab import formats
from planexec_lab.grade import gold_rows, written
from planexec_lab.grade.answers import offered
from planexec_lab.grade.dataset import tools_in
from planexec_lite.model.schemas import plan_schema
from planexec_lite.tools import ToolError

ROWS = yaml.safe_load(Path(__file__).with_name("rows.yaml").read_text("utf-8"))
CALLS, NAMED, WORDS, NATIVE, LLMCOMPILER, REWOO, HUGGINGGPT, TURNING = ROWS.values()


def write(path: Path, rows: list[Any]) -> Path:
    """A list of rows, or a row a line, by the name of the file."""
    text = "\n".join(map(json.dumps, rows)) + "\n" if path.suffix == ".jsonl" else json.dumps(rows)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", ["set.json", "set.jsonl"])
def test_rows_of_every_format_are_read_with_their_goals(name: str, tmp_path: Path) -> None:
    rows, without = gold_rows(write(tmp_path / name, [CALLS, NAMED, WORDS, NATIVE, LLMCOMPILER, REWOO, HUGGINGGPT]))
    assert without == []
    assert [(row.name, row.goal) for row in rows] == [
        ("row 1", "How warm is Oslo?"),
        ("7", "Read the sign aloud."),
        ("w1", ""),
        ("row 4", "Add up"),
        ("row 5", ""),
        ("row 6", ""),
        ("row 7", ""),
    ]
    assert [len(row.golds[0].steps) for row in rows] == [2, 2, 2, 1, 1, 1, 1]


def test_a_row_may_hold_several_gold_plans_and_a_goal_of_its_own(tmp_path: Path) -> None:
    several = {"id": "both", "goal": "Add", "golds": [NATIVE["steps"], "1. add(a=2, b=1)\n2. join()"]}
    (row, one), _ = gold_rows(write(tmp_path / "set.json", [several, {"query": "Ask", "gold": WORDS["gold"]}]))
    assert (row.name, row.goal, [gold.steps[0].params for gold in row.golds]) == (
        "both",
        "Add",
        [{"a": 1, "b": 2}, {"a": 2, "b": 1}],
    )
    assert (one.goal, len(one.golds)) == ("Ask", 1)


def test_rows_without_a_valid_gold_plan_are_named_with_the_reason(tmp_path: Path) -> None:
    rows, without = gold_rows(write(tmp_path / "set.jsonl", [NATIVE, TURNING, {"no": "plan"}, {"golds": []}, 3]))
    assert len(rows) == 1
    assert [name for name, _ in without] == ["row 2", "row 3", "row 4", "row 5"]
    assert "none of them can ever start [cycle]" in without[0][1]
    assert "in none of the formats" in without[1][1]
    assert without[2][1] == "golds is empty; give one gold plan at least"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no rows"),
        ("[]", "holds no rows"),
        ('{"a": 1}\n{"b"', "line 2: this is not JSON"),
        (json.dumps([TURNING]), "no row with a valid gold plan; the first says"),
    ],
)
def test_a_file_without_gold_is_an_error_that_says_where(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=words):
        gold_rows(path)


def test_written_plans_are_told_by_id_or_by_place(tmp_path: Path) -> None:
    rows, _ = gold_rows(write(tmp_path / "gold.json", [NAMED, CALLS, WORDS]))
    broken = {"id": "w1", "plan": "Open the door"}
    told = {"id": "7", "plan": "flowchart TD\nA -->|then| B"}
    answers = written(write(tmp_path / "plans.jsonl", [broken, CALLS, told]), rows)
    assert [answer.plan and len(answer.plan.steps) for answer in answers] == [2, 2, None]
    assert "in none of the formats" in answers[2].why
    assert answers[0].plan is not None
    assert answers[0].plan.problems() == []


def test_tools_come_from_a_list_or_from_a_world(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    listed = [{"name": "find", "description": "Find it", "parameters": schema}, {"name": "OCR"}]
    tools = tools_in(str(write(tmp_path / "n.json", listed)))
    assert tools.names == ("find", "OCR")
    assert [fault.code for fault in tools["find"].faults({})] == ["missing_parameter"]
    assert tools["OCR"].faults({"whatever": 5}) == []
    with pytest.raises(ToolError, match="can't be called"):
        tools["find"].call({"city": "Oslo"})
    for text in ("", '{"nodes": 5}', '[{"description": "d"}]'):
        (tmp_path / "bad.json").write_text(text, "utf-8")
        with pytest.raises(ValueError, match=r"bad.json is no list of tools: .*; write \[\{"):
            tools_in(str(tmp_path / "bad.json"))
    assert "run_migration" in tools_in("migration")
    assert "add" in tools_in("arithmetic")
    with pytest.raises(ValueError, match="did you mean 'migration'"):
        tools_in("migrations")


def test_open_types_are_closed_before_a_model_is_told_them(tmp_path: Path) -> None:
    schema = {"properties": {"ages": {"type": "array"}, "note": {}}, "required": ["note"]}
    listing: list[Any] = [{"name": "hotels", "parameters": schema}, {"name": "unknown"}]
    tools = tools_in(str(write(tmp_path / "n.json", listing)))
    told = offered(tools)
    assert plan_schema(told)["type"] == "object"
    good = (
        {"tool": "hotels", "params": {"ages": ["3"], "note": "x"}},
        {"tool": "unknown", "params": {"input": ["x", "{step_1_result}"]}},
    )
    plan = formats.read([{"id": "1", **good[0]}, {"id": "2", "depends_on": ["1"], **good[1]}], "native")
    assert plan.problems(told) == []
    assert plan.problems(tools) == []
    assert offered(tools_in("arithmetic")).names == tools_in("arithmetic").names
