"""In the real JupyterLab: a learner's path through an exercise, the quizzes by keyboard alone, and the cards, untrusted."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from exercises.hunts.catalogue import hunts
from exercises.interview import cards
from exercises.interview.interviewer import RECOVERY
from exercises.interview.quiz import quiz
from tests.browser.lab import (
    COMPLAINTS,
    Lab,
    lessons_in_a_browser,
    listen,
    ours,
    run_all,
    wait_until_done,
    wait_until_ready,
)

pytestmark = lessons_in_a_browser
NOTEBOOK = "exercises/01_toy_planner.ipynb"
ANSWER, CHECK, BOARD = 2, 3, -1  # among the code cells


def cell(page: Page, number: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(number)


def write(page: Page, number: int, source: str) -> None:
    """Replace the text of a code cell, as a learner does, and run it."""
    before = cell(page, number).locator(".jp-InputPrompt").inner_text()
    cell(page, number).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")
    expect(cell(page, number).locator(".jp-InputPrompt")).not_to_have_text(before)
    expect(cell(page, number).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))


def run(page: Page, number: int) -> None:
    source = cell(page, number).locator(".cm-content").inner_text()
    write(page, number, source)


def output(page: Page, number: int) -> Locator:
    return cell(page, number).locator(".jp-OutputArea")


def test_a_learner_gets_from_not_started_to_right(lab: Lab, page: Page) -> None:
    errors = listen(page)
    lab.open(page, NOTEBOOK)
    run_all(page)
    page.wait_for_timeout(500)
    wait_until_done(page)
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    expect(page.get_by_text(re.compile("Not started"))).to_have_count(4)
    expect(output(page, BOARD)).to_contain_text("Lesson 01: 0 of 4 right")

    write(page, ANSWER, "whole = 1\nsingle = 4")
    run(page, CHECK)
    expect(output(page, CHECK)).to_contain_text("01.1 ·  ✗ Wrong")
    expect(output(page, CHECK)).to_contain_text("single = 4")
    expect(output(page, CHECK).locator("figure > svg")).to_have_count(1)
    run(page, BOARD)
    expect(output(page, BOARD)).to_contain_text("✗ wrong")

    write(page, CHECK, 'hint("01.1")')
    expect(output(page, CHECK)).to_contain_text("01.1 · Hint 1 of 2")
    run(page, CHECK)
    expect(output(page, CHECK)).to_contain_text("01.1 · Hint 2 of 2")

    write(page, ANSWER, "whole = 1\nsingle = 5")
    write(page, CHECK, 'check("01.1")')
    expect(output(page, CHECK)).to_contain_text("01.1 ·  ✓ Right")
    run(page, BOARD)
    expect(output(page, BOARD)).to_contain_text("Lesson 01: 1 of 4 right")
    expect(output(page, BOARD)).to_contain_text("✓ right")
    output(page, BOARD).get_by_role("link", name="01.2 · The loop that gives up").click()
    expect(page.get_by_role("heading", name="01.2 · The loop that gives up")).to_be_in_viewport()
    assert ours(errors) == []


def press(page: Page, *keys: str) -> None:
    """Press the keys one after the other, as slowly as a person."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(150)


@pytest.mark.wide
def test_a_quiz_is_text_before_it_runs_and_is_answered_by_keyboard_alone(lab: Lab, page: Page) -> None:
    page.goto(lab.address("exercises/interview.ipynb"))
    wait_until_ready(page)
    question = quiz("01").questions[0]
    cell = page.locator(".jp-CodeCell").filter(has_text=question.ask).first
    cell.scroll_into_view_if_needed()
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
def test_an_interview_is_typed_and_ends_in_a_report(lab: Lab, page: Page) -> None:
    page.goto(lab.address("exercises/interview.ipynb"))
    wait_until_ready(page)
    run_all(page)
    wait_until_done(page)
    cell = page.locator(".jp-CodeCell").nth(1)
    assert page.locator("[style*=planexec-time]").count() == 0
    cell.get_by_role("button", name="Begin", exact=True).click()
    (card,) = cards.named("design-release-agent")
    expect(cell.locator("[role=status]")).to_contain_text(card.question)
    cell.locator("textarea").click()
    page.keyboard.type("I don't know.")
    press(page, "Tab", "Space")
    expect(cell.locator("[role=status]")).to_contain_text(RECOVERY)
    for answer in (f"{card.short} {card.long}", "ok", card.short):
        cell.locator("textarea").click()
        page.keyboard.insert_text(answer)
        press(page, "Tab", "Space")
    expect(cell.locator("[role=status]")).to_contain_text("Question 2 of")
    cell.get_by_text("End the interview").click()
    expect(cell).to_contain_text("100 of 100 points: strong")
    expect(cell).to_contain_text(f"✓ {card.ideas[0].say}")


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


@pytest.mark.wide
def test_a_hunt_opens_in_its_cell_and_is_solved_there(lab: Lab, page: Page) -> None:
    errors = listen(page)
    lab.open(page, "exercises/hunts.ipynb")
    for number, source in ((0, "import exercises.hunts\n%load_ext exercises.hunts"), (1, "%hunt waits_for_ever")):
        write(page, number, source)
    expect(output(page, 1)).to_contain_text("it did not end, so it was stopped")
    expect(cell(page, 1).locator(".cm-content")).to_contain_text("%%hunt waits_for_ever")
    page.keyboard.press("Control+Enter")
    expect(output(page, 1)).to_contain_text("not started: your copy is unchanged")
    write(page, 1, "%%hunt waits_for_ever\n" + hunts()["waits_for_ever"].fixed())
    expect(output(page, 1)).to_contain_text("✓ right")
    assert ours(errors) == []
