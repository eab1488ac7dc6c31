"""What the browser tests of a module share: one Chromium, and a fresh page for each test. JupyterLab is shared by all."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.lab import CHROMIUM, FLAGS


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
