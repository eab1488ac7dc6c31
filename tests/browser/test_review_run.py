"""The live board and the trace player in a real JupyterLab: the board reaches its end, the player moves."""

import pytest
from playwright.sync_api import Page

from tests.browser import flows
from tests.browser.flows import button, shoot
from tests.browser.lab import COMPLAINTS, Lab, in_a_browser, listen, ours, run_all, wait_until_done, wait_until_ready

pytestmark = in_a_browser

SETUP = """import time
from concurrent.futures import ThreadPoolExecutor
from planexec_lite import *
from planexec_lite import views

@tool
def nap(seconds: float) -> str:
    "Sleep for a while."
    time.sleep(seconds)
    return f"slept {seconds} s"

naps = [Step(id=str(n), tool="nap", params={"seconds": 0.5}, depends_on=(str(n - 1),) * (n > 1)) for n in range(1, 7)]
plan, tools = Plan(goal="Sleep", steps=tuple(naps)), Toolbox([nap])"""
RUN = """with ThreadPoolExecutor(2) as threads:
    run = execute(plan, ToolExecutor(tools), workers=Pool(threads), watch=screen)"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_the_live_board_reaches_its_end_and_the_player_moves(lab: Lab, page: Page, theme: str) -> None:
    errors = listen(page)
    lab.themed(theme)
    name = lab.book(f"live-{theme}.ipynb", SETUP, "screen = views.live()\nscreen", RUN, "views.player(run)")
    page.goto(lab.address(name))
    wait_until_ready(page)
    page.set_viewport_size({"width": 1280, "height": 2200})
    run_all(page)

    live, player = page.locator(".pxl-live"), page.locator(".pxl-player")
    live.get_by_text("Running: 2 of 6 steps done.").wait_for()  # while the cell below is still running
    assert player.count() == 0
    shoot(page, f"live-{theme.lower()}")
    live.get_by_text("Finished: 6 of 6 steps done.").wait_for()
    wait_until_done(page)
    assert page.locator(COMPLAINTS).all_inner_texts() == []

    number = player.get_by_label("Number")
    assert "the run has finished" in player.inner_text()
    number.fill("3")
    number.press("Enter")
    player.get_by_text("Event 3 of 15").wait_for()
    button(player, "Next").click()
    player.get_by_text("Event 4 of 15").wait_for()
    player.locator(".noUi-handle").focus()
    player.locator(".noUi-handle").press("ArrowRight")
    player.get_by_text("Event 5 of 15").wait_for()
    button(player, "Play").click()
    player.get_by_text("Event 7 of 15").wait_for()
    button(player, "Pause").click()
    page.wait_for_timeout(300)
    shoot(page, f"player-{theme.lower()}")
    handle = ['no name: <div class="noUi-handle']  # ipywidgets gives its slider no name; the number field has one
    assert [said for said in flows.broken_rules(page, ".pxl-player") if not said.startswith(tuple(handle))] == []
    assert flows.broken_rules(page, ".pxl-live") == []
    lab.themed("Light")
    assert ours(errors) == []
