"""The spans of a run: a row for each, below the one around it, on the plate; of long runs the first ones."""

import pytest

from planexec_lab import views
from planexec_lab.views.drawing import theme
from planexec_lab.views.span_tree import BEGIN, END, draw
from planexec_lite import Plan, Run, events
from planexec_lite.meter import ModelCall
from tests.spans.samples import SAMPLES
from tests.views.drawing import off_the_plate, overlaps


def test_the_text_says_what_stands_inside_what() -> None:
    assert views.spans(SAMPLES["retried"]()).text == (
        "8 spans in 6 s: 3 tool calls, 0 model calls\n"
        "  invoke_agent planner-executor  0 s  – 6 s\n"
        "    step 1                       0 s  – 2 s  ✗ RuntimeError\n"
        "      execute_tool put_up        0 s  – 2 s  ✗ RuntimeError\n"
        "    backoff 1                    2 s  – 4 s\n"
        "    step 1, try 2                4 s  – 6 s\n"
        "      execute_tool put_up        4 s  – 6 s\n"
        "    step 2                       6 s  – 6 s\n"
        "      execute_tool put_up        6 s  – 6 s\n"
        "Each row is a span, inside the one that it is indented below. ✗ marks what failed."
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_bars_stand_on_the_axis_and_no_text_on_another(name: str) -> None:
    figure, canvas = draw(SAMPLES[name]())
    for box in canvas.boxes:
        assert box.x >= BEGIN
        assert box.x + box.width <= END + 0.01
    assert overlaps(canvas.texts) == off_the_plate(canvas.texts, theme.WIDEST, 10_000) == []
    assert figure.alt.startswith(f"Spans: {figure.title}. invoke_agent")


def test_tokens_and_dollars_are_not_cut() -> None:
    planned = events.PlanProposed(3.0, Plan.parse(["rest"]), calls=(ModelCall("gpt-4o", 123_456, 12_345, 3.0),))
    _, canvas = draw(
        Run([events.RunStarted(0.0, "", planner=True, reviewer=False), events.PlanStarted(0.0, "first"), planned])
    )
    assert "123,456 in, 12,345 out, $0.4321" in [text.holds for text in canvas.texts]
