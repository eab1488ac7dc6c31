"""What goes on inside a step: thoughts, calls and observations, in order, as text and as HTML."""

import pytest

from planexec_lab import views
from planexec_lite import events as e
from tests.views import worlds


def test_the_text_names_step_try_event_and_words() -> None:
    figure = views.thoughts(worlds.thinking())
    assert figure.text == (
        "2 steps: 3 thoughts, 2 calls, 1 error shown to the model\n"
        "  step      event          words\n"
        "  1         ◇ thought      I look for <b>failed</b> in the log.\n"
        '            → action       search(text="failed", limit=3)\n'
        "            ✗ error        ValueError: there is no log 'x'\n"
        '            → action       search(text="lost")\n'
        f"            ← observation  {'x' * 55}…{'x' * 54}\n"
        "  1, try 2  ◇ thought      The key is missing.\n"
        "  2         ◇ thought      Mended.\n"
        "Not shown: 1 other event inside the steps."
    )
    assert "&lt;b&gt;failed&lt;/b&gt;" in figure.table
    assert "<b>" not in figure.table


def test_one_step_alone() -> None:
    assert views.thoughts(worlds.thinking(), "2").text == (
        "Step 2: 1 thought, 0 calls\n  step  event      words\n  2     ◇ thought  Mended."
    )
    assert views.thoughts(worlds.thinking(), 2) == views.thoughts(worlds.thinking(), "2")
    assert views.thoughts(worlds.deploy(), "3").text == "Step 3 thought nothing aloud"
    with pytest.raises(ValueError, match="no step '9' in this run; there are: 1, 2"):
        views.thoughts(worlds.thinking(), "9")


def test_arguments_that_are_no_object_are_shown_too() -> None:
    action = e.Action("look", "not an object")  # type: ignore[arg-type]
    run = worlds.given(worlds.chain(1), e.StepStarted(0.0, "1"), e.Inside(0.0, "1", action))
    assert '→ action  look(="not an object")' in views.thoughts(run).text
