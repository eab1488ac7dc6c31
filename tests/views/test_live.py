"""The live board follows a run while it goes on, shows its end, and does not touch it."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from planexec_lab import views
from planexec_lab.views.board_table import Window
from planexec_lab.views.widgets import live_board
from planexec_lite import Board, Plan, Pool, Run, Simulated, Step, Toolbox, ToolExecutor, execute, tool
from planexec_lite.events import to_dict
from tests.views.cells import still
from tests.views.worlds import DEPLOY, chain, plan, work

pytestmark = pytest.mark.slow

TOOLS = Toolbox([work])


@tool(effects="none")
def nap(seconds: float) -> float:
    """Sleep."""
    time.sleep(seconds)
    return seconds


def test_it_follows_a_run_on_threads_to_its_end() -> None:
    screen = views.live()
    seen: list[str] = []

    def watch(run: Run) -> None:
        screen(run)
        seen.append(screen._line.value)

    naps = [
        Step(id=str(n), tool="nap", params={"seconds": 0.05}, depends_on=(str(n - 1),) * (n > 1)) for n in (1, 2, 3)
    ]
    with ThreadPoolExecutor(2) as threads:
        execute(Plan(steps=tuple(naps)), ToolExecutor(Toolbox([nap])), workers=Pool(threads), watch=watch)
    assert [words.split(":")[0].removeprefix("<p>") for words in seen] == ["Running"] * 3 + ["Finished"]
    assert "3 of 3 steps done" in seen[-1]
    assert screen._board.value.count("✓ done") == 3


def test_the_last_picture_is_that_of_the_end_however_slow_drawing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def slow(stand: Board, shown: Window) -> Any:
        drawn.append(len(stand.results))
        clock.now += 60.0
        return part(stand, shown)

    clock, part = SimpleNamespace(now=0.0), live_board.part
    monkeypatch.setattr(live_board, "part", slow)
    monkeypatch.setattr(live_board, "time", SimpleNamespace(monotonic=lambda: clock.now))  # all else takes no time
    screen = views.live()
    run = execute(chain(40), ToolExecutor(TOOLS), workers=Simulated(1), watch=screen)
    assert repr(screen) == views.board(run).text
    assert drawn == [0, 40]


def test_a_watched_run_is_the_run_that_it_would_have_been() -> None:
    watched = execute(plan(DEPLOY), ToolExecutor(TOOLS), workers=Simulated(4), watch=views.live())
    alone = execute(plan(DEPLOY), ToolExecutor(TOOLS), workers=Simulated(4))
    assert list(map(to_dict, watched.events)) == list(map(to_dict, alone.events))


@pytest.fixture
def no_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a run whose steps take so long that drawing never takes too much of the time."""
    monkeypatch.setattr(live_board, "SHARE", 1)


def test_what_runs_or_failed_out_of_sight_is_named(no_haste: None) -> None:
    rows = [(str(n), "Part", 1.0 if n > 1 else 5000.0, []) for n in range(1, 301)]
    screen, seen = views.live(), list[str]()

    def watch(run: Run) -> None:
        screen(run)
        seen.append(repr(screen))

    execute(plan(rows, ["7"]), ToolExecutor(TOOLS), workers=Simulated(2), watch=watch)
    late = [text for text in seen if "rows 1 to" not in text and not text.startswith("Finished")]
    assert len(set(late)) > 3
    for text in late[:-10]:
        assert "Running: 1 and " in text
        assert "Failed: 7." in text


def test_a_small_plan_is_shown_whole_with_its_graph() -> None:
    screen = views.live()
    run = execute(chain(40), ToolExecutor(TOOLS), workers=Simulated(1), watch=screen)
    assert repr(screen) == views.board(run).text
    assert "<img" in screen._graph.value


def test_the_status_region_stays_while_its_words_change() -> None:
    screen = views.live()
    region, words = screen._status.box.children
    before, heard = region.value, list[str]()
    words.observe(lambda change: heard.append(re.sub("<.*?>", "", change["new"])), "value")
    execute(chain(1000), ToolExecutor(TOOLS), workers=Simulated(1), watch=screen)
    assert region.value == before
    assert 'role="status"' in before
    assert heard[-1] == "Finished: 1,000 of 1,000 steps done."
    assert len(heard) < 15, "each tenth is said aloud, not each step"


def test_its_text_form_before_the_run_is_the_same_every_time() -> None:
    shown = [still(views.live())["text/plain"] for _ in range(2)]
    assert shown == ["Nothing has run yet: the board and the graph come with the run"] * 2


def test_its_text_form_after_the_run_is_the_board() -> None:
    screen = views.live()
    run = execute(plan(DEPLOY), ToolExecutor(TOOLS), workers=Simulated(4), watch=screen)
    assert still(screen)["text/plain"] == views.board(run).text
    assert views.board(run)._repr_html_() in still(screen)["text/html"]
