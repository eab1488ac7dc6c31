"""The desk in two cells in JupyterLab: where Run All stops, and how it goes on after a reload and after a restart."""

import json

import pytest
from playwright.sync_api import Locator, Page

from tests.browser import flows
from tests.browser.flows import button, desk, shoot, write
from tests.browser.lab import Lab, desk_in_a_browser, run_all, wait_until_ready
from tests.browser.two_cells import READ, SETUP, SHOW

pytestmark = desk_in_a_browser

AGAIN = "from planexec_lab import views\nviews.desk()"


@pytest.fixture
def cells(lab: Lab, page: Page) -> Locator:
    """The code cells of a notebook that shows a desk, reads its decision, and looks for it again."""
    lab.open(page, lab.book("cells.ipynb", SETUP, SHOW, READ, "print('the rest', 'ran')", AGAIN))
    return page.locator(".jp-CodeCell")


def run_cell(page: Page, cell: Locator) -> None:
    cell.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+Enter")


def test_run_all_stops_at_the_cell_that_reads_and_goes_on_when_it_is_decided(page: Page, cells: Locator) -> None:
    run_all(page)
    asked = flows.stopped(page)
    assert asked.locator(".jp-OutputArea-output").count() == 1, "the stop is said once"
    assert asked.inner_text().count("Press a button on the desk above; then select this cell") == 1
    page.wait_for_function("() => document.activeElement?.closest('.pxl-desk')")  # the question has come into view
    assert page.get_by_text("the rest ran").count() == 0
    shown = desk(page)
    write(shown, "Later plans", "10")
    write(shown, "Comment", "we go")
    shoot(page, "desk-two-cells")
    flows.approve(shown)
    shown.get_by_text("Approved by reviewer: plan").wait_for()
    flows.go_on(page, asked)
    printed = json.dumps(["approve", "reviewer", "we go", 10, True])
    cells.nth(2).get_by_text(printed).wait_for()
    page.get_by_text("the rest ran").wait_for()
    assert asked.get_by_text("waits for you").count() == 0
    cells.nth(4).get_by_text("no desk is open in this kernel").wait_for()


@pytest.mark.wide
@pytest.mark.usefixtures("fresh")
def test_after_a_reload_words_lead_to_the_open_desk_and_its_edits(page: Page, cells: Locator) -> None:
    run_cell(page, cells.nth(0))
    run_cell(page, cells.nth(1))
    button(desk(page), "Edit 3").click()
    desk(page).get_by_label("hotel", exact=True).wait_for()  # the form above the button moves it
    button(desk(page), "Remove 3").click()
    desk(page).get_by_text("Step 3 removed").wait_for()
    page.reload()
    wait_until_ready(page)
    assert page.locator(".pxl-desk").count() == 0, "the notebook was not saved"
    run_cell(page, cells.nth(2))
    words = "as after a reload, views.desk() in a new cell shows it as it was"
    assert words in flows.stopped(page).inner_text()
    shoot(page, "desk-lost-and-found")
    run_cell(page, cells.nth(4))
    shown = desk(page)
    assert "Step 3 removed" in shown.inner_text()
    write(shown, "Comment", "two are enough")
    flows.approve(shown)
    shown.get_by_text("2 steps, as edited here").wait_for()
    page.wait_for_function(
        "() => document.activeElement?.closest('.pxl-status')"
    )  # it takes the focus from a click before
    run_cell(page, cells.nth(2))
    cells.nth(2).get_by_text('["approve", "reviewer", "two are enough", null, true]').wait_for()


@pytest.mark.wide
def test_a_step_in_doubt_is_decided_by_a_click(lab: Lab, page: Page) -> None:
    setup = "from tests.views.test_review_pauses import doubted, views\nagent, run, bank = doubted()"
    shows, reads = "desk = views.desk(run, bank.tools)\ndesk", 'print(agent.resume(run, desk.decision).results["3"])'
    flows.opened(lab, page, "doubt", setup, shows, reads)
    asked = flows.stopped(page)
    shown = page.locator(".pxl-desk").last
    shown.get_by_text("To review: step 2").first.wait_for()
    assert button(shown, "It was done").is_disabled()
    write(shown, "Result", '{"id": 7}')
    shown.get_by_text("Its result:").wait_for()
    shoot(page, "desk-in-doubt")
    assert flows.broken_rules(page, ".pxl-desk") == []
    button(shown, "It was done").click()
    shown.get_by_text("Said to be done by reviewer: step 2").wait_for()
    flows.go_on(page, asked)
    page.get_by_text("noted 7").wait_for()
