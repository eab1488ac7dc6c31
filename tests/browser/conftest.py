"""The browser tests of a process share a JupyterLab, a Chromium and a page.

To load JupyterLab costs ten seconds of CPU, most of what a test takes. So a page stays for the next test: what it shows is
closed, its kernels are shut down. Tests that change settings, reload or leave JupyterLab ask for a `fresh` page.
"""

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, Playwright, expect, sync_playwright

from tests.browser.flows import SHOTS, THEMES
from tests.browser.lab import CHROMIUM, COMPLAINTS, FLAGS, HAS_APP, Lab, leave, listen, ours

FAILED = pytest.StashKey[bool]()
PATIENCE = 90_000  # ms: a busy machine is slow, and a test that passes does not wait
SEEN = """() => ({
    kernel: document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status,
    prompts: [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(p => p.innerText.trim()).join(' '),
    desks: [...document.querySelectorAll('.pxl-desk')].map(desk => [...desk.querySelectorAll('button')]
        .filter(b => b.checkVisibility()).map(b => b.innerText + (b.disabled ? ' (off)' : '')).join(', ') + ' · ' +
        [...desk.querySelectorAll('input, textarea')].map(field => field.value).filter(Boolean).join(' | ') + ' · ' +
        desk.querySelector('.pxl-status')?.innerText),
    dialogs: [...document.querySelectorAll('.jp-Dialog')].map(d => d.innerText),
    errors: [...document.querySelectorAll(`COMPLAINTS`)].map(e => e.innerText)})""".replace("COMPLAINTS", COMPLAINTS)


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright, until other tests follow: its event loop would be in the way of theirs."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    assert CHROMIUM, "there is no Chromium here, and CI wants one: install Debian's package chromium, or Google Chrome"
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="package")
def pages(chromium: Browser) -> list[Page]:
    """The page that stays for the next test, if there is one."""
    return []


def dropped(pages: list[Page]) -> None:
    while pages:
        pages.pop().close()


@pytest.fixture
def fresh(pages: list[Page]) -> Iterator[None]:
    """A page in a new session of the browser, which no other test uses."""
    dropped(pages)
    yield
    dropped(pages)


@pytest.fixture
def page(request: pytest.FixtureRequest, chromium: Browser, pages: list[Page]) -> Iterator[Page]:
    """A page that is empty or shows a JupyterLab in which nothing is open."""
    if "fresh" in request.fixturenames:
        request.getfixturevalue("fresh")
    if not pages:
        pages.append(chromium.new_page())
        pages[0].set_default_timeout(PATIENCE)
    page = pages[0]
    page.set_viewport_size({"width": 1280, "height": 1000})
    yield page
    if "fresh" in request.fixturenames or request.node.stash.get(FAILED, False) or not page.evaluate(HAS_APP):
        dropped(pages)
    else:
        leave(page)


@pytest.fixture(params=THEMES)
def themed(request: pytest.FixtureRequest, lab: Lab, fresh: None) -> Iterator[str]:
    """The theme of JupyterLab, in a separate page."""
    lab.themed(request.param)
    yield request.param
    lab.themed("Light")


@pytest.fixture
def errors(page: Page) -> Iterator[list[str]]:
    """The page's errors; the list must be empty when the test ends."""
    heard = listen(page)
    yield heard
    assert ours(heard) == []


def kept_at(name: str) -> Path:
    """The file for the picture of a failed test's page."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS / f"failed {re.sub('[^a-z0-9]+', '-', name.lower())}.png"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With a failure goes what the page shows: its kernel, prompts, the buttons of its desks, dialogs and errors."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    page: Any = getattr(item, "funcargs", {}).get("page")
    if report.failed and page is not None:
        try:
            page.screenshot(path=kept_at(item.name))
            seen = "\n".join(f"{name}: {what}" for name, what in page.evaluate(SEEN).items())
        except Error as gone:
            seen = f"the page does not answer: {gone}"
        report.sections.append(("what the page shows", seen))
    return report
