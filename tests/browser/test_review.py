"""A person at the desk in JupyterLab: edits, rejects and approves, also by keyboard alone, and every key arrives."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from tests.browser import flows
from tests.browser.flows import button, desk, opened, shoot, wait_dark, write
from tests.browser.lab import COMPLAINTS, Lab, desk_in_a_browser, run_all, wait_until_done
from tests.browser.two_cells import READ, SETUP, SHOW

pytestmark = desk_in_a_browser

TELL = """import json
decision = desk.decision
plan = decision.plan or PLAN
print(json.dumps([decision.verdict, decision.by, decision.comment, json.loads(plan.to_json())]))
if decision.verdict == "approve":
    run = execute(plan, ToolExecutor(TOOLS), workers=Simulated(4))
    print(json.dumps(run.results))"""


def decided(page: Page) -> list[Any]:
    """Go on where Run All has stopped, and return what the cells print, read as JSON, line by line."""
    flows.go_on(page, flows.stopped(page))
    wait_until_done(page, 60)
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    printed = "\n".join(page.locator(".jp-RenderedText").all_inner_texts())
    return [json.loads(line) for line in printed.splitlines() if line.startswith(("[", "{"))]


def test_a_person_edits_adds_mends_and_approves(lab: Lab, page: Page, errors: list[str]) -> None:
    opened(lab, page, "approve", SETUP, SHOW, TELL)
    flows.stopped(page)
    shown = desk(page)
    assert not button(shown, "Approve").is_disabled()

    button(shown, "Edit 1").click()
    write(shown, "days", "many")
    wait_dark(shown, "Approve")
    shown.get_by_text("valid integer").first.wait_for()
    write(shown, "days", "30")
    wait_dark(shown, "Approve", dark=False)

    flows.add_step(page, shown)
    wait_dark(shown, "Approve")
    write(shown, "tool", "cancel")
    write(shown, "hotel", "Sol")
    write(shown, "waits for", "3, 9")
    shown.get_by_text("which does not exist").first.wait_for()
    shoot(page, "review-problem")
    write(shown, "waits for", "3")
    shown.get_by_text("Step 4 added, after 3").wait_for()
    wait_dark(shown, "Approve", dark=False)
    assert "Step 1, days: nothing → 30" in shown.inner_text()

    flows.approve(shown)
    decision, results = decided(page)
    page.locator(".pxl-desk").scroll_into_view_if_needed()
    shoot(page, "review-approved")
    assert decision[:3] == ["approve", "reviewer", ""]
    steps = decision[3]["steps"]
    assert steps[0]["params"] == {"city": "Lima", "days": 30}
    assert steps[3] == {"id": "4", "tool": "cancel", "params": {"hotel": "Sol"}, "depends_on": ["3"]}
    assert list(results) == ["1", "2", "3", "4"]
    assert page.locator(".pxl-desk button:visible").count() == 0


def test_a_person_rejects_with_a_reason(lab: Lab, page: Page, errors: list[str]) -> None:
    opened(lab, page, "reject", SETUP, SHOW, TELL)
    shown = desk(page)
    assert button(shown, "Reject").is_disabled()
    write(shown, "Comment", "we stay at home")
    wait_dark(shown, "Reject", dark=False)
    button(shown, "Reject").click()
    (decision,) = decided(page)
    assert decision[:3] == ["reject", "reviewer", "we stay at home"]


def test_all_of_it_can_be_done_from_the_keyboard(lab: Lab, page: Page, errors: list[str]) -> None:
    opened(lab, page, "keyboard", SETUP, SHOW, TELL)
    flows.stopped(page)
    page.locator(".jp-CodeCell").nth(1).locator(".jp-InputPrompt").click()
    cells = page.locator(".jp-Cell").count()

    def go_to(name: str) -> None:
        for _ in range(80):
            if page.evaluate(flows.FOCUSED) == name:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reaches {name}")

    go_to("Edit 1")
    page.keyboard.press("Enter")
    go_to("days")
    page.keyboard.type("30")
    go_to("Remove 1")
    go_to("Add a step")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => ({flows.FOCUSED})() === 'description'")
    go_to("tool")
    page.keyboard.type("cancel")
    page.keyboard.press("Tab")
    page.wait_for_function(f"() => ({flows.FOCUSED})() === 'hotel'")
    page.keyboard.type("dd Sol")  # "dd" deletes a cell, where a key is taken for a command
    wait_dark(desk(page), "Approve", dark=False)
    go_to("Approve")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => ({flows.FOCUSED})() === 'Back to the plan'")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(flows.FOCUSED) == "Yes, approve"
    page.keyboard.press("Enter")
    decision, _ = decided(page)
    assert [step["id"] for step in decision[3]["steps"]] == ["1", "2", "3", "4"]
    assert decision[3]["steps"][3]["params"] == {"hotel": "dd Sol"}
    assert page.locator(".jp-Cell").count() == cells


@pytest.mark.wide
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("mode", ["full", "contentVisibility"])
def test_a_desk_out_of_sight_is_never_decided_by_its_script(lab: Lab, page: Page, errors: list[str], mode: str) -> None:
    tracker = "@jupyterlab/notebook-extension/tracker"
    lab.set(tracker, windowingMode=mode)
    long = ["for line in range(60):\n    print(line)"] * 8
    opened(lab, page, f"far-{mode}", SETUP, *long, SHOW, *long, "desk.decision")
    page.mouse.move(800, 500)
    page.wait_for_timeout(3000)
    page.mouse.wheel(0, -30_000)  # far above the desk
    page.wait_for_timeout(3000)
    lab.set(tracker, windowingMode="none")
    page.mouse.wheel(0, 60_000)
    page.get_by_text("waits for you: there is no decision yet").wait_for(state="attached")


FRONT_ENDS = ["lab/tree", pytest.param("notebooks", marks=pytest.mark.wide)]


def grant(shown: Locator) -> None:
    write(shown, "Later plans", "10")
    flows.approve(shown)


def taken_back(shown: Locator) -> None:
    write(shown, "Later plans", "5")
    shown.get_by_label("Later plans", exact=True).focus()
    shown.get_by_label("Later plans", exact=True).press("End")
    shown.get_by_label("Later plans", exact=True).press("Backspace")
    flows.approve(shown)


@pytest.mark.parametrize("app", FRONT_ENDS)
@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        (grant, ["approve", "reviewer", "", 10, True]),
        pytest.param(taken_back, ["approve", "reviewer", "", None, True], marks=pytest.mark.wide),
    ],
    ids=["a grant", "a grant that is taken back"],
)
def test_all_keys_arrive(lab: Lab, page: Page, app: str, typed: Callable[[Locator], None], printed: list[Any]) -> None:
    book = lab.book(f"{typed.__name__}.ipynb", SETUP, SHOW, READ)
    lab.open(page, book, app)
    run_all(page)
    asked = flows.stopped(page)
    typed(desk(page))
    flows.go_on(page, asked)
    wait_until_done(page, 60)
    asked.get_by_text(json.dumps(printed)).wait_for()
