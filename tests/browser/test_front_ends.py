"""The desk in two cells in the JupyterLab of 2022: typed key by key, decided by the person, said back; no script plays."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.flows import approve, button, shoot
from tests.browser.front_ends import NEEDS, READ, SETUP, SHOW, book, served
from tests.browser.lab import in_a_browser
from tests.environments import make_environment

pytestmark = [*in_a_browser, pytest.mark.weekly, pytest.mark.xdist_group("other front ends")]
SAID = ["approve", "reviewer", "we go", 10, True]
TOKEN = "t"


def decide(page: Page, name: str) -> Locator:
    """Type a grant and a comment at the desk, key by key, approve, and read what the closed desk says."""
    shown = page.locator(".pxl-desk").last
    button(shown, "Approve").wait_for()
    shown.get_by_label("Later plans", exact=True).press_sequentially("10")
    shown.get_by_label("Comment", exact=True).press_sequentially("we go")
    shoot(page, f"desk-{name}")
    approve(shown)
    shown.get_by_text("Approved by reviewer: plan").wait_for()
    shown.get_by_text("Later plans may add up to 10 steps").wait_for()
    shown.get_by_text("Comment: we go").wait_for()
    shoot(page, f"desk-{name}-decided")
    return shown


@pytest.fixture(scope="module")
def of_2022(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JupyterLab 3 on ipykernel 6 and ipywidgets 7, which Colab still has."""
    packages = ["jupyterlab>=3.6,<4", "ipykernel==6.17.1", "ipython==7.34.0", "ipywidgets==7.7.1", "notebook<7"]
    packages += ["jupyterlab_widgets<2", "jupyter_server<2"]
    return make_environment(tmp_path_factory.mktemp("of_2022") / "env", *packages, *NEEDS)


@pytest.fixture
def slow(page: Page) -> Page:
    """A page with patience."""
    page.set_default_timeout(180_000)
    return page


def test_two_cells_work_on_ipykernel_6_and_ipywidgets_7(of_2022: Path, tmp_path: Path, slow: Page) -> None:
    book(tmp_path / "two.ipynb", SETUP, SHOW, READ)
    command = ["jupyter-lab", "--allow-root", f"--ServerApp.token={TOKEN}", "--ServerApp.port_retries=0"]
    with served(of_2022, tmp_path, *command) as address:
        slow.goto(f"{address}/lab/tree/two.ipynb?reset&token={TOKEN}")
        slow.locator(".jp-Toolbar-kernelName", has_text="Python 3").wait_for()
        slow.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        menu = slow.locator(".lm-MenuBar-itemLabel", has_text="Run").first
        slow.locator(".jp-CodeCell .jp-InputArea").first.click()
        slow.keyboard.press("Control+Enter")
        slow.locator(".jp-CodeCell").first.get_by_text("[1]:").wait_for()
        menu.click()
        slow.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        reads = slow.locator(".jp-CodeCell").nth(2)
        reads.get_by_text("The run waits for you.").wait_for()
        decide(slow, "ipywidgets-7")
        reads.locator(".jp-InputArea").click()
        slow.keyboard.press("Control+Enter")
        reads.get_by_text(json.dumps(SAID)).wait_for()
