"""The trace player shows any run at any moment, says it in text too, and does not touch the run."""

import asyncio
import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views import narration
from planexec_lab.views.widgets import trace_player
from planexec_lite import Budget, Plan, Run, Simulated, Toolbox, ToolExecutor, execute
from planexec_lite import events as e
from planexec_lite.plan import Call, Problem
from tests.views.cells import still
from tests.views.comms import messages, weight
from tests.views.worlds import chain, criteria, deploy, midway, plan, replanned, thinking, work

pytestmark = pytest.mark.slow

RUNS = [deploy(), deploy(fails=("5",), retries=1), replanned(), midway(), thinking(), Run()]


@given(st.sampled_from(RUNS), st.data())
def test_any_moment_is_the_board_of_the_events_so_far(run: Run, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(run.events)))
    shown = views.player(run)
    shown.number.value = number
    then = Run(run.events[:number])
    for figure in (views.board(then), views.graph(then), views.timeline(then)):
        assert figure.text in shown.text()
    assert words_of(shown._board.value) == words_of(views.board(then)._repr_html_())


def words_of(html: str) -> list[str]:
    return re.sub("<[^>]*>", " ", html).split()


def test_the_buttons_and_the_number_move_together() -> None:
    shown = views.player(deploy())
    last = shown.number.max
    shown.back.click()
    assert shown.number.value == last - 1
    shown.number.value = 3
    assert shown.text().startswith("Event 3 of ")
    shown.next.click()
    assert shown.number.value == 4
    shown.first.click()
    assert shown.text().startswith("Nothing has happened yet")
    shown.last.click()
    assert shown.number.value == last


def test_a_button_at_an_end_does_nothing_and_keeps_the_focus() -> None:
    """A button that is put out of use while it has the focus loses it, and the next key goes to the notebook."""
    shown = views.player(deploy())
    with messages() as sent:
        for button in (shown.next, shown.last):
            button.click()
    assert sent == []
    shown.number.value = 0
    shown.back.click()
    assert shown.number.value == 0
    assert not any(button.disabled for button in (shown.first, shown.back, shown.next, shown.last))


def large() -> Run:
    return execute(chain(1000), ToolExecutor(Toolbox([work])), workers=Simulated(4))


def test_a_player_of_1000_steps_answers_with_a_window_and_little_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(*_: object) -> None:
        raise AssertionError("this takes seconds with so many steps")

    for name in ("graph", "timeline"):
        monkeypatch.setattr(trace_player, name, draw)
    shown = views.player(large())
    for number in (1003, 1004, 4):
        with messages() as sent:
            shown.number.value = number
        assert 2 <= len(sent) < 10
        assert weight(sent) < 100_000
    assert "Showing 40 of 1,000 steps: rows 1 to 40." in shown.text()
    assert trace_player.NOT_DRAWN in shown.text()
    assert trace_player.NOT_DRAWN in shown._timeline.value
    assert shown._board.value.count("<tr") == 41


def test_the_still_picture_of_a_long_run_is_short() -> None:
    html = still(views.player(large()))["text/html"]
    assert len(html) < 100_000
    assert "2,003 events" in html


def test_the_status_region_stays_while_its_words_change() -> None:
    shown = views.player(deploy())
    region, words = shown._status.box.children
    before, earlier = region.value, words.value
    shown.back.click()
    assert region.value == before
    assert words.value != earlier
    (name,) = re.findall('aria-owns="(.*?)"', before)
    assert f'<p id="{name}" dir="auto"' in words.value


def test_nothing_is_sent_twice() -> None:
    shown = views.player(deploy())
    with messages() as sent:
        shown.back.click()
    assert len(sent) == len(set(sent)) <= 7


def test_the_current_event_is_said_with_its_result() -> None:
    run = deploy()
    number = next(n for n, event in enumerate(run.events, 1) if isinstance(event, e.StepDone))
    assert f"step {run.events[number - 1].step} gives " in views.player(run).text(number)  # type: ignore[union-attr]


def test_it_plays_to_the_end_and_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_player, "PAUSE", 0.001)

    async def play() -> list[int]:
        shown = views.player(deploy())
        seen: list[int] = []
        shown.number.observe(lambda event: seen.append(event["new"]), "value")
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
        shown.number.value = 2
        shown.play.click()
        shown.play.click()
        await asyncio.sleep(0.01)
        assert (shown.playing, shown.number.value) == (False, 2)

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
    views.player(run).number.value = 3
    assert [e.to_dict(event) for event in run.events] == before
    assert run.status == "finished"


def test_a_run_that_goes_on_later_does_not_change_what_is_played() -> None:
    run = midway()
    shown = views.player(run)
    last, before = shown.number.max, repr(shown)
    run.record(e.NewsReceived(16.0, "more"))
    assert repr(shown) == before
    assert shown.text().startswith(f"Event {last} of {last}")


def test_its_text_form_tells_the_whole_run_in_the_same_words_every_time() -> None:
    shown = [still(views.player(replanned()))["text/plain"] for _ in range(2)]
    assert shown[0] == shown[1]
    assert "the evaluator says replan of step 3: 2 endpoints answer <401>" in shown[0]
    assert len(shown[0].splitlines()) == len(replanned().events) + 1


def test_words_of_a_run_are_shown_as_text() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "<img src=x onerror=alert(1)>", planner=False, reviewer=False))
    assert "<img src=x" not in views.player(run)._status.box.children[1].value


STEP = criteria(plan([("1", "Read", 1, [])]), "1").steps[0]
EVENTS: list[e.Event] = [
    e.RunStarted(0.0, "go", True, True),
    e.PlanStarted(0.0, "first"),
    e.StepProposed(0.0, STEP),
    e.PlanProposed(0.0, None, text="no"),
    e.PlanProposed(1.0, Plan(steps=(STEP,))),
    e.PlanProposed(1.0, None, (Problem("planner_failed", None, "no answer"),)),
    e.Paused(1.0, "gate", "1"),
    e.Reviewed(1.0, "change", "0", "Ann", "smaller"),
    e.StepStarted(1.0, "1", 2, 3),
    e.Requeued(1.0, "1", "cancelled"),
    e.StepFailed(2.0, "1", "too slow", in_doubt=True),
    e.StepLate(3.0, "1", {"a": 1}),
    e.StepBlocked(3.0, "1", "step 0 has done the same", final=True),
    e.StepPaused(3.0, "1", "waits for approval"),
    e.StepBlocked(3.0, "1", "not called: its breaker is open", 2, 3),
    e.Requeued(3.0, "1", "interrupted"),
    e.Requeued(3.0, None, "interrupted"),
    e.StepInDoubt(3.0, "2", "interrupted"),
    e.StepProgress(3.0, "1", 40.0),
    e.StepDone(3.0, "1", "ok"),
    e.StepSkipped(3.0, "1", "step 0 failed"),
    e.JudgeStarted(3.0, "1"),
    e.Judged(4.0, "1", "retry", "thin"),
    e.Judged(4.0, "1", "accept", error="no model"),
    e.NewsReceived(4.0, "hurry"),
    e.Paused(4.0, "doubt", "1"),
    e.Reviewed(4.0, "done", "", "Ann", step="1", result={"id": 7}),
    e.Reviewed(4.0, "not done", "", "Ann", step="1"),
    e.Paused(4.0, "budget", short={"steps": "3 of 3 steps"}),
    e.Reviewed(4.0, "approve", "", "Ann", budget=Budget(steps=2, dollars=0.05)),
    e.Reviewed(4.0, "reject", "", "Ann", "too dear"),
    e.Inside(4.0, "1", e.Thought("hm")),
    e.BackoffStarted(4.0, "1", 2.0),
    e.BackoffEnded(4.5, "1", 2.0),
    e.RollbackStarted(5.0, "step 1 failed"),
    e.UndoStarted(5.0, "1", Call(tool="put_back")),
    e.UndoDone(5.0, "1", "back"),
    e.UndoFailed(5.0, "rollback 1", "no"),
    e.UndoStarted(5.0, "2", inside=1),
    e.UndoPaused(5.0, "2", "waits before the undo of step a", "undo"),
    e.Ended(5.0, "failed", "step 1 failed"),
]


def test_every_kind_of_event_has_a_sentence_of_its_own() -> None:
    sentences = [narration.sentence(event, {STEP.id: "Look it up"}) for event in EVENTS]
    assert len(set(sentences)) == len(sentences)
    assert {type(event) for event in EVENTS} == set(get_args(e.Event))
    assert not any(words == type(event).__name__ for words, event in zip(sentences, EVENTS, strict=True))
