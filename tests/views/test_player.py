"""The trace player and the live board: any run at any moment, also in text; a still picture stays where the widget is gone."""

import asyncio
import re
from types import SimpleNamespace
from typing import Any, get_args

import ipywidgets
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.interview.quiz import quiz
from planexec_lab import views
from planexec_lab.views import narration
from planexec_lab.views.board_table import Window
from planexec_lab.views.widgets import live_board, trace_player, widget_output
from planexec_lite import Board, Budget, Plan, Run, Simulated, Toolbox, ToolExecutor, execute
from planexec_lite.plan import Call, Problem
from planexec_lite.run import events as e
from tests.rounds import rounds
from tests.views.cells import shown as shown_in_a_cell
from tests.views.cells import still
from tests.views.comms import messages, weight
from tests.views.worlds import chain, criteria, deploy, midway, plan, replanned, thinking, work

pytestmark = pytest.mark.slow

TOOLS = ToolExecutor(Toolbox([work]))
RUNS = [deploy(), deploy(fails=("5",), retries=1), replanned(), midway(), thinking(), Run()]


@rounds(20)
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
    assert shown.number.value == 1, "it opens on the first event"
    shown.number.value = 3
    assert shown.text().startswith("Event 3 of ")
    with messages() as sent:
        shown.next.click()
    assert len(sent) == len(set(sent)) <= 7, "nothing is sent twice"
    assert shown.number.value == 4
    for end, beyond in ((0, shown.back), (last, shown.next)):
        shown.number.value = end
        with messages() as sent:
            beyond.click()
        assert (shown.number.value, sent) == (end, [])
    assert not any(button.disabled for button in (shown.back, shown.next)), "the focus stays"


def test_a_player_of_1000_steps_answers_with_a_window_and_little_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(*_: object) -> None:
        raise AssertionError("this takes seconds with so many steps")

    shown = views.player(execute(chain(1000), TOOLS, workers=Simulated(4)))  # on its first event there is no plan yet
    for name in ("graph", "timeline"):
        monkeypatch.setattr(trace_player, name, draw)
    for number in (1003, 1004, 4):
        with messages() as sent:
            shown.number.value = number
        assert 2 <= len(sent) < 10
        assert weight(sent) < 100_000
    assert "Showing 40 of 1,000 steps: rows 1 to 40." in shown.text()
    assert trace_player.NOT_DRAWN in shown.text()
    assert trace_player.NOT_DRAWN in shown._timeline.value
    assert shown._board.value.count("<tr") == 41
    html = still(shown)["text/html"]
    assert len(html) < 100_000
    assert "2,003 events" in html


def test_it_plays_to_the_end_and_pauses_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
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
        shown.number.value = 2
        shown.play.click()
        shown.play.click()
        await asyncio.sleep(0.01)
        assert (shown.playing, shown.number.value) == (False, 2)
        return seen[:-1]

    seen = asyncio.run(play())
    assert seen == list(range(2, 2 + len(seen))), "from the first event on"


def test_where_no_loop_runs_it_can_be_stepped_and_not_played() -> None:
    shown = views.player(deploy())
    assert shown.play.disabled
    shown.play.click()
    assert not shown.playing


def test_a_run_that_goes_on_later_does_not_change_what_is_played() -> None:
    run = midway()
    shown = views.player(run)
    last, before = shown.number.max, repr(shown)
    run.record(e.NewsReceived(16.0, "more"))
    assert repr(shown) == before
    shown.number.value = 3
    assert (len(run.events), run.status) == (last + 1, "running"), "it does not change the run"
    shown.number.value = last
    assert shown.text().startswith(f"Event {last} of {last}")


STEP = criteria(plan([("1", "Read", 1, [])]), "1").steps[0]
EVENTS: list[e.Event] = [
    e.RunStarted(0.0, "go", True, True),
    e.PlanStarted(0.0, "first"),
    e.StepProposed(0.0, STEP),
    e.PlanProposed(0.0, None, text="no"),
    e.PlanProposed(1.0, Plan(steps=(STEP,))),
    e.PlanProposed(1.0, None, (Problem("planner_failed", None, "no answer"),)),
    e.Paused(1.0, e.Question("gate", {}, step="1")),
    e.Reviewed(1.0, "change", "0", "Ann", "smaller"),
    e.StepStarted(1.0, "1", 2, 3),
    e.Requeued(1.0, "1", "cancelled"),
    e.StepFailed(2.0, "1", "too slow", in_doubt=True),
    e.StepLate(3.0, "1", {"a": 1}),
    e.StepBlocked(3.0, "1", "step 0 has done the same", final=True),
    e.StepPaused(3.0, "1", e.Question("approval", {}, plan=Plan()).inside("1")),
    e.StepBlocked(3.0, "1", "not called: its breaker is open", 2, 3),
    e.Requeued(3.0, "1", "interrupted"),
    e.Requeued(3.0, None, "interrupted"),
    e.StepInDoubt(3.0, "2", "interrupted"),
    e.StepDone(3.0, "1", "ok"),
    e.StepSkipped(3.0, "1", "step 0 failed"),
    e.JudgeStarted(3.0, "1"),
    e.Judged(4.0, "1", "retry", "thin"),
    e.Judged(4.0, "1", "accept", error="no model"),
    e.NewsReceived(4.0, "hurry"),
    e.Paused(4.0, e.Question("doubt", {}, step="1")),
    e.Reviewed(4.0, "done", "", "Ann", about="step 1", result={"id": 7}),
    e.Reviewed(4.0, "not done", "", "Ann", about="step 1"),
    e.Paused(4.0, e.Question("budget", {}, amounts={"steps": "3 of 3 steps"})),
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
    e.UndoPaused(5.0, "2", e.Question("undo", {}, step="a").inside("2")),
    e.UndoLeft(5.0, "1", "step 2 is in doubt"),
    e.OuterKnown(5.0),
    e.Ended(5.0, "failed", "step 1 failed"),
]


def test_every_kind_of_event_has_a_sentence_of_its_own() -> None:
    sentences = [narration.sentence(event, {STEP.id: "Look it up"}) for event in EVENTS]
    assert len(set(sentences)) == len(sentences)
    assert {type(event) for event in EVENTS} == set(get_args(e.Event))
    assert not any(words == type(event).__name__ for words, event in zip(sentences, EVENTS, strict=True))


# --- the live board ---------------------------------------------------------------------------------------------------


def test_the_last_picture_is_that_of_the_end_however_slow_drawing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def slow(stand: Board, shown: Window, latest: str | None) -> Any:
        drawn.append(len(stand.results))
        clock.now += 60.0
        return part(stand, shown, latest)

    clock, part = SimpleNamespace(now=0.0), live_board.part
    monkeypatch.setattr(live_board, "part", slow)
    monkeypatch.setattr(live_board, "time", SimpleNamespace(monotonic=lambda: clock.now))  # all else takes no time
    screen = views.live()
    assert still(screen)["text/plain"] == "Nothing has run yet: the board and the graph come with the run"
    run = execute(chain(40), TOOLS, workers=Simulated(1), watch=screen)
    assert run.events == execute(chain(40), TOOLS, workers=Simulated(1)).events
    assert drawn == [0, 40]
    assert still(screen)["text/plain"] == repr(screen) == views.board(run).text
    assert views.board(run)._repr_html_() in still(screen)["text/html"]
    assert "<img" in screen._graph.value


def test_each_tenth_is_announced_and_not_each_step() -> None:
    screen, heard = views.live(), list[str]()
    region, words = screen._status.box.children
    before = region.value
    words.observe(lambda change: heard.append(re.sub("<.*?>", "", change["new"])), "value")
    execute(chain(1000), TOOLS, workers=Simulated(1), watch=screen)
    assert region.value == before
    assert 'role="status"' in before
    assert heard[-1] == "Finished: 1,000 of 1,000 steps done."
    assert len(heard) < 15


# --- the still picture ------------------------------------------------------------------------------------------------

VIEW = "application/vnd.jupyter.widget-view+json"


def watched() -> Any:
    screen = views.live()
    screen(deploy())
    return screen


SHOWN = {"player": lambda: views.player(replanned()), "new live board": views.live, "live board": watched,
         "quiz": lambda: quiz("02")}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_a_live_widget_hides_its_still_picture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ipywidgets.Widget, "_repr_mimebundle_")  # as in Colab, whose ipywidgets is 7.7
    one = SHOWN[name]()
    box, (widget, picture) = shown_in_a_cell(one)
    assert widget == {VIEW: {"version_major": 2, "version_minor": 0, "model_id": box.model_id}}
    assert picture.keys() == {"text/plain", "text/html"}
    assert picture == still(SHOWN[name]()), "the same bytes every time"
    assert picture["text/plain"] == repr(one)
    assert "Run the cell again to use it." in picture["text/html"]
    (called,) = re.findall(r'^<div class="(\S+)"', picture["text/html"])
    styles = [child.value for child in box.children if isinstance(child, ipywidgets.HTML) and called in child.value]
    assert styles == [f"<style>.{called} {{display: none}}</style>"]


def test_what_is_shown_twice_is_told_apart_and_hidden_once_each() -> None:
    screen = views.live()
    before, again = still(screen), still(screen)
    screen(deploy())
    after = still(screen)
    names = [re.findall(r"pxl-still-\w+", one["text/html"])[0] for one in (before, again, after)]
    assert names[0] == names[1] != names[2]
    styles = [child.value for child in screen.box.children if "pxl-still-" in getattr(child, "value", "")]
    assert styles == [f"<style>.{name} {{display: none}}</style>" for name in (names[0], names[2])]


def test_without_a_kernel_the_picture_is_left_and_its_words_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipywidgets.VBox, "model_id", None)  # as under ipywidgets 7
    (picture,) = widget_output.outputs(ipywidgets.VBox(), "<img src=x onerror=alert(1)>")
    assert picture.keys() == {"text/plain", "text/html"}
    assert "<img" not in picture["text/html"]
