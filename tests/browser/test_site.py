"""The site that `make site` builds: lessons run in a browser tab, all hosts but loopback blocked; pages, links, work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import flows, tab
from tests.browser.lab import CHROMIUM, FLAGS, in_a_browser
from tests.guards.books import LESSONS, ROOT, name_of

pytestmark = [*in_a_browser, pytest.mark.wide, pytest.mark.xdist_group("the site in a browser")]
DRAWN_BY_MATPLOTLIB = re.compile(r'<img alt="Timelines?: ')
DESK = re.compile(r'<div class="pxl-still')
UNDECIDED = re.compile(r"^(To review|Paused before).*", re.M | re.S)
PAGES = ["index", "03_plan_as_data", "reference", "glossary"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` builds it."""
    folder = tmp_path_factory.mktemp("site") / "site"
    built = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "site" / "build.py"), str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert built.returncode == 0, built.stdout[-3000:]
    return folder


@pytest.fixture(scope="module")
def address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the site is served, with the stand-ins of the test laid over it."""
    scratch = tmp_path_factory.mktemp("stand-ins")
    laid_over = {f"jupyter/{path}": content for path, content in tab.overlay(site / "jupyter", scratch).items()}
    with tab.served(site, laid_over) as (here, _):
        yield here


@pytest.fixture(scope="module")
def cut_off() -> Iterator[Browser]:
    """A browser for which no host but this machine has a name."""
    assert CHROMIUM, "there is no Chromium here"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, tab.CUT])
        yield browser
        browser.close()


@pytest.fixture
def visitor(cut_off: Browser) -> Iterator[Page]:
    """A fresh visitor, whose requests all stay on this machine."""
    context = cut_off.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.set_default_timeout(300_000)
    yield page
    context.close()
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:", "about:"))] == []


def said(cell: Any) -> list[tuple[str, str]]:
    """What a cell put out, its figures too, but for those that matplotlib draws and for what a person leaves on a desk.

    A desk shows on its first lines what was decided, and the decision was the reviewer's where a script made the stored one.
    """
    found: list[tuple[str, str]] = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            name, text = output["name"], "".join(output["text"])
            if found and found[-1][0] == name:
                text = found.pop()[1] + text
            found.append((name, text))
        elif output["output_type"] == "error":
            found.append(("error", f"{re.findall(r'[A-Za-z]+', output['ename'])[-1]}: {output['evalue']}"))
        else:
            forms = {form: "".join(output["data"].get(form, "")) for form in ("text/plain", "text/html")}
            if DRAWN_BY_MATPLOTLIB.search(forms["text/html"]):
                forms["text/html"] = "a timeline"
            if DESK.search(forms["text/html"]) and (undecided := UNDECIDED.search(forms["text/plain"])):
                forms = {"text/html": "a desk", "text/plain": undecided[0]}
            found += sorted((form, text) for form, text in forms.items() if text)
    return [(form, re.sub(r"\bscript\b", "reviewer", text)) for form, text in found]


@pytest.mark.parametrize("path", LESSONS, ids=name_of)
def test_a_lesson_says_in_a_tab_what_is_stored(address: str, visitor: Page, path: Path) -> None:
    tab.opened(visitor, address, name_of(path))
    tab.run_all(visitor)
    flows.shoot(visitor, f"site-{path.stem}")
    stored = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    shown = [cell for cell in tab.cells(visitor) if cell["cell_type"] == "code"]
    assert [said(cell) for cell in shown] == [said(cell) for cell in stored]
