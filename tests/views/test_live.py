"""The live board follows a run while it goes on, shows its end, and does not touch it."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lite import Plan, Pool, Run, Simulated, Step, Toolbox, ToolExecutor, execute, tool, views
from planexec_lite.events import to_dict
from planexec_lite.views import live_board
from tests.views.worlds import DEPLOY, chain, plan, work

TOOLS = Toolbox([work])


@tool
def nap(seconds: float) -> float:
    """Sleep."""
    time.sleep(seconds)
    return seconds


def test_it_follows_a_run_on_threads_to_its_end() -> None:
    screen = views.live()
    seen: list[str] = []

    def watch(run: Run) -> None:
        screen(run)
        seen.append(screen._said.value)

    naps = [
        Step(id=str(n), tool="nap", params={"seconds": 0.05}, depends_on=(str(n - 1),) * (n > 1)) for n in (1, 2, 3)
    ]
    with ThreadPoolExecutor(2) as threads:
        execute(Plan(steps=tuple(naps)), ToolExecutor(Toolbox([nap])), workers=Pool(threads), watch=watch)
    assert [words.split(":")[0].removeprefix('<p role="status">') for words in seen] == ["Running"] * 3 + ["Finished"]
    assert "3 of 3 steps done" in seen[-1]
    assert screen._board.value.count("✓ done") == 3


def test_the_last_picture_is_that_of_the_end_however_slow_drawing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def slow(run: Run) -> Any:
        drawn.append(len(run.events))
        time.sleep(0.01)
        return views.board(run)

    monkeypatch.setattr(live_board, "board", slow)
    screen = views.live()
    run = execute(chain(60), ToolExecutor(TOOLS), workers=Simulated(1), watch=screen)
    assert repr(screen) == views.board(run).text
    assert len(drawn) < 40
    assert drawn[-1] == len(run.events)


def test_a_watched_run_is_the_run_that_it_would_have_been() -> None:
    watched = execute(plan(DEPLOY), ToolExecutor(TOOLS), workers=Simulated(4), watch=views.live())
    alone = execute(plan(DEPLOY), ToolExecutor(TOOLS), workers=Simulated(4))
    assert list(map(to_dict, watched.events)) == list(map(to_dict, alone.events))


def test_its_text_form_before_the_run_is_the_same_every_time() -> None:
    shown = [views.live()._repr_mimebundle_()["text/plain"] for _ in range(2)]
    assert shown == ["Nothing has run yet: the board and the graph come with the run"] * 2


def test_its_text_form_after_the_run_is_the_board() -> None:
    screen = views.live()
    run = execute(plan(DEPLOY), ToolExecutor(TOOLS), workers=Simulated(4), watch=screen)
    bundle = screen._repr_mimebundle_()
    assert bundle["text/plain"] == views.board(run).text
    assert bundle["text/html"] == views.board(run)._repr_html_()
