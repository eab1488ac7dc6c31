"""The chart of bars: it says the same in text, nothing stands on anything else, and what it can't draw is named."""

from itertools import combinations

import pytest

from planexec_lab import views
from planexec_lab.views.charts import _bars
from planexec_lab.views.drawing import theme
from tests.views.drawing import overlap

VALUES = {"ReAct": 402.4, "ReWOO": 273.6, "LLMCompiler": 268.22}
REMARKS = {"ReAct": "9 calls", "ReWOO": "2 calls"}
TITLE = "Planning ahead saves two minutes"


def test_the_text_holds_every_number() -> None:
    figure = views.bars(VALUES, TITLE, "seconds", remarks=REMARKS)
    assert figure.text == (
        "Planning ahead saves two minutes\n"
        "               seconds\n"
        "  ReAct        402.4    9 calls\n"
        "  ReWOO        273.6    2 calls\n"
        "  LLMCompiler  268.2"
    )
    assert figure.alt == (
        "Bars: Planning ahead saves two minutes. seconds: ReAct 402.4 9 calls; ReWOO 273.6 2 calls; LLMCompiler 268.2."
    )


@pytest.mark.parametrize("remark", ["", "17 calls, $0.0044", "a long remark that has to be shortened " * 4])
@pytest.mark.parametrize("name", ["ReWOO", "the plan that was written by the third of three planners " * 2])
@pytest.mark.parametrize("value", [0.0, 0.001, 9_999_999.0])
def test_names_bars_and_remarks_never_stand_on_each_other(name: str, value: float, remark: str) -> None:
    values = {name: value, "another": 1.0}
    canvas, high = _bars(values, TITLE, dict.fromkeys(values, remark))
    placed = [*canvas.texts, *canvas.boxes]
    assert [pair for pair in combinations(placed, 2) if overlap(pair[0], pair[1])] == []
    assert all(box.x >= 0 and box.x + box.width <= theme.WIDEST and box.y + box.height <= high for box in placed)


def test_a_bar_is_as_long_as_its_number() -> None:
    canvas, _ = _bars({"one": 10.0, "half": 5.0, "none": 0.0}, TITLE, {"one": "", "half": "", "none": ""})
    one, half, none = (box.width for box in canvas.boxes)
    assert half == pytest.approx(one / 2, abs=0.1)
    assert none == 1.0


@pytest.mark.parametrize("values", [{}, {"a": -1.0}])
def test_what_can_not_be_drawn_is_an_error(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="bars: "):
        views.bars(values, TITLE, "seconds")
