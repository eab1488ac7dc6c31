"""Typing at the desk, key by key, as a person does: every key arrives."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from tests.browser import flows
from tests.browser.flows import button, desk, wait_dark, write
from tests.browser.lab import Lab, desk_in_a_browser, run_all, wait_until_done
from tests.browser.two_cells import READ, SETUP, SHOW

pytestmark = desk_in_a_browser

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


def comment(shown: Locator) -> None:
    write(shown, "Comment", "Step 3 is late")
    wait_dark(shown, "Reject", dark=False)
    button(shown, "Reject").click()


@pytest.mark.parametrize("app", FRONT_ENDS)
@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        (grant, ["approve", "reviewer", "", 10, True]),
        pytest.param(taken_back, ["approve", "reviewer", "", None, True], marks=pytest.mark.wide),
        pytest.param(comment, ["reject", "reviewer", "Step 3 is late", None, True], marks=pytest.mark.wide),
    ],
    ids=["a grant", "a grant that is taken back", "the reason of a rejection"],
)
def test_every_key_arrives(
    lab: Lab, page: Page, app: str, typed: Callable[[Locator], None], printed: list[Any]
) -> None:
    book = lab.book(f"{typed.__name__}.ipynb", SETUP, SHOW, READ)
    lab.open(page, book, app)
    run_all(page)
    asked = flows.stopped(page)
    typed(desk(page))
    flows.go_on(page, asked)
    wait_until_done(page, 60)
    asked.get_by_text(json.dumps(printed)).wait_for()
