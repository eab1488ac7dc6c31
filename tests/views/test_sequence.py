"""The sequence: every message from the events, on the plate, without overlap, and of long runs the first ones."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views.message_sequence import HEAD_EVERY, MOST, draw, messages
from planexec_lite import Plan, Run
from planexec_lite import events as e
from planexec_lite.plan import Problem
from tests.rounds import rounds
from tests.views import worlds
from tests.views.drawing import off_the_plate, overlaps


def test_the_text_of_a_run_with_news() -> None:
    assert views.sequence(worlds.midway()).text == (
        "The board asked the planner twice, the executor 3 times and the evaluator twice; news came once\n"
        "  0 s   board → planner    plan: Migrate\n"
        "  3 s   planner → board    a plan of 3 steps: 1, 2, 3\n"
        "  3 s   board → executor   do 1: Read\n"
        '  5 s   executor → board   1 done: "read"\n'
        "  5 s   board → executor   do 2: Back up\n"
        '  9 s   executor → board   2 done: {"size": 4}\n'
        "  9 s   board → evaluator  judge 2: 2 is fine\n"
        "  10 s  evaluator → board  ✗ no verdict on 2: RuntimeError: no model\n"
        "  10 s  outside → board    news: the window closes at <18:00>\n"
        "  10 s  board → planner    plan the rest again: news\n"
        "  12 s  planner → board    a plan of 1 step: 4\n"
        "  12 s  board → executor   do 4: Migrate the half\n"
        '  15 s  executor → board   4 done: {"rows": 9}\n'
        "  15 s  board → evaluator  judge 4: 4 is fine\n"
        "Solid: asked or told. Dashed: answered; ✗ marks what failed, was invalid or rejected."
    )


def test_the_roles_that_take_part_have_lifelines_and_their_names_repeat() -> None:
    runs = worlds.replanned(), worlds.deploy(), Run()
    boxes = [[box.holds for box in draw(run)[1].boxes] for run in runs]
    heads = [len(range(0, len(messages(run)), HEAD_EVERY)) for run in runs]
    assert heads[0] > 1
    roles = [["planner", "board", "executor", "evaluator"], ["outside", "board", "executor"], []]
    assert boxes == [names * times for names, times in zip(roles, heads, strict=True)]


@pytest.mark.parametrize("length", [19, 20, 60])
def test_of_a_long_run_the_first_messages_are_drawn_and_the_others_counted(length: int) -> None:
    run = worlds.run(worlds.chain(length))
    figure = views.sequence(run)
    made = len(messages(run))
    assert len([line for line in figure.text.splitlines() if " → " in line]) == min(made, MOST)
    assert (f"Not drawn: {made - MOST} more messages." in figure.text) == (made > MOST)


def check_layout(run: Run) -> None:
    """Everything is on the plate and nothing overlaps; each message in the text is drawn, and marked where it is bad."""
    figure, canvas = draw(run)
    high = float(figure.svg.partition(' height="')[2].partition('"')[0])
    assert off_the_plate([*canvas.boxes, *canvas.texts], min(figure.width, 720), high) == []
    assert overlaps(canvas.texts) == overlaps(canvas.boxes, least=4) == []
    drawn = [text.holds for text in canvas.texts]
    for message in messages(run)[:MOST]:
        assert any(message.words.startswith(words.partition("…")[0]) for words in drawn if words), message


@pytest.mark.parametrize("make", [worlds.replanned, worlds.midway, worlds.thinking, worlds.deploy, Run])
def test_messages_are_drawn_in_their_place_and_marked_where_they_are_bad(make: Callable[[], Run]) -> None:
    check_layout(make())
    assert all(message.words.startswith("✗") == message.bad for message in messages(make()))


@rounds(40)
@given(worlds.plans(), worlds.names, st.floats(0.001, 5e4), st.booleans())
def test_whatever_is_said_stays_in_its_place(plan: Plan, words: str, seconds: float, news: bool) -> None:
    started = e.RunStarted(0.0, words, planner=True, reviewer=True, evaluator=True)
    run = Run([started, e.PlanStarted(0.0, "first"), e.PlanProposed(seconds / 3, plan)])
    for step in plan.steps[:1]:
        if not step.depends_on:
            run.record(e.StepStarted(seconds / 2, step.id))
            run.record(e.StepFailed(seconds, step.id, words))
    if news:
        run.record(e.Reviewed(seconds, "change", plan.hash, words, words))
        run.record(e.NewsReceived(seconds, words))
        run.record(e.PlanStarted(seconds, "repair"))
        run.record(e.PlanProposed(seconds, None, (Problem("planner_failed", None, words),)))
    check_layout(run)
