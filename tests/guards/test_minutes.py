"""The README's table and the tour's map give the minutes that each lesson states, and their sum."""

import json
import re

import pytest

from tests.guards import books
from tests.guards.books import LESSONS, ROOT

minutes = books.ci_program("minutes")
TOUR = ROOT / "notebooks" / "00_tour.ipynb"
TEXTS = {
    "README.md": (ROOT / "README.md").read_text(encoding="utf-8"),
    "the tour's map": "\n".join(
        "".join(cell["source"]) for cell in json.loads(TOUR.read_text(encoding="utf-8"))["cells"]
    ),
}
each_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@each_text
def test_each_lesson_has_the_minutes_that_it_states(text: str) -> None:
    listed, stated = minutes.listed(text), minutes.stated()
    assert {path.name for path in LESSONS} - set(listed) <= {TOUR.name}
    assert {name: listed[name] for name in listed if name in stated} == {
        name: stated[name] for name in listed if name in stated
    }, "run `python .ci/minutes.py`, then `make notebooks ONLY=00`"


@each_text
def test_the_sum_is_the_sum(text: str) -> None:
    total = sum(minutes.listed(TEXTS["README.md"]).values())
    assert re.findall(r"(\d+) minutes in total", text) == [str(total)]


def test_the_minutes_of_a_row_are_replaced() -> None:
    rows = "| 01 | [toy](notebooks/01_toy.ipynb) | why? | 7 |\n[02 · b](02_b.ipynb) | why? | 9\nNot 8."
    new = minutes.with_minutes(rows, {"01_toy.ipynb": 25})
    assert new == rows.replace("| 7 |", "| 25 |")
    assert minutes.listed(new) == {"01_toy.ipynb": 25, "02_b.ipynb": 9}
