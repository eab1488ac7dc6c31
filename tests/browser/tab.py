"""The site, served on loopback as a browser tab gets it, and the lessons that run there.

The files of Pyodide's own server are not available here: a stand-in for matplotlib draws empty pictures. The test alone has it,
laid over the files of the site while it is served.
"""

import gzip
import hashlib
import http.server
import json
import mimetypes
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.browser import flows
from tests.guards.books import ROOT

CUT = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
COMPRESSED = re.compile("text/|javascript|json|wasm|svg")
LOCK = "static/pyodide/pyodide-lock.json"
LIST = "window.jupyterapp.shell.currentWidget.content.model.toJSON().cells"
STOPPED = f"""() => {LIST}.findIndex(
    cell => (cell.outputs || []).some(one => one.output_type === 'error' && one.ename.includes('NotDecided')))"""
ASKS = "() => document.activeElement?.closest('.pxl-desk')"  # the question has taken the focus
LEFT = f"() => {LIST}.filter(cell => cell.cell_type === 'code' && !cell.execution_count).length"
GO_ON = """number => { const book = window.jupyterapp.shell.currentWidget.content;
    book.activeCellIndex = number; book.widgets[number].model.clearExecution();
    window.jupyterapp.commands.execute('notebook:run-all-below'); }"""
PUT_OUT = f"() => {LIST}.some(cell => cell.execution_count && cell.outputs.length)"
OPEN = "() => window.jupyterapp?.shell.currentWidget?.content?.model?.sharedModel"
TOLD = """async code => {
    const asked = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code });
    let said = '';
    asked.onIOPub = ({ header, content }) => {
        if (header.msg_type === 'stream') said += content.text;
        if (header.msg_type === 'error') said += `${content.ename}: ${content.evalue}`;
        if (content.data) said += content.data['text/plain'];
    };
    await asked.done;
    return said; }"""
MATPLOTLIB = {
    "matplotlib/__init__.py": """
from contextlib import contextmanager
rcParams, rcParamsDefault = {}, {}

@contextmanager
def rc_context():
    yield
""",
    "matplotlib/figure.py": """
class Axes:
    def __getattr__(self, name):
        return lambda *_, **__: None

class Figure:
    def __init__(self, **_):
        pass

    def add_axes(self, *_, **__):
        return Axes()

    def savefig(self, out, **_):
        out.write("<svg/>")
""",
    "matplotlib/patches.py": "def FancyBboxPatch(*_, **__):\n    pass\n",
    "matplotlib/ticker.py": """
class MaxNLocator:
    def __init__(self, **_):
        pass

    def tick_values(self, *_):
        return []
""",
}


def tool(name: str) -> Any:
    """A module of .ci/site."""
    folder = str(ROOT / ".ci" / "site")
    if folder not in sys.path:
        sys.path.append(folder)
    return __import__(name)


def overlay(jupyter: Path, scratch: Path) -> dict[str, bytes]:
    """What is served in place of, or beside, the files of the folder `jupyter`, by path."""
    pack = tool("wheels").pack
    drawing = {name: text.encode() for name, text in MATPLOTLIB.items()}
    nothing = ["contourpy", "kiwisolver", "numpy", "pillow"]
    wheels = {"matplotlib": pack("matplotlib", "0", drawing, scratch)}
    wheels |= {name: pack(name, "0", {}, scratch) for name in nothing}
    lock = json.loads((jupyter / LOCK).read_text(encoding="utf-8"))
    for name, wheel in wheels.items():
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        lock["packages"][name] |= {"file_name": wheel.name, "sha256": digest}
    settings = json.loads((jupyter / "jupyter-lite.json").read_text(encoding="utf-8"))
    every_cell = {"@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}}
    settings["jupyter-config-data"]["settingsOverrides"] |= every_cell
    files = {f"static/pyodide/{wheel.name}": wheel.read_bytes() for wheel in wheels.values()}
    return files | {LOCK: json.dumps(lock).encode(), "jupyter-lite.json": json.dumps(settings).encode()}


@cache
def compressed(content: bytes) -> bytes:
    """A file as a host sends it, compressed once for all visitors."""
    return gzip.compress(content, 6)


class Files(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, with others in the place of some, compressed as hosts of static files do it.

    Each file is counted once, by the bytes that are sent for it.
    """

    def __init__(self, *request: Any, laid_over: dict[str, bytes], sizes: dict[str, int], **folder: Any) -> None:
        self.laid_over, self.sizes = laid_over, sizes
        super().__init__(*request, **folder)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removeprefix("/")
        content = self.laid_over.get(path)
        if content is None:
            file = Path(self.translate_path(self.path))
            file = file / "index.html" if file.is_dir() and self.path.endswith("/") else file
            if not file.is_file():
                super().do_GET()
                return
            content = file.read_bytes()
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        self.send_response(200)
        if COMPRESSED.search(kind) and "gzip" in self.headers.get("Accept-Encoding", ""):
            content = compressed(content)
            self.send_header("Content-Encoding", "gzip")
        self.sizes[path] = len(content)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def served(site: Path, laid_over: dict[str, bytes]) -> Iterator[tuple[str, dict[str, int]]]:
    """Serve the site; its address, and the bytes of each file that was asked for."""
    sizes: dict[str, int] = {}
    handler = partial(Files, laid_over=laid_over, sizes=sizes, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", sizes
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def command(page: Page, name: str) -> None:
    page.evaluate("name => window.jupyterapp.commands.execute(name)", name)


def opened(page: Page, address: str, path: str) -> None:
    """Open a notebook of the site, and wait until its kernel is there."""
    page.goto(f"{address}/jupyter/lab/index.html?path={path}")
    page.wait_for_function(OPEN)
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext?.session?.kernel?.status === 'idle'"
    )


def run_all(page: Page, seconds: float = 300) -> None:
    """Run every cell afresh; where a desk asks, play its script by hand, and go on from where the run has stopped."""
    command(page, "notebook:clear-all-cell-outputs")
    start(page, "notebook:run-all-cells")
    for _ in range(60):
        page.wait_for_function(f"() => ({STOPPED})() >= 0 || ({LEFT})() === 0", timeout=seconds * 1000)
        number = page.evaluate(STOPPED)
        if number < 0:
            return
        page.wait_for_function(ASKS, timeout=9000)  # it takes two seconds; without the error on the page, twelve
        script = json.loads(told(page, "import json; print(json.dumps(desk.script))"))
        flows.play(page, flows.desk(page), script)
        page.evaluate(GO_ON, number)
    raise AssertionError("the cells ask and ask")


def start(page: Page, name: str) -> None:
    """Start a command and wait for nothing."""
    page.evaluate("name => { window.jupyterapp.commands.execute(name); }", name)


def cells(page: Page) -> list[dict[str, Any]]:
    """The current cells of the open notebook."""
    found: list[dict[str, Any]] = page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.model.toJSON().cells"
    )
    return found


def told(page: Page, code: str) -> str:
    """What the open notebook's kernel says to some code: what is printed or shown as text, and the error."""
    said: str = page.evaluate(TOLD, code)
    return said
