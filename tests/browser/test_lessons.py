"""Every lesson in a real JupyterLab in a real browser: opened untrusted, run from top to bottom, and looked at.

JupyterLab is started by `make lab` in a fresh copy of the checkout, with a home folder of its own, so that no notebook
is trusted and no setting of this user's is in force.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.guards.books import LESSONS, ROOT

PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
CHROMIUM = next((path for name in [*PROGRAMS, MAC_CHROME] if (path := shutil.which(name))), None)
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},  # so that every cell is on the page
}
READY = "() => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'"
DONE = """() => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle' &&
    [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(
        p => /^\\[\\d+\\]:$/.test(p.innerText.trim()))"""
PROMPTS = "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(p => p.innerText.trim())"
PICTURES = """() => [...document.querySelectorAll('.jp-OutputArea-output img')].map(
    i => ({shown: i.complete && i.naturalWidth > 0 && i.getBoundingClientRect().width > 0, alt: i.alt}))"""
COMPLAINTS = """.jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error'],
    .jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"""
NOT_OURS = ("favicon", "net::ERR_INTERNET_DISCONNECTED")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: no lesson was seen in a browser"),
    pytest.mark.skipif(os.name == "nt", reason="`make lab` is for Linux and macOS"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address, its token, and the page that it asked the system's browser to open."""

    url: str
    token: str
    opened: str


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def settings_into(folder: Path) -> None:
    """Write the settings as JupyterLab keeps a user's."""
    for plugin, values in SETTINGS.items():
        path = folder / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def waited_for(path: Path, server: subprocess.Popen[bytes], seconds: float) -> str:
    """The content of a file that the server's start brings about."""
    for _ in range(int(seconds * 10)):
        if path.exists() and path.read_text(encoding="utf-8").strip():
            return path.read_text(encoding="utf-8").strip()
        assert server.poll() is None, "JupyterLab ended by itself"
        time.sleep(0.1)
    raise TimeoutError(f"JupyterLab opened nothing in {seconds} s")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab, started by `make lab` in a fresh copy."""
    scratch = tmp_path_factory.mktemp("lab")
    left_out = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", ".hypothesis")
    copy = Path(shutil.copytree(ROOT, scratch / "copy", ignore=left_out))
    settings_into(scratch / "settings")
    browser, opened = scratch / "browser", scratch / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n', encoding="utf-8")
    browser.chmod(0o755)
    token = "a-token-for-this-test"
    port = free_port()
    arguments = ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    venv = Path(sys.prefix)
    stamp = venv / ".installed"
    command = ["make", "-o", str(stamp), "lab", f"VENV={venv}", f"LAB_ARGS={' '.join(arguments)}"]
    folders = {
        "HOME": scratch,
        "BROWSER": browser,
        "JUPYTERLAB_SETTINGS_DIR": scratch / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": scratch / "workspaces",
        "JUPYTER_CONFIG_DIR": scratch / "config",
        "JUPYTER_DATA_DIR": scratch / "data",
        "JUPYTER_RUNTIME_DIR": scratch / "runtime",
        "IPYTHONDIR": scratch / "ipython",
    }
    log = scratch / "lab.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            command,
            cwd=copy,
            env=os.environ | {name: str(path) for name, path in folders.items()},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            try:
                page = waited_for(opened, server, 120)
            except (AssertionError, TimeoutError) as problem:
                pytest.fail(f"{problem}:\n{log.read_text(encoding='utf-8')[-3000:]}")
            yield Lab(f"http://127.0.0.1:{port}", token, page)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(30)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page; the errors that its console shows are in page.errors."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(90_000)
    yield page
    page.close()


def listen(page: Page) -> list[str]:
    """The list into which the page's console errors and uncaught exceptions go."""
    heard: list[str] = []
    page.on(
        "console",
        lambda said: heard.append(f"{said.text} {said.location.get('url')}") if said.type == "error" else None,
    )
    page.on("pageerror", lambda problem: heard.append(str(problem)))
    return heard


def wait_until_ready(page: Page) -> None:
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.locator(".jp-Toolbar-kernelName", has_text="Python 3").wait_for()
    page.wait_for_function(READY)


def stored_pictures(path: Path) -> int:
    """How many pictures the stored outputs of a notebook hold."""
    book: Any = nbformat.read(path, as_version=4)
    shown = [output.get("data", {}).get("text/html", "") for cell in book.cells for output in cell.get("outputs", [])]
    return sum(html.count("<img") for html in shown)


def look_at_pictures(page: Page, wanted: int) -> None:
    """Every picture of the outputs is loaded, has a size and says what it shows."""
    page.wait_for_function(f"() => document.querySelectorAll('.jp-OutputArea-output img').length >= {wanted}")
    page.wait_for_timeout(300)
    pictures = page.evaluate(PICTURES)
    assert len(pictures) == wanted
    assert all(picture["shown"] and picture["alt"].strip() for picture in pictures), pictures


def test_make_lab_opens_the_tour(lab: Lab, page: Page) -> None:
    page.goto(lab.opened)
    page.wait_for_url("**/lab/tree/notebooks/00_tour.ipynb**")
    wait_until_ready(page)
    assert page.locator(".lm-DockPanel-tabBar .lm-mod-current", has_text="00_tour.ipynb").count() == 1


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_runs_and_shows_its_figures(lab: Lab, page: Page, path: Path) -> None:
    errors = listen(page)
    page.goto(f"{lab.url}/lab/tree/{path.relative_to(ROOT).as_posix()}?reset&token={lab.token}")
    wait_until_ready(page)
    wanted = stored_pictures(path)
    look_at_pictures(page, wanted)  # nothing has run yet, and nothing is trusted

    page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_timeout(500)
    try:
        page.wait_for_function(DONE, timeout=180_000)
    except Exception as problem:
        pytest.fail(f"not every cell ran: {page.evaluate(PROMPTS)} ({type(problem).__name__})")
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    look_at_pictures(page, wanted)
    assert [said for said in errors if not any(noise in said for noise in NOT_OURS)] == []
