"""The live board and the trace player in a real JupyterLab: they reach the end, move, are heard, and leave a picture."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser import flows
from tests.browser.flows import button, shoot
from tests.browser.lab import COMPLAINTS, Lab, lessons_in_a_browser, wait_until_done, wait_until_ready
from tests.views.drawing import contrast

pytestmark = lessons_in_a_browser

SETUP = """import time
from concurrent.futures import ThreadPoolExecutor
from planexec_lite import *
from planexec_lab import views

@tool(effects="none")
def nap(seconds: float) -> str:
    "Sleep for a while."
    time.sleep(seconds)
    return f"slept {seconds} s"

naps = [Step(id=str(n), tool="nap", params={"seconds": 0.5}, depends_on=(str(n - 1),) * (n > 1)) for n in range(1, 7)]
plan, tools = Plan(goal="Sleep", steps=tuple(naps)), Toolbox([nap])"""
LIVE = "screen = views.live()\nscreen"
RUN = """with ThreadPoolExecutor(2) as threads:
    run = execute(plan, ToolExecutor(tools), workers=Pool(threads), watch=screen)"""
LARGE = """from tests.views.worlds import chain, work
from tests.views.worlds import plan as rows
large = views.live()
large"""
RUN_LARGE = "big = execute(chain(1000), ToolExecutor(Toolbox([work])), workers=Simulated(4), watch=large)"
RTL = """two = rows([("1", "שלום עולם: step one", 1, []), ("2", "قاعدة البيانات", 1, ["1"])])
views.player(execute(two, ToolExecutor(Toolbox([work])), workers=Simulated(4)))"""
RING = """one => { const style = getComputedStyle(one); const ground = colour => colour.match(/[\\d.]+/g).map(Number);
    let behind = one.parentElement;
    while (behind && ground(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    return [style.outlineStyle, parseFloat(style.outlineWidth), ground(style.outlineColor),
        ground(getComputedStyle(behind).backgroundColor)] }"""


def opened(lab: Lab, page: Page, name: str, *cells: str) -> None:
    flows.opened(lab, page, name, *cells)
    page.set_viewport_size({"width": 1280, "height": 2400})


def focused(page: Page) -> str:
    label: str = page.evaluate(
        "() => document.activeElement.labels?.[0]?.innerText || document.activeElement.innerText"
    )
    return label.strip()


def spoken(page: Page) -> list[dict[str, Any]]:
    """The status regions of the page as assistive technology gets them, with all words inside each."""
    session = page.context.new_cdp_session(page)
    nodes = {node["nodeId"]: node for node in session.send("Accessibility.getFullAXTree")["nodes"]}

    def words(node: dict[str, Any]) -> str:
        inner = [words(nodes[child]) for child in node.get("childIds", []) if child in nodes]
        own = node.get("name", {}).get("value", "") if node.get("role", {}).get("value") == "StaticText" else ""
        return " ".join(part for part in [own, *inner] if part)

    return [
        {"node": node["backendDOMNodeId"], "words": words(node)}
        for node in nodes.values()
        if node.get("role", {}).get("value") == "status" and words(node)
    ]


@flows.mostly_dark
def test_the_live_board_ends_and_the_player_moves(lab: Lab, page: Page, errors: list[str], themed: str) -> None:
    opened(lab, page, f"live-{themed}", SETUP, LIVE, RUN, "views.player(run)")
    live, player = page.locator(".pxl-live"), page.locator(".pxl-player")
    live.get_by_text(re.compile("Running: [1-5] of 6 steps done")).first.wait_for()  # the cell below is still running
    assert player.count() == 0
    shoot(page, f"live-{themed.lower()}")
    live.get_by_text("Finished: 6 of 6 steps done.").first.wait_for()
    wait_until_done(page)
    assert page.locator(COMPLAINTS).all_inner_texts() == []

    player.get_by_text("Event 1 of 15").wait_for()
    player.get_by_label("Event").fill("4")
    player.get_by_text("Event 4 of 15").wait_for()
    button(player, "Next").click()
    player.get_by_text("Event 5 of 15").wait_for()
    button(player, "Play").click()
    player.get_by_text("Event 7 of 15").wait_for()
    button(player, "Pause").click()
    page.wait_for_timeout(300)
    shoot(page, f"player-{themed.lower()}")


@flows.mostly_dark
@pytest.mark.wide
def test_the_player_works_with_the_keyboard_alone(lab: Lab, page: Page, errors: list[str], themed: str) -> None:
    """Arrows, Home, End and the space bar work wherever the focus is; one status region lasts, and the focus stays."""
    opened(lab, page, f"heard-{themed}", SETUP, "from tests.views.worlds import deploy\nviews.player(deploy())")
    wait_until_done(page)
    player = page.locator(".pxl-player")
    player.get_by_text("Event 1 of 19").wait_for()
    (region,) = spoken(page)
    assert region["words"].startswith("Event 1 of 19")

    button(player, "Back").focus()
    for name in ["Play", "Next", "Event"]:
        page.keyboard.press("Tab")
        assert focused(page) == name
        style, wide, ring, ground = page.evaluate(RING, page.evaluate_handle("() => document.activeElement"))
        assert (style, wide) == ("solid", 2)
        colours = ["#" + "".join(f"{int(part):02x}" for part in colour[:3]) for colour in (ring, ground)]
        assert contrast(*colours) >= 3, colours

    assert page.evaluate("() => document.activeElement.type") == "range"
    for key, words in (("End", "Event 19 of 19"), ("Home", "Nothing has happened"), ("ArrowRight", "Event 1 of 19")):
        page.keyboard.press(key)
        player.get_by_text(words).first.wait_for()
    page.keyboard.press("Space")
    player.get_by_text("Event 3 of 19").wait_for()
    page.keyboard.press("Space")
    button(player, "Play").wait_for()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")  # at the end already
    assert focused(page) == "Next"
    for number in (18, 17, 16):
        page.keyboard.press("ArrowLeft")
        player.get_by_text(f"Event {number} of 19").wait_for()
        assert focused(page) == "Next"
    (again,) = spoken(page)
    assert again["node"] == region["node"], "the region that is known, with other words"
    assert again["words"].startswith("Event 16 of 19")


STEPS = """from tests.views.worlds import deploy
from IPython.display import display
display(views.graph(deploy()), views.board(deploy()))"""
FOUND = "() => [...document.querySelectorAll('.pxl-found')].map(one => one.tagName + one.textContent.trim()[0])"
SELECTED = """() => { getSelection().selectAllChildren(document.querySelector('figure > svg text'));
    return getSelection().toString() }"""


def test_a_step_and_its_row_find_each_other(lab: Lab, page: Page, errors: list[str]) -> None:
    """By pointer and by focus, with the keyboard too; a figure is SVG in the page, so its text can be selected."""
    opened(lab, page, "found", SETUP, STEPS)
    wait_until_done(page)
    step = page.locator("figure > svg [data-step='4']")
    step.hover()
    assert page.evaluate(FOUND) == ["g4", "TR4"]
    page.locator("figure tr", has_text="Send notification").hover()
    assert page.evaluate(FOUND) == ["g8", "TR8"]
    assert page.evaluate(SELECTED) == "8 of 8 steps done"
    page.mouse.move(0, 0)
    page.locator("figure > svg [data-step='1']").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOUND) == ["g3", "TR3"], "the next one in the picture is below"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(FOUND) == ["g4", "TR4"]
    assert focused(page).startswith("4")
    assert flows.faults(page, ".jp-OutputArea") == []


@pytest.mark.wide
def test_player_and_board_keep_the_rules_at_any_width(lab: Lab, page: Page, errors: list[str], themed: str) -> None:
    small, large = (LIVE, RUN, "views.player(run)"), (LARGE, RUN_LARGE, "views.player(big)", RTL)
    opened(lab, page, f"wide-{themed}", SETUP, *small, *large)
    wait_until_done(page)
    page.locator(".pxl-player").nth(2).get_by_text("Event 1 of 7").wait_for()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 2400})
        if width == 390:
            page.keyboard.press("ControlOrMeta+b")  # the list of files takes the room
            page.wait_for_timeout(1500)
        page.evaluate("() => document.querySelectorAll('.pxl-run').forEach((one, n) => one.id = `one-${n}`)")
        for where in (f"#one-{number}" for number in range(5)):
            page.locator(where).scroll_into_view_if_needed()
            shoot(page, f"views-{themed.lower()}-{width}-{where[-1]}")
            assert flows.broken_rules(page, where) == flows.faults(page, where) == []
        assert bool(page.locator(".pxl-more").count()) == (width == 390), "a figure that is cut off says so"


@pytest.mark.wide
@pytest.mark.usefixtures("fresh")
def test_a_notebook_that_is_opened_again_shows_still_pictures(lab: Lab, page: Page) -> None:
    """JupyterLab says "model not found" for a widget whose kernel is gone, even if its output has other forms."""
    opened(lab, page, "again", SETUP, LIVE, RUN, "views.player(run)", "screen")
    page.locator(".pxl-player").wait_for()
    wait_until_done(page)
    tables = page.locator("figure table")
    assert page.locator("[class^=pxl-still]:visible").count() == 0, "a living widget hides its picture"
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !document.title.startsWith('*')")
    page.wait_for_timeout(500)
    lab.renew_kernels()
    page.goto(lab.address("again.ipynb"))
    wait_until_ready(page)
    page.get_by_text("model not found").first.wait_for()
    page.get_by_text("Nothing has run yet").wait_for()
    assert page.get_by_text("Run the cell again to use it.").count() == 3
    assert [tables.nth(n).is_visible() for n in range(tables.count())] == [True, True]
    assert page.get_by_text("step 6 gives").is_visible()
    shoot(page, "opened-again")
