"""Typing at the desk, key by key, as a person does: every key arrives while a cell waits for the decision."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page

from tests.browser import flows
from tests.browser.flows import button, desk, wait_dark, write
from tests.browser.lab import COMPLAINTS, Lab, desk_in_a_browser, run_all, wait_until_done

pytestmark = desk_in_a_browser

SETUP = "from planexec_lite import *\nfrom planexec_lite import views\nfrom tests.views.desks import PLAN, TOOLS"
ONE_CELL = "decision = await views.review(PLAN, TOOLS)"
TELL = """import json
grant = decision.grant and decision.grant.new_steps
print(json.dumps([decision.verdict, decision.comment, grant, decision.of == PLAN.hash]))"""
OUTPUTS = "() => [...document.querySelectorAll('.jp-RenderedText')].map(one => one.innerText).join('\\n')"
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
        (grant, ["approve", "", 10, True]),
        pytest.param(taken_back, ["approve", "", None, True], marks=pytest.mark.wide),
        pytest.param(comment, ["reject", "Step 3 is late", None, True], marks=pytest.mark.wide),
    ],
    ids=["a grant", "a grant that is taken back", "the reason of a rejection"],
)
def test_every_key_arrives_while_a_cell_waits(
    lab: Lab, page: Page, app: str, typed: Callable[[Locator], None], printed: list[object]
) -> None:
    book = lab.book(f"{typed.__name__}.ipynb", SETUP, ONE_CELL, TELL)
    lab.open(page, book, app)
    run_all(page)
    typed(desk(page))
    wait_until_done(page, 60)
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    assert [json.loads(line) for line in page.evaluate(OUTPUTS).splitlines() if line.startswith("[")] == [printed]
