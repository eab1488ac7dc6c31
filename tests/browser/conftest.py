"""What the browser tests of a module share: one Chromium, and a fresh page for each test. JupyterLab is shared by all."""

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

from tests.browser.flows import SHOTS
from tests.browser.lab import CHROMIUM, COMPLAINTS, FLAGS

SEEN = """() => ({
    kernel: document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status,
    prompts: [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(p => p.innerText.trim()).join(' '),
    desks: [...document.querySelectorAll('.pxl-desk')].map(desk => [...desk.querySelectorAll('button')]
        .filter(b => b.checkVisibility()).map(b => b.innerText + (b.disabled ? ' (off)' : '')).join(', ') + ' · ' +
        [...desk.querySelectorAll('input, textarea')].map(field => field.value).filter(Boolean).join(' | ') + ' · ' +
        desk.querySelector('.pxl-status')?.innerText),
    dialogs: [...document.querySelectorAll('.jp-Dialog')].map(d => d.innerText),
    errors: [...document.querySelectorAll(`COMPLAINTS`)].map(e => e.innerText)})""".replace("COMPLAINTS", COMPLAINTS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert CHROMIUM, "there is no Chromium here, and CI wants one: install Debian's package chromium, or Google Chrome"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page in a fresh session of the browser."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(90_000)
    yield page
    page.close()


def kept_at(name: str) -> Path:
    """Where the picture of a failed test's page is kept."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS / f"failed {re.sub('[^a-z0-9]+', '-', name.lower())}.png"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With a failure goes what the page shows: its kernel, prompts, the buttons of its desks, dialogs and errors."""
    report = yield
    page: Any = getattr(item, "funcargs", {}).get("page")
    if report.failed and page is not None:
        try:
            page.screenshot(path=kept_at(item.name))
            seen = "\n".join(f"{name}: {what}" for name, what in page.evaluate(SEEN).items())
        except Error as gone:
            seen = f"the page does not answer: {gone}"
        report.sections.append(("what the page shows", seen))
    return report
