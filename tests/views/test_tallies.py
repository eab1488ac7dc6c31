"""The chart of counts: it says the same in text, nothing stands on anything else, and what it can't draw is named."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from planexec_lab import views
from planexec_lab.views.charts import _tallies
from planexec_lab.views.drawing import theme
from tests.views.drawing import overlap

ROWS = {"whole": {"cut off": 17, "invalid": 10, "valid": 3}, "without ids": {"cut off": 0, "invalid": 30, "valid": 0}}
TITLE = "Three of thirty plans could run"


def test_the_text_holds_every_count() -> None:
    figure = views.tallies(ROWS, TITLE, wanted="valid", of="answers")
    assert figure.text == (
        "Three of thirty plans could run\n"
        "  answers      ✗ cut off  ✗ invalid  ✓ valid  together\n"
        "  whole        17         10         3        30\n"
        "  without ids  0          30         0        30"
    )
    assert figure.alt == (
        "Chart: Three of thirty plans could run. Answers by outcome. "
        "whole: 17 cut off, 10 invalid, 3 valid; without ids: 30 invalid."
    )


@pytest.mark.parametrize("names", [["a", "b"], ["a name that is much too long for the room that names have here", "b"]])
def test_nothing_stands_on_anything_else(names: list[str]) -> None:
    outcomes = ["no call", "another call", "never ends", "waits in vain", "right"]
    counts = [[30, 0, 0, 0, 0], [0, 1, 2, 1_000, 30]]
    canvas, high = _tallies(TITLE, names, counts, outcomes, "right")
    assert [pair for pair in combinations(canvas.texts, 2) if overlap(pair[0], pair[1])] == []
    assert all(box.x >= 0 and box.x + box.width <= theme.WIDEST and box.y + box.height <= high for box in canvas.texts)


def test_a_bar_is_as_long_as_its_share_of_the_row() -> None:
    canvas, _ = _tallies(TITLE, ["one", "two"], [[10, 30], [1, 3]], ["bad", "good"], "good")
    lengths = [float(wide) for element in canvas.elements for wide in re.findall(r'd="M\S+ \S+h([\d.]+)"', element)]
    assert lengths[1] == pytest.approx(3 * lengths[0], abs=0.2)
    assert lengths[:2] == lengths[2:]


@pytest.mark.parametrize(
    "rows", [{}, {"a": {}}, {"a": {"bad": 1}}, {"a": {"valid": 1}, "b": {"bad": 1, "valid": 1}}, {"a": {"valid": -1}}]
)
def test_what_can_not_be_drawn_is_an_error(rows: dict[str, dict[str, int]]) -> None:
    with pytest.raises(ValueError, match="tallies: "):
        views.tallies(rows, TITLE, wanted="valid", of="answers")
