"""The hunts: one folder each, with the program, its tests and its texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Hunt:
    """One hunt.

    Args:
        name: the folder's name.
        title: the symptom in a few words.
        lesson: the lesson that it belongs to, in two digits.
        difficulty: from 1 to 5.
        minutes: 5, 10 or 20.
        symptom: the symptom in a sentence or two, without the cause.
        expected: the output of the correct program.
        hints: a nudge, then a question.
        wild: where the defect was seen; this reveals the cause, so it is shown afterwards.
        red: words of the tests' message for the unchanged program.
        hangs: whether the unchanged program never ends.
    """

    name: str
    title: str
    lesson: str
    difficulty: int
    minutes: int
    symptom: str
    expected: str
    hints: tuple[str, str]
    wild: str
    red: str
    hangs: bool = False

    @property
    def program(self) -> Path:
        """Return the path of the program with the defect."""
        return HERE / self.name / "program.py"

    @property
    def tests(self) -> Path:
        """Return the path of the tests."""
        return HERE / self.name / "tests.py"

    @property
    def answers(self) -> Path:
        """Return the path of the correct and wrong fixes."""
        return HERE / "answers" / f"{self.name}.yaml"


@cache
def hunts() -> dict[str, Hunt]:
    """Return every hunt by its name, in the order of the lessons."""
    catalogue = [_read(path) for path in HERE.glob("*/hunt.yaml")]
    return {hunt.name: hunt for hunt in sorted(catalogue, key=lambda hunt: (hunt.lesson, hunt.name))}


def _read(path: Path) -> Hunt:
    fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    first, second = fields.pop("hints")
    return Hunt(name=path.parent.name, hints=(first, second), **fields)
