"""The sequence: every message from the events, on the plate, without overlap, and of long runs the first ones."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views.drawing.text_fitting import fit
from planexec_lab.views.message_sequence import HEAD_EVERY, MOST, draw, messages
from planexec_lite import Plan, Run
from planexec_lite import events as e
from planexec_lite.plan import Problem
from tests.rounds import rounds
from tests.views import worlds
from tests.views.drawing import overlap


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


def test_a_verdict_is_told_with_its_reason_and_followed_by_a_replan() -> None:
    words = [message.words for message in messages(worlds.replanned())]
    at = words.index("✗ 3 replan, 2 rejected: 2 endpoints answer <401>")
    assert words[at + 1 : at + 3] == ["plan the rest again: 3 failed", "a plan of 3 steps: 2b, 3, 4"]


def test_the_roles_that_take_part_have_lifelines_and_their_names_repeat() -> None:
    runs = worlds.replanned(), worlds.deploy(), Run()
    boxes = [[box.holds for box in draw(run)[1].boxes] for run in runs]
    heads = [len(range(0, len(messages(run)), HEAD_EVERY)) for run in runs]
    assert heads[0] > 1
    roles = [["planner", "board", "executor", "evaluator"], ["outside", "board", "executor"], []]
    assert boxes == [names * times for names, times in zip(roles, heads, strict=True)]


def test_every_message_in_the_text_stands_in_the_picture() -> None:
    run = worlds.replanned()
    figure, canvas = draw(run)
    drawn = [text.holds for text in canvas.texts]
    for message in messages(run):
        assert any(message.words.startswith(words.partition("…")[0]) for words in drawn if words), message
        assert fit(message.words, 400, 11)[:20] in figure.text
    assert figure.alt.startswith(f"Sequence of messages: {figure.title}")


@pytest.mark.parametrize("length", [19, 20, 60])
def test_of_a_long_run_the_first_messages_are_drawn_and_the_others_counted(length: int) -> None:
    run = worlds.run(worlds.chain(length))
    figure = views.sequence(run)
    made = len(messages(run))
    assert len([line for line in figure.text.splitlines() if " → " in line]) == min(made, MOST)
    assert (f"Not drawn: {made - MOST} more messages." in figure.text) == (made > MOST)


def check_layout(run: Run) -> None:
    figure, canvas = draw(run)
    high = float(figure.svg.partition(' height="')[2].partition('"')[0])
    assert figure.width <= 720
    for box in [*canvas.boxes, *canvas.texts]:
        assert box.x >= 0, box
        assert box.y >= 0, box
        assert box.x + box.width <= figure.width + 0.5, box
        assert box.y + box.height <= high, box
    for one, other in combinations(canvas.texts, 2):
        assert not overlap(one, other), (one, other)
    for one, other in combinations(canvas.boxes, 2):
        assert not overlap(one, other, least=4), (one, other)


@pytest.mark.parametrize("make", [worlds.replanned, worlds.midway, worlds.thinking, worlds.deploy, Run])
def test_nothing_overlaps_and_everything_is_on_the_plate(make: object) -> None:
    check_layout(make())  # type: ignore[operator]


@rounds(40)
@given(worlds.plans(), worlds.names, st.floats(0.001, 5e4), st.booleans())
def test_whatever_is_said_stays_in_its_place(plan: Plan, words: str, seconds: float, news: bool) -> None:
    run = Run()
    run.record(e.RunStarted(0.0, words, planner=True, reviewer=True, evaluator=True))
    run.record(e.PlanStarted(0.0, "first"))
    run.record(e.PlanProposed(seconds / 3, plan))
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


def test_a_message_that_is_bad_is_marked_by_a_symbol_too() -> None:
    for run in (worlds.replanned(), worlds.midway(), worlds.deploy(fails=["5"])):
        assert all(message.words.startswith("✗") == message.bad for message in messages(run))
