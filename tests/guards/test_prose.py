"""The prose of lessons and pages keeps to plain English, as far as a count of habits can tell."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.guards.books import APPENDIX, LESSONS, ROOT, name_of, text
from tests.guards.prose import HABITS, count

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "GLOSSARY.md")]
MOST = 2.0  # sentences with a habit per 1,000 words

EXAMPLES = {
    "a clause instead of a noun as the subject": "What is written down before the step begins survives a crash.",
    "whoever, whatever": "The run ends, whatever the step returned.",
    "nobody, somebody": "Nobody had tested the script.",
    "things that stand": "The result stands on the board.",
    "mend, dear, shall, beside, in words": "The planner shall mend its plan.",
    "circle for cycle": "The steps wait for each other in a circle.",
    "under way, for ever, as it is": "The step is under way for ever.",
    "so many, so much": "The tool is called so many times.",
    "may for might": "The model may be wrong about the file.",
    "must not": "A plan must not run twice.",
    "taken back, given up, goes on": "The step is given up and the run goes on.",
    "told, said, heard out": "The planner is told about the failure.",
    "of its own": "Each step has a key of its own.",
    "is none, nothing follows": "The plan names a tool, and there is none of that name; it is none.",
    "a test that is red": "Then the suite turns red.",
}


@pytest.mark.parametrize("path", [*LESSONS, *APPENDIX, *PAGES], ids=name_of)
def test_a_text_keeps_to_plain_english(path: Path) -> None:
    counted = count(path)
    assert counted.rate <= MOST or len(counted.sentences) <= 2, "\n".join(counted.sentences)


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_counted(habit: str, tmp_path: Path) -> None:
    plain = "The planner writes a plan. The executor runs each step. What happens when a step fails?"
    path = tmp_path / "01_text.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[text(plain), text(f"```\n{EXAMPLES[habit]}\n```")]), path)
    assert count(path).sentences == []
    nbformat.write(nbformat.v4.new_notebook(cells=[text(f"{plain} {EXAMPLES[habit]}")]), path)
    assert count(path).sentences == [EXAMPLES[habit]]
