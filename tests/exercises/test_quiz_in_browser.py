"""The quizzes and the cards in a real JupyterLab: untrusted, and by keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, sync_playwright

from exercises import cards
from exercises.quiz import quiz
from tests.browser.lab import CHROMIUM, FLAGS, Lab, lessons_in_a_browser, run_all, wait_until_done, wait_until_ready

pytestmark = lessons_in_a_browser


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(90_000)
        yield page
        browser.close()


def press(page: Page, *keys: str) -> None:
    """Press the keys one after the other, as slowly as a person."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(150)


@pytest.mark.wide
def test_a_quiz_is_text_before_it_runs_and_is_answered_by_keyboard_alone(lab: Lab, page: Page) -> None:
    page.goto(lab.address("exercises/quiz.ipynb"))
    wait_until_ready(page)
    cell = page.locator(".jp-CodeCell").nth(1)
    question = quiz("01").questions[0]
    assert question.ask in cell.inner_text(), "the stored text form is shown"
    run_all(page)
    wait_until_done(page)
    cell.locator("input[type=radio]").first.focus()
    right = [choice.right for choice in question.choices].index(True)
    press(page, *["Tab"] * right, "Space", *["Tab"] * (len(question.choices) - right), "Space")
    status = cell.locator("[role=status]")
    status.first.wait_for()
    assert status.all_inner_texts() == [f"✓ right: {question.choices[right].because}"]
    assert "Right at the first try: 1 of 3." in cell.inner_text()


@pytest.mark.wide
def test_cards_unfold_in_a_notebook_that_is_not_trusted(lab: Lab, page: Page) -> None:
    page.goto(lab.address("notebooks/01_toy_planner.ipynb"))
    wait_until_ready(page)
    card = cards.of("01")[0]
    row = page.locator("td", has=page.get_by_text(card.question, exact=True))
    more = row.locator("details")
    assert not more.evaluate("one => one.open")
    assert not row.get_by_text(card.short).is_visible(), "the answer is said aloud first"
    more.locator("summary").focus()
    press(page, "Space")
    assert more.evaluate("one => one.open")
    assert row.get_by_text(card.short).is_visible()
    assert card.long in more.inner_text()
