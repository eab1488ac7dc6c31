"""Predictions whose numbers vary with the student: the check accepts the right answer to each student's numbers."""

from collections.abc import Callable
from typing import Any

import pytest

from exercises.checker import book
from exercises.checker.drawn import DEFAULTS, FITS, Numbers, drawn, two_rules
from exercises.checker.verbs import judged
from tests.exercises.answers import of_lesson, run_cell


def grown(pages: Numbers) -> dict[str, Any]:
    """The answer to 11.5: our cell, with the factors by the sizes that the text states."""
    react, tasks = [[(n + 1) * 260 + 37 * n * (n + 1), 115 + 340 * n] for n in (pages["long"], pages["short"])]
    times = [long / short for long, short in zip(react, tasks, strict=True)]
    answers = of_lesson("11")["11.5"]
    namespace = answers.namespace()
    run_cell(f"{book.solved(answers.answer)}\n\ntimes = {times}", namespace)
    return namespace


RIGHT: dict[str, Callable[[Numbers], dict[str, Any]]] = {
    "01.1": lambda own: {"whole": 1, "single": 2 * own["products"] + own["others"]},
    "02.1": lambda own: {
        name: sum(own["goal"] + own["observation"] * seen for seen in range(steps + 1))
        for name, steps in (("ten", 10), ("twenty", 20))
    },
    "04.1": lambda own: {
        "calls": [min(1 + bound, 4) for bound in own.values()],
        "tools": [2 * (bound >= 3) for bound in own.values()],
    },
    "11.5": grown,
    "15.2": lambda own: dict(zip(("rounds", "ready"), two_rules(own), strict=True)),
}


@pytest.mark.parametrize("id", DEFAULTS)
def test_the_right_answer_to_the_numbers_of_each_student_is_right(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(id) == DEFAULTS[id]
    numbers = set()
    for student in range(200):
        monkeypatch.setenv("PLANEXEC_STUDENT", f"student {student}")
        own = drawn(id)
        assert own == drawn(id) != DEFAULTS[id]
        assert FITS[id](own)
        assert id != "04.1" or {0, 2} == {*RIGHT[id](own)["tools"]}, "one bound is too small, and one is not"
        numbers.add(tuple(own.values()))
        if student < 2:
            outcome = judged(id, RIGHT[id](own), draw=student == 0)
            assert outcome.status == "right", outcome.text
    assert len(numbers) > 25
