"""The whiteboard drill: the model answer gets every point, and each point can be lost."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from exercises.interview import cards
from exercises.interview.drill import __main__ as drill
from exercises.interview.drill import rubric
from tests.guards.books import ROOT

FOLDER = ROOT / "exercises" / "interview" / "drill"
ANSWER = (
    (ROOT / "exercises" / "capstone" / "program.py").read_text(encoding="utf-8").partition("\n\n\ndef repaired(")[0]
)
SLIPS = {  # point of the rubric -> a slip in the model answer that must cost it
    "plan": ("    for _ in range(asks):\n", "    planner(goal, {}, {})\n    for _ in range(asks):\n"),
    "order": (' and set(done) >= set(s["depends_on"])', ""),
    "results": ("return results[alone[1]]", "return str(results[alone[1]])"),
    "data": ('= resolve(step["params"], results)', '= resolve(resolve(step["params"], results), results)'),
    "parallel": ("    slots = 4", "    slots = 1"),
    "ready": ("return_when=FIRST_COMPLETED", "return_when='ALL_COMPLETED'"),
    "refuse": ("if faults := problems(plan, tools, results):", "if faults := []:"),
    "failure": ('errors[step["id"]] = str(fault)', 'results[step["id"]] = errors[step["id"]] = str(fault)'),
    "replan": ("        plan = planner(", "        results = {}\n        plan = planner("),
    "bound": ("range(asks)", "range(100)"),
}  # fmt: skip


def slipped(point: str) -> str:
    right, wrong = SLIPS[point]
    assert ANSWER.count(right) == 1, f"{right!r} stands once in the model answer"
    return ANSWER.replace(right, wrong)


@pytest.mark.parametrize("point", rubric.POINTS)
def test_the_model_answer_gets_the_point_and_a_slip_loses_it(
    point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rubric, "PATIENCE", 0.2)
    answers = []
    for name, source in (("right", ANSWER), ("slip", slipped(point))):
        (tmp_path / name).write_text(source, encoding="utf-8")
        answers.append(runpy.run_path(str(tmp_path / name))["run"])
    rubric.POINTS[point].check(answers[0])
    with pytest.raises((AssertionError, KeyError)):
        rubric.POINTS[point].check(answers[1])


def test_only_the_model_answer_keeps_the_rules() -> None:
    assert sum(bool(line.strip()) for line in ANSWER.splitlines()) <= rubric.MOST_LINES == 60
    assert drill.rules(ANSWER) == []
    assert set(re.findall(r"^(?:from|import) (\w+)", ANSWER, re.M)) == {"concurrent", "hashlib", "json", "re"}
    assert drill.rules("x = 1\n" * 61) == ["61 lines of code; 60 are the most"]
    borrowed = "from planexec_lite import execute\nimport graphlib\n"
    assert drill.rules(borrowed) == [
        "imports planexec_lite; write it from memory",
        "imports graphlib; write it from memory",
    ]


@pytest.mark.slow
def test_the_command_counts_points_says_why_one_is_lost_and_asks(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "answer.py").write_text(slipped("bound"), encoding="utf-8")
    assert drill.main([str(tmp_path / "answer.py")]) == 1
    asked = cards.named(*drill.FOLLOW_UPS)
    wanted = ["✗ 0/1  stops after one replan, and says so"]
    wanted += ["        the planner was called a tenth time; the loop has no bound"]
    wanted += [line for card in asked for line in [f"  {card.question}", *card.code.splitlines()]]
    printed = capsys.readouterr().out
    assert [line for line in wanted if line not in printed] == []
    assert re.search(r"^1[0-4] of 15 points$", printed, re.M)


def test_the_prompt_shows_the_rubric_as_it_is() -> None:
    page = (FOLDER / "PROMPT.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (.+?) \| (\d+) \|$", page, re.M)
    assert rows == [(name, point.shows, str(point.worth)) for name, point in rubric.POINTS.items()]
    assert sum(point.worth for point in rubric.POINTS.values()) == 15
    assert [link for link in re.findall(r"\]\(([^)]+)\)", page) if not (FOLDER / link).exists()] == []
