"""The whiteboard drill: the model answer gets every point, and each point can be lost."""

import re
import runpy
from pathlib import Path

import pytest

from exercises.interview import cards
from exercises.interview.drill import __main__ as drill
from exercises.interview.drill import rubric
from tests.guards import books
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
def test_a_slip_loses_the_point(point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rubric, "PATIENCE", 0.2)
    path = tmp_path / "answer.py"
    path.write_text(slipped(point), encoding="utf-8")
    with pytest.raises((AssertionError, KeyError)):
        rubric.POINTS[point].check(runpy.run_path(str(path))["run"])


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
@pytest.mark.parametrize("source", [ANSWER, slipped("bound")], ids=["the model answer", "a slip"])
def test_the_command_counts_the_points_and_says_why_one_is_lost(source: str, tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text(source, encoding="utf-8")
    done = books.run("-m", "exercises.interview.drill", tmp_path / "answer.py", scratch=tmp_path)
    right = source == ANSWER
    assert done.returncode == (not right), done.stdout
    assert ("15 of 15 points" in done.stdout, "✗" not in done.stdout) == (right, right)
    asked = cards.named(*drill.FOLLOW_UPS)
    lost = [
        "✗ 0/1  stops after one replan, and says so",
        "        the planner was called a tenth time; the loop has no bound",
    ]
    shown = [line for card in asked for line in [f"  {card.question}", *card.code.splitlines()]]
    assert [line for line in (shown if right else lost) if line not in done.stdout] == []


def test_the_prompt_shows_the_rubric_as_it_is() -> None:
    page = (FOLDER / "PROMPT.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (.+?) \| (\d+) \|$", page, re.M)
    assert rows == [(name, point.shows, str(point.worth)) for name, point in rubric.POINTS.items()]
    assert sum(point.worth for point in rubric.POINTS.values()) == 15
    assert [link for link in re.findall(r"\]\(([^)]+)\)", page) if not (FOLDER / link).exists()] == []
