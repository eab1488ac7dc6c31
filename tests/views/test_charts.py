"""The charts of bars, lines and counts: the same in text, and no text over another."""

import re

import pytest

from planexec_lab import views
from planexec_lab.views.charts import _bars, _curves, _tallies
from planexec_lab.views.drawing import theme
from tests.views.drawing import off_the_plate, overlaps

TITLE = "A title"


def test_the_text_holds_every_number() -> None:
    """Lessons show the text of the other charts."""
    figure = views.bars({"ReAct": 402.4, "LLMCompiler": 268.22}, TITLE, "seconds", remarks={"ReAct": "9 calls"})
    assert figure.text == f"{TITLE}\n               seconds\n  ReAct        402.4    9 calls\n  LLMCompiler  268.2"
    assert figure.alt == "Bars: A title. seconds: ReAct 402.4 9 calls; LLMCompiler 268.2."


@pytest.mark.parametrize("remark", ["", "17 calls, $0.0044", "a long remark that has to be shortened " * 4])
@pytest.mark.parametrize("name", ["ReWOO", "the plan that was written by the third of three planners " * 2])
@pytest.mark.parametrize("value", [0.0, 0.001, 9_999_999.0])
def test_names_bars_counts_and_remarks_do_not_overlap(name: str, value: float, remark: str) -> None:
    values = {name: value, "another": 1.0}
    canvas, high = _bars(values, TITLE, dict.fromkeys(values, remark))
    placed = [*canvas.texts, *canvas.boxes]
    assert overlaps(placed) == off_the_plate(placed, theme.WIDEST, high) == []
    outcomes = ["no call", "another call", "never ends", "waits in vain", "right"]
    canvas, high = _tallies(TITLE, [name, "b"], [[30, 0, 0, 0, 0], [0, 1, 2, 1_000, 30]], outcomes, "right")
    assert overlaps(canvas.texts) == off_the_plate(canvas.texts, theme.WIDEST, high) == []


@pytest.mark.parametrize("ends", [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0], [95.0, 97.0, 94.0]])
def test_names_and_numbers_of_lines_do_not_overlap(ends: list[float]) -> None:
    names = ["bound", "measured", "critical path", "other"][: len(ends)]
    canvas, wide, high = _curves(TITLE, names, [1, 2], [[end, end] for end in ends], "cooks", "minutes")
    assert overlaps(canvas.texts) == off_the_plate(canvas.texts, wide, high) == []


def test_a_bar_is_as_long_as_its_number_or_its_share_of_the_row() -> None:
    canvas, _ = _bars({"one": 10.0, "half": 5.0, "none": 0.0}, TITLE, {"one": "", "half": "", "none": ""})
    one, half, none = (box.width for box in canvas.boxes)
    assert (half, none) == (pytest.approx(one / 2, abs=0.1), 1.0)
    canvas, _ = _tallies(TITLE, ["one", "two"], [[10, 30], [1, 3]], ["bad", "good"], "good")
    lengths = [float(wide) for element in canvas.elements for wide in re.findall(r'd="M\S+ \S+h([\d.]+)"', element)]
    assert lengths[1] == pytest.approx(3 * lengths[0], abs=0.2)
    assert lengths[:2] == lengths[2:]
