"""The trace player shows any run at any moment, says it in text too, and does not touch the run."""

import asyncio
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import Plan, Run, views
from planexec_lite import events as e
from planexec_lite.views import telling, trace_player
from tests.views.worlds import criteria, deploy, midway, plan, replanned, thinking

RUNS = [deploy(), deploy(fails=("5",), retries=1), replanned(), midway(), thinking(), Run()]


@given(st.sampled_from(RUNS), st.data())
def test_any_moment_is_the_board_of_the_events_so_far(run: Run, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(run.events)))
    shown = views.player(run)
    shown.slider.value = number
    then = Run(run.events[:number])
    for figure in (views.board(then), views.graph(then), views.timeline(then)):
        assert figure.text in shown.text()
    assert shown._board.value == views.board(then)._repr_html_()


def test_the_buttons_the_number_and_the_slider_move_together() -> None:
    shown = views.player(deploy())
    last = shown.slider.max
    assert shown.next.disabled
    shown.back.click()
    assert (shown.slider.value, shown.number.value) == (last - 1, last - 1)
    shown.number.value = 3
    assert shown.text().startswith("Event 3 of ")
    shown.next.click()
    assert shown.slider.value == 4
    shown.slider.value = 0
    assert shown.back.disabled
    assert shown.text().startswith("Nothing has happened yet")


def test_the_current_event_is_said_with_its_result() -> None:
    run = deploy()
    number = next(n for n, event in enumerate(run.events, 1) if isinstance(event, e.StepDone))
    assert f"step {run.events[number - 1].step} gives " in views.player(run).text(number)  # type: ignore[union-attr]


def test_it_plays_to_the_end_and_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_player, "PAUSE", 0.001)

    async def play() -> list[int]:
        shown = views.player(deploy())
        seen: list[int] = []
        shown.slider.observe(lambda event: seen.append(event["new"]), "value")
        shown.play.click()
        assert shown.play.description == "Pause"
        while shown.playing:
            await asyncio.sleep(0.01)
        assert shown.play.description == "Play"
        return seen

    seen = asyncio.run(play())
    assert seen == list(range(len(seen)))


def test_it_pauses_where_it_is() -> None:
    async def play() -> None:
        shown = views.player(deploy())
        shown.slider.value = 2
        shown.play.click()
        shown.play.click()
        await asyncio.sleep(0.01)
        assert (shown.playing, shown.slider.value) == (False, 2)

    asyncio.run(play())


def test_where_no_loop_runs_it_can_be_stepped_and_not_played() -> None:
    shown = views.player(deploy())
    assert shown.play.disabled
    shown.play.click()
    assert not shown.playing


def test_a_moment_that_the_run_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no event 99"):
        views.player(deploy()).text(99)


def test_it_does_not_touch_the_run() -> None:
    run = deploy()
    before = [e.to_dict(event) for event in run.events]
    views.player(run).slider.value = 3
    assert [e.to_dict(event) for event in run.events] == before
    assert run.status == "finished"


def test_a_run_that_goes_on_later_does_not_change_what_is_played() -> None:
    run = midway()
    shown = views.player(run)
    last, before = shown.slider.max, repr(shown)
    run.record(e.News(16.0, "more"))
    assert repr(shown) == before
    assert shown.text().startswith(f"Event {last} of {last}")


def test_its_text_form_tells_the_whole_run_in_the_same_words_every_time() -> None:
    shown = [views.player(replanned())._repr_mimebundle_()["text/plain"] for _ in range(2)]
    assert shown[0] == shown[1]
    assert "the evaluator says replan of step 3: 2 endpoints answer <401>" in shown[0]
    assert len(shown[0].splitlines()) == len(replanned().events) + 1


def test_words_of_a_run_are_shown_as_text() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "<img src=x onerror=alert(1)>", planner=False, reviewer=False))
    assert "<img src=x" not in views.player(run)._words.value


STEP = criteria(plan([("1", "Read", 1, [])]), "1").steps[0]
EVENTS: list[e.Event] = [
    e.RunStarted(0.0, "go", True, True),
    e.PlanStarted(0.0, "first"),
    e.StepProposed(0.0, STEP),
    e.PlanProposed(0.0, None, text="no"),
    e.PlanProposed(1.0, Plan(steps=(STEP,))),
    e.PlanFailed(1.0, "no answer"),
    e.Paused(1.0, "gate", "1"),
    e.Reviewed(1.0, "change", "0", "Ann", "smaller"),
    e.StepStarted(1.0, "1", 2, 3),
    e.StepCancelled(1.0, "1"),
    e.StepFailed(2.0, "1", "too slow", in_doubt=True),
    e.StepLate(3.0, "1", {"a": 1}),
    e.StepDone(3.0, "1", "ok"),
    e.StepSkipped(3.0, "1", "step 0 failed"),
    e.JudgeStarted(3.0, "1"),
    e.Judged(4.0, "1", "retry", "thin"),
    e.JudgeFailed(4.0, "1", "no model"),
    e.News(4.0, "hurry"),
    e.Inside(4.0, "1", e.Thought("hm")),
    e.Ended(5.0, "failed", "step 1 failed"),
]


def test_every_kind_of_event_has_a_sentence_of_its_own() -> None:
    said = [telling.sentence(event, {STEP.id: "Look it up"}) for event in EVENTS]
    assert len(set(said)) == len(said)
    assert {type(event) for event in EVENTS} == set(get_args(e.Event))
    assert not any(words == type(event).__name__ for words, event in zip(said, EVENTS, strict=True))
