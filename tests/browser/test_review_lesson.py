"""Lesson 07 in a real JupyterLab, with a person before it: what was edited and approved is what runs."""

import pytest
from playwright.sync_api import Page

from planexec_lab.worlds import migration
from planexec_lite import Plan, Step
from tests.browser import flows
from tests.browser.flows import button, desk, play, shoot, wait_dark, write
from tests.browser.lab import COMPLAINTS, Lab, lessons_in_a_browser, run_all
from tests.guards.books import LESSONS, ROOT

pytestmark = lessons_in_a_browser

REFUSED = Plan.parse(migration.DANGEROUS_PLAN)
APPROVED = REFUSED.changed(
    steps=(
        REFUSED.steps[0],
        REFUSED.steps[1].model_copy(update={"params": {"message": "Only a backup"}}),
        Step(id="3", description="Delete production database", tool="backup_database", depends_on=("2",)),
        Step(id="4", tool="verify_integrity", depends_on=("3",)),
    )
)


@pytest.mark.wide
def test_a_person_asks_edits_and_approves_and_that_plan_runs(lab: Lab, page: Page, errors: list[str]) -> None:
    (lesson,) = [path for path in LESSONS if path.name.startswith("07")]
    lab.open(page, lesson.relative_to(ROOT))
    run_all(page)

    asked = flows.stopped(page)
    asked.get_by_text("The run waits for you.").wait_for()
    shown = desk(page)
    assert "runs at most once, can't be undone" in shown.inner_text()
    shown.scroll_into_view_if_needed()
    shoot(page, "lesson-07-first-plan")
    asked.scroll_into_view_if_needed()
    shoot(page, "lesson-07-waits")
    play(page, shown, [("Comment", "Back up first, and delete nothing"), "Ask for changes"])
    flows.go_on(page, asked)

    asked, shown = flows.stopped(page), desk(page)
    button(shown, "Edit 2").click()
    write(shown, "message", "")
    wait_dark(shown, "Approve")
    write(shown, "message", "Only a backup")
    wait_dark(shown, "Approve", dark=False)
    play(page, shown, [("3: tool", "backup_database"), "Add a step"])
    wait_dark(shown, "Approve")
    play(page, shown, [("4: tool", "verify_integrity"), "Approve"])
    flows.go_on(page, asked)

    asked, shown = flows.stopped(page), desk(page)
    assert "The run waits before step 6." in shown.inner_text()
    shown.scroll_into_view_if_needed()
    shoot(page, "lesson-07-gate")
    flows.wait_for_a_person(page)
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    line = page.get_by_text(f"reviewer approved {APPROVED.hash[:8]}; the planner had written {REFUSED.hash[:8]}")
    line.scroll_into_view_if_needed()
    assert "finished · 12 customers" in line.inner_text()
    shoot(page, "lesson-07-approved")
