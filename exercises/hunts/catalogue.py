"""The hunts that there are: one folder each, with the program, its tests, and what is said about it."""

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
        name: of its folder.
        title: what one sees, in a few words.
        lesson: the lesson that it belongs to, in two digits.
        difficulty: from 1 to 5.
        minutes: 5, 10 or 20.
        symptom: what one sees, in a sentence or two; never why.
        expected: what a run prints when the program is right.
        hints: a nudge, then a question.
        wild: where the defect was seen; it gives the cause away, so it is shown afterwards.
        red: words of the message that the program gets as it is.
        hangs: whether the program, as it is, does not end.
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
        """The program, with its defect."""
        return HERE / self.name / "program.py"

    @property
    def tests(self) -> Path:
        """What the program must do."""
        return HERE / self.name / "tests.py"

    @property
    def answers(self) -> Path:
        """Right and wrong ways to mend it."""
        return HERE / "answers" / f"{self.name}.yaml"


@cache
def hunts() -> dict[str, Hunt]:
    """Every hunt by its name, in the order of the lessons."""
    catalogue = [_read(path) for path in HERE.glob("*/hunt.yaml")]
    return {hunt.name: hunt for hunt in sorted(catalogue, key=lambda hunt: (hunt.lesson, hunt.name))}


def _read(path: Path) -> Hunt:
    fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    first, second = fields.pop("hints")
    return Hunt(name=path.parent.name, hints=(first, second), **fields)
