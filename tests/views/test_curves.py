"""The chart of lines: it says the same in text, its names stand apart, and what it can't draw is named."""

from itertools import combinations, pairwise

import pytest

from planexec_lab import views
from planexec_lab.views.charts import _curves, _step
from tests.views.drawing import overlap

LINES = {"measured": {1: 170.0, 2: 110, 3: 102}, "bound": {1: 265.0, 2: 180, 3: 151.7}, "path": {1: 95.0, 2: 95, 3: 95}}
TITLE = "Two cooks save an hour"


def test_the_text_holds_every_number() -> None:
    figure = views.curves(LINES, TITLE, across="cooks", up="minutes")
    assert figure.text == (
        "Two cooks save an hour\n"
        "  cooks     1    2    3\n"
        "  measured  170  110  102\n"
        "  bound     265  180  151.7\n"
        "  path      95   95   95"
    )
    assert figure.alt == (
        "Chart: Two cooks save an hour. minutes over 1, 2, 3 cooks. "
        "measured: 170, 110, 102; bound: 265, 180, 151.7; path: 95, 95, 95."
    )


@pytest.mark.parametrize("ends", [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0], [95.0, 97.0, 94.0]])
def test_names_and_numbers_never_stand_on_each_other(ends: list[float]) -> None:
    names = ["bound", "measured", "critical path", "other"][: len(ends)]
    canvas, wide, high = _curves("A title", names, [1, 2], [[end, end] for end in ends], "cooks", "minutes")
    assert [pair for pair in combinations(canvas.texts, 2) if overlap(pair[0], pair[1])] == []
    assert all(box.x >= 0 and box.x + box.width <= wide and box.y + box.height <= high for box in canvas.texts)


@pytest.mark.parametrize("most", [0.0, 0.03, 1, 5, 9.9, 10, 95, 265, 10_000])
def test_the_scale_has_few_round_steps(most: float) -> None:
    assert most <= 6 * _step(most)
    assert all(_step(small) <= _step(large) for small, large in pairwise([1, 2, 5, 9.9, 10, 95, 265]))


@pytest.mark.parametrize("lines", [{}, {"a": {}}, {"a": {1: 1.0}, "b": {2: 1.0}}, {"a": {1: -1.0}}])
def test_what_can_not_be_drawn_is_an_error(lines: dict[str, dict[int, float]]) -> None:
    with pytest.raises(ValueError, match="curves: "):
        views.curves(lines, TITLE, across="cooks", up="minutes")


@pytest.mark.parametrize(
    ("value", "written"), [(15.234, "15.23"), (1_573.4, "1,573"), (10_295, "10,295"), (0.0123, "0.0123")]
)
def test_numbers_keep_all_their_digits_before_the_point(value: float, written: str) -> None:
    bars, lines = views.bars({"one": value}, TITLE, "tokens"), {"one": {1: value}}
    assert written in bars.text
    assert written in views.curves(lines, TITLE, across="questions", up="tokens").text
