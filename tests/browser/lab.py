"""A real JupyterLab for the browser tests, and what they do in it: open a notebook, run it, look at the page.

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
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser import two_cells
from tests.guards.books import ROOT

PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
CHROMIUM = next((path for name in [*PROGRAMS, MAC_CHROME] if (path := shutil.which(name))), None)
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # a notebook that is left while it is saved complains
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},  # so that every cell is on the page
}
READY = "() => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'"
DONE = """() => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle' &&
    [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(
        p => /^\\[\\d+\\]:$/.test(p.innerText.trim()))"""
PROMPTS = "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(p => p.innerText.trim())"
COMPLAINTS = """.jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error'],
    .jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"""
HAS_APP = "() => Boolean(window.jupyterapp)"
OPEN_BOOK = "path => window.jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'})"
LEAVE = """async () => { for (const shown of [...window.jupyterapp.shell.widgets('main')]) {
        if (shown.context) shown.context.model.dirty = false;
        shown.dispose() }
    await window.jupyterapp.serviceManager.sessions.shutdownAll() }"""
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", ".hypothesis", "build", "progress.json")
# The server can fail to list the kernels while one of the last test is ending; JupyterLab asks again.
NOT_OURS = ("favicon", "net::ERR_INTERNET_DISCONNECTED", "/api/kernels?")

in_a_browser = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("CI"),  # in CI, a browser that is missing is an error
        reason="no Chromium on this machine: nothing was seen in a browser",
    ),
    pytest.mark.skipif(os.name == "nt", reason="`make lab` is for Linux and macOS"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
# The tests of one group share a JupyterLab; two groups keep two processors at work.
lessons_in_a_browser = [*in_a_browser, pytest.mark.xdist_group("lessons in a browser")]
desk_in_a_browser = [*in_a_browser, pytest.mark.xdist_group("the desk in a browser")]


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address, its token, the page it asked the browser to open; its root and its settings."""

    url: str
    token: str
    opened: str
    folder: Path
    settings: Path

    def address(self, path: Path | str, app: str = "lab/tree") -> str:
        """The address of a notebook, given by its path below the folder; "notebooks" is the app of Notebook 7."""
        return f"{self.url}/{app}/{Path(path).as_posix()}?reset&token={self.token}"

    def open(self, page: Page, path: Path | str, app: str = "lab/tree") -> None:
        """Open a notebook, and wait until its kernel is there: in the JupyterLab that the page shows, if it shows one."""
        if app in page.url and page.evaluate(HAS_APP):
            page.evaluate(OPEN_BOOK, Path(path).as_posix())
        else:
            page.goto(self.address(path, app))
        wait_until_ready(page)

    def set(self, plugin: str, **values: Any) -> None:
        """Change a setting for the pages that are opened from now on."""
        settings_into(self.settings, {plugin: SETTINGS.get(plugin, {}) | values})

    def themed(self, theme: str) -> None:
        """Choose the theme, "Light" or "Dark"."""
        self.set("@jupyterlab/apputils-extension/themes", theme=f"JupyterLab {theme}")

    def book(self, name: str, *cells: str) -> str:
        """Write a notebook with these code cells, and return its path below the folder."""
        two_cells.book(self.folder / name, *cells)
        return name

    def renew_kernels(self) -> None:
        """Shut every kernel down."""
        for session in self._asked("GET", "/api/sessions") or []:
            self._asked("DELETE", f"/api/sessions/{session['id']}")

    def renew(self) -> None:
        """Shut every kernel down, put the copied notebooks and the settings back, and take away what was added.

        The folders stay, because an open page might be listing them.
        """
        self.renew_kernels()
        for path in [*(self.folder / "notebooks").rglob("*"), *(self.folder / "exercises").rglob("*")]:
            copied = ROOT / path.relative_to(self.folder)
            if path.is_file() and (not copied.exists() or path.name == "progress.json"):
                path.unlink()
            elif path.is_file() and path.read_bytes() != copied.read_bytes():
                shutil.copyfile(copied, path)
        for added in self.folder.glob("*.ipynb"):
            added.unlink()
        shutil.rmtree(self.settings)
        settings_into(self.settings, SETTINGS)

    def _asked(self, method: str, path: str) -> Any:
        """The answer of the server's interface."""
        asked = urllib.request.Request(f"{self.url}{path}", method=method)
        asked.add_header("Authorization", f"token {self.token}")
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy this machine has
        with direct.open(asked, timeout=60) as answer:
            return json.loads(answer.read() or "null")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def settings_into(folder: Path, settings: dict[str, dict[str, Any]]) -> None:
    """Write settings as JupyterLab keeps a user's."""
    for plugin, values in settings.items():
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


@contextmanager
def started(scratch: Path) -> Iterator[Lab]:
    """JupyterLab, started by `make lab` in a fresh copy."""
    copy = Path(shutil.copytree(ROOT, scratch / "copy", ignore=LEFT_OUT))
    settings_into(scratch / "settings", SETTINGS)
    browser, opened = scratch / "browser", scratch / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n', encoding="utf-8")
    browser.chmod(0o755)
    token = "a-token-for-this-test"
    port = free_port()
    arguments = ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    arguments += ["--LabApp.expose_app_in_browser=True"]  # so that a page can go on to another notebook
    venv = Path(sys.prefix)
    stamp = venv / ".installed"
    command = ["make", "-o", str(stamp), "lab", f"VENV={venv}", f"LAB_ARGS={' '.join(arguments)}"]
    folders = {"HOME": scratch, "BROWSER": browser, "IPYTHONDIR": scratch / "ipython"}
    for name in ("LAB_SETTINGS", "LAB_WORKSPACES", "_CONFIG", "_DATA", "_RUNTIME"):
        folders[f"JUPYTER{name}_DIR"] = scratch / name.partition("_")[2].lower()
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
            yield Lab(f"http://127.0.0.1:{port}", token, page, copy, scratch / "settings")
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(30)


def listen(page: Page) -> list[str]:
    """The list into which the page's console errors and uncaught exceptions go."""
    heard: list[str] = []

    def hear(message: Any) -> None:
        if message.type == "error":
            heard.append(f"{message.text} {message.location.get('url')}")

    page.on("console", hear)
    page.on("pageerror", lambda problem: heard.append(str(problem)))
    return heard


def ours(errors: list[str]) -> list[str]:
    """The errors that are not the browser's or the network's."""
    return [message for message in errors if not any(noise in message for noise in NOT_OURS)]


def wait_until_ready(page: Page) -> None:
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.locator(".jp-Toolbar-kernelName", has_text="Python 3").wait_for()
    page.wait_for_function(READY)


def leave(page: Page) -> None:
    """Close what the JupyterLab of the page shows, without saving it, and shut its kernels down."""
    page.evaluate(LEAVE)


def run_all(page: Page) -> None:
    """Choose Run All Cells from the menu, and wait for nothing."""
    page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def wait_until_done(page: Page, seconds: float = 180) -> None:
    """Wait until every cell has run."""
    try:
        page.wait_for_function(DONE, timeout=seconds * 1000)
    except Exception as problem:
        pytest.fail(f"not every cell ran: {page.evaluate(PROMPTS)} ({type(problem).__name__})")
