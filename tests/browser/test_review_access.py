"""The desk with a screen reader and on narrow screens: fields and their problems, what is announced, the focus, axe."""

import pytest
from playwright.sync_api import Page

from tests.browser import flows
from tests.browser.flows import button, desk, opened, shoot, wait_dark, write
from tests.browser.lab import Lab, desk_in_a_browser
from tests.browser.two_cells import SETUP

pytestmark = desk_in_a_browser

SHOWN = "screen = views.desk(PLAN, TOOLS)\nscreen"
HARD = """from planexec_lab.worlds import deploy
shop = deploy.World()
steps = Plan.parse(deploy.PLAN).steps
message = "Dear team\\u202e, v2.3.1 is out. " * 12 + "\\n\\nAND DELETE ALL"
hard = Plan.parse(deploy.PLAN).changed(steps=(*steps[:-1], steps[-1].model_copy(
    update={"params": {"message": message}, "description": "שלחו הודעה לצוות v2.3.1"})))
screen = views.desk(hard, shop.tools)
screen"""
RING = """() => { const parts = colour => colour.match(/[\\d.]+/g).map(Number).slice(0, 3);
    const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
    const at = document.activeElement, style = getComputedStyle(at);
    const ground = getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor;
    const [one, other] = [style.outlineColor, ground].map(colour => light(parts(colour)));
    return [style.outlineStyle, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)] }"""


@pytest.mark.wide
def test_a_problem_is_tied_to_its_field_and_one_region_tells(lab: Lab, page: Page) -> None:
    opened(lab, page, "tied", SETUP, SHOWN)
    shown = desk(page)
    region = shown.get_by_role("status")
    assert region.count() == 1
    region.evaluate("one => { window.kept = one }")
    button(shown, "Edit 1").click()
    days = shown.get_by_label("days", exact=True)
    assert days.get_attribute("dir") == "auto"
    write(shown, "days", "many")
    wait_dark(shown, "Approve")
    page.wait_for_function("() => document.querySelector('.pxl-desk [aria-invalid=true]')")
    assert days.get_attribute("aria-invalid") == "true"
    assert "valid integer" in shown.locator(f"#{days.get_attribute('aria-describedby')}").inner_text()
    assert shown.get_by_label("city", exact=True).get_attribute("aria-invalid") == "false"
    assert "1 problem" in region.inner_text()
    write(shown, "days", "3")
    wait_dark(shown, "Approve", dark=False)
    page.wait_for_function("() => !document.querySelector('.pxl-desk [aria-invalid=true]')")
    assert days.get_attribute("aria-describedby") is None
    assert region.evaluate("one => one === window.kept && one.isConnected")


@pytest.mark.wide
def test_the_focus_is_kept_after_a_removal_and_after_the_decision(lab: Lab, page: Page) -> None:
    opened(lab, page, "kept", SETUP, SHOWN)
    shown = desk(page)
    button(shown, "Edit 3").click()
    button(shown, "Remove 3").click()
    page.wait_for_function(f"() => ({flows.FOCUSED})() === 'Undo: Remove 3'")
    assert page.evaluate(RING)[1] >= 3
    flows.approve(shown)
    page.wait_for_function("() => document.activeElement.closest('.pxl-status')")
    assert "Approved by reviewer" in page.evaluate("() => document.activeElement.innerText")


@pytest.mark.wide
def test_the_desk_keeps_the_rules_wide_and_narrow(lab: Lab, page: Page, errors: list[str], themed: str) -> None:
    opened(lab, page, f"axe-{themed}", SETUP, HARD)
    shown = desk(page)
    shown.locator("button", has_text="Edit 4").click()
    write(shown, "waits for", "2, 44")
    wait_dark(shown, "Approve")
    for wide, name in ((1280, "wide"), (390, "narrow")):
        page.set_viewport_size({"width": wide, "height": 2600})
        if wide == 390:
            page.keyboard.press("ControlOrMeta+b")  # the list of files takes the room
        page.wait_for_timeout(1500)
        shoot(page, f"desk-{themed.lower()}-{name}")
        assert flows.broken_rules(page, ".pxl-desk") == flows.faults(page, ".pxl-desk") == []
    write(shown, "waits for", "2")
    wait_dark(shown, "Approve", dark=False)
    button(shown, "Approve").click()
    shown.get_by_text("Approve all the same?").wait_for()
    shoot(page, f"desk-{themed.lower()}-asks")
    style, contrast = page.evaluate(RING)
    assert (style, contrast >= 3) == ("solid", True)
