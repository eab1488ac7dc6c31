"""Every lesson in a real JupyterLab in a real browser: opened untrusted, run from top to bottom, and looked at."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Page

from tests.browser.flows import wait_for_a_person
from tests.browser.lab import COMPLAINTS, Lab, lessons_in_a_browser, run_all, wait_until_ready
from tests.guards.books import LESSONS, ROOT

PICTURES = """() => [...document.querySelectorAll('.jp-OutputArea-output figure > :is(img, svg)')].map(
    i => ({shown: i.matches('svg') && i.getBoundingClientRect().width > 0, alt: i.ariaLabel,
        stored: !i.closest('.jupyter-widgets')}))"""

SEEN = ("00", "05")  # `make wide` opens the others
FOLDED = ".jp-Notebook .jp-CodeCell .jp-OutputPlaceholder"

pytestmark = lessons_in_a_browser


def is_folded(cell: Any) -> bool:
    return bool(cell.metadata.get("jupyter", {}).get("outputs_hidden"))


def stored_pictures(cells: list[Any]) -> int:
    """How many pictures the stored outputs of these cells hold."""
    shown = [output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", [])]
    return sum(html.count("<img") for html in shown)


def look_at_pictures(page: Page, wanted: int) -> None:
    """Every picture of the outputs is SVG in the page, has a size and says what it shows; those in widgets are beyond `wanted`."""
    page.wait_for_function(f"() => document.querySelectorAll('.jp-OutputArea-output figure > svg').length >= {wanted}")
    page.wait_for_timeout(300)
    pictures = page.evaluate(PICTURES)
    assert sum(picture["stored"] for picture in pictures) == wanted
    assert all(picture["shown"] and picture["alt"].strip() for picture in pictures), pictures


def test_make_lab_opens_the_tour(lab: Lab, page: Page) -> None:
    page.goto(lab.opened)
    page.wait_for_url("**/lab/tree/notebooks/00_tour.ipynb**")
    wait_until_ready(page)
    assert page.locator(".lm-DockPanel-tabBar .lm-mod-current", has_text="00_tour.ipynb").count() == 1


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[] if path.name[:2] in SEEN else pytest.mark.wide) for path in LESSONS],
)
def test_lesson_runs_and_shows_its_figures(lab: Lab, page: Page, errors: list[str], path: Path) -> None:
    lab.open(page, path.relative_to(ROOT))
    cells: list[Any] = nbformat.read(path, as_version=4).cells
    wanted, folded = stored_pictures(cells), list(filter(is_folded, cells))
    look_at_pictures(page, wanted - stored_pictures(folded))  # nothing has run yet, and nothing is trusted
    assert page.locator(FOLDED).count() == len(folded)

    run_all(page)
    page.wait_for_timeout(500)
    wait_for_a_person(page)
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    look_at_pictures(page, wanted)
    assert page.locator(FOLDED).count() == 0, "a cell that ran shows its output"
