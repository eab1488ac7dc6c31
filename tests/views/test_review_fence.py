"""A press counts behind what was typed before it, however late that arrives."""

import pytest

from planexec_lab.views.review_desk import presence
from planexec_lab.views.review_desk.widget import Review
from planexec_lite.events import Grant
from tests.views.cells import still
from tests.views.desks import PLAN, desk, fill


@pytest.fixture
def shown() -> Review:
    """A desk that a page shows, whose answers are long under way; its plan only reads, so a yes needs no second word."""
    made = desk(PLAN.changed(steps=PLAN.steps[:1]))
    made.box._view_count = 1
    return made


def page_answers(shown: Review) -> None:
    """What the page says when it has handled everything that the kernel sent."""
    shown._fence._post._view_count = len(shown._fence.box.children)


def press(shown: Review, name: str) -> None:
    shown.controls[name].click()


def test_a_press_without_typing_decides_at_once(shown: Review) -> None:
    press(shown, "Approve")
    assert shown.decided


def test_a_press_overtakes_no_key(shown: Review) -> None:
    fill(shown, "Later plans", "1")
    press(shown, "Approve")
    assert not shown.decided
    fill(shown, "Later plans", "10")  # the page sends what it kept when "1" was answered
    page_answers(shown)
    page_answers(shown)
    assert shown.decision.grant == Grant(10)


def test_a_key_that_makes_the_plan_unfit_stops_the_press_before_it(shown: Review) -> None:
    fill(shown, "Later plans", "1")
    press(shown, "Approve")
    fill(shown, "Later plans", "1x")
    page_answers(shown)
    page_answers(shown)
    assert not shown.decided
    assert "takes a number of steps" in shown._stand.value


def test_two_presses_decide_once_and_the_first_counts(shown: Review) -> None:
    fill(shown, "Comment", "n")
    press(shown, "Reject")
    press(shown, "Approve")
    page_answers(shown)
    assert shown.decision.verdict == "reject"


def test_a_press_is_not_lost_when_the_page_is_another_one(shown: Review) -> None:
    fill(shown, "Comment", "n")
    page_answers(shown)
    fill(shown, "Comment", "no")  # the page is loaded again before it answers
    old = shown._fence._post
    press(shown, "Reject")
    press(shown, "Reject")
    assert shown._fence._post is not old
    assert not shown.decided
    page_answers(shown)
    assert shown.decision.verdict == "reject"


def test_a_program_that_presses_waits_for_no_page(shown: Review) -> None:
    shown.play([("Comment", "no"), "Reject"])
    assert (shown.decision.verdict, shown.decision.by) == ("reject", "script")


def test_a_page_that_answers_before_the_press_lets_it_through_at_once(shown: Review) -> None:
    fill(shown, "Later plans", "1")
    page_answers(shown)
    press(shown, "Approve")
    assert shown.decision.grant == Grant(1)


def test_a_desk_that_is_shown_again_waits_for_no_page_that_is_gone(shown: Review) -> None:
    fill(shown, "Comment", "no")
    press(shown, "Reject")
    still(shown)  # in a new cell, after the page was loaded again
    press(shown, "Reject")
    assert shown.decision.verdict == "reject"


def test_a_key_that_is_on_its_way_when_the_question_stands_is_not_lost() -> None:
    shown = desk()
    shown.box._view_count = 1
    press(shown, "Approve")
    fill(shown, "Later plans", "1")
    assert "Yes, approve" not in shown.controls  # what was asked was asked about less
    page_answers(shown)
    press(shown, "Approve")
    press(shown, "Yes, approve")
    assert shown.decision.grant == Grant(1)


def test_a_page_that_has_not_said_that_it_shows_the_desk_is_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = desk(PLAN.changed(steps=PLAN.steps[:1]))
    monkeypatch.setattr(presence, "request", lambda: {"msg_type": "comm_msg"})
    fill(shown, "Later plans", "5")
    press(shown, "Approve")
    assert not shown.decided
    fill(shown, "Later plans", "")  # the page kept it until "5" was answered
    page_answers(shown)
    page_answers(shown)
    assert shown.decision.grant is None


def test_a_page_that_never_says_what_it_shows_decides_with_the_second_press(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = desk(PLAN.changed(steps=PLAN.steps[:1]))
    monkeypatch.setattr(presence, "request", lambda: {"msg_type": "comm_msg"})
    fill(shown, "Later plans", "5")
    press(shown, "Approve")
    press(shown, "Approve")
    assert shown.decision.grant == Grant(5)
