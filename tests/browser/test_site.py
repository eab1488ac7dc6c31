"""The site that `make site` builds: lessons run in a browser tab, all hosts but loopback blocked; pages, links, work."""

import json
import os
import posixpath
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from urllib.parse import unquote

import nbformat
import pytest
from playwright.sync_api import Browser, Page, Playwright

import mock_llm
import planexec_lab
import planexec_lite
from planexec_lab import views
from planexec_lite.storage.file_lock import FileLock
from tests.browser import flows, tab
from tests.browser.lab import CHROMIUM, FLAGS, in_a_browser
from tests.guards.books import APPENDIX, LESSONS, ROOT, name_of

pytestmark = [*in_a_browser, pytest.mark.wide, pytest.mark.xdist_group("the site in a browser")]
DRAWN_BY_MATPLOTLIB = re.compile(r'<img alt="Timelines?: ')
DESK = re.compile(r'<div class="pxl-still')
UNDECIDED = re.compile(r"^(To review|Paused (?:before|to be told)).*", re.M)
MARK = re.compile(r"\x1b\[38[\d;]+m \S (.*?) \x1b\[0m")  # the colours of a verdict, which stored outputs have not
WITHOUT_THREADS = (
    "the run has ended; production: v2.3.0",
    "the run has ended; production: v2.3.1",
)  # as lesson 09 says
SENT: dict[str, dict[str, int]] = {}  # the bytes of each file that was asked for, by the address of the site
DRAWING = re.compile(r"(fonttools|pytz|pyparsing|python_dateutil|tzdata|cycler)-")  # what matplotlib alone needs
NO_SIGN = """() => [...document.querySelectorAll('article *')].filter(one => {
    const { overflowX, maskImage, backgroundImage } = getComputedStyle(one);
    return /auto|scroll/.test(overflowX) && one.scrollWidth > one.clientWidth + 4 && one.checkVisibility() &&
        `${maskImage} ${backgroundImage}` === 'none none'; }).map(one => one.outerHTML.slice(0, 200))"""
PAGES = "index notebooks/03_plan_as_data reference/planexec_lab.grade exercises/teachers/README GLOSSARY search".split()
EXERCISES = ROOT / "exercises/01_toy_planner.ipynb"
MORE = [*APPENDIX, *sorted((ROOT / "exercises").glob("*.ipynb"))]
# Unsolved exercises, whose outputs contain little but "Not started".
ALIKE = re.compile("exercises/(?!01)[0-9]+_")
TABS = [  # half of them in a second group, because one process would end long after all the others
    pytest.param(
        path,
        id=name_of(path),
        marks=[pytest.mark.xdist_group("more notebooks of the site")] * (number % 2)
        + [pytest.mark.weekly] * bool(ALIKE.match(name_of(path))),
    )
    for number, path in enumerate([*LESSONS, *MORE])
]
WITHOUT_END = """
def run(goal, planner, executor):
    while True:
        pass

check("01.2")
"""
ABSENT = """
from concurrent.futures import ThreadPoolExecutor
from mock_llm import MockLLM
from planexec_lite import Plan, Pool, Toolbox, ToolExecutor, execute, tool

@tool(effects="none")
async def fetch() -> str:
    return "here"

def serve():
    with MockLLM([]).serve():
        pass

fetched = execute(Plan.parse([{"id": 1, "tool": "fetch", "params": {}}]), ToolExecutor(Toolbox([fetch])))
print(fetched.reason)
for attempt in (lambda: Pool(ThreadPoolExecutor(2)), serve):
    try:
        attempt()
    except RuntimeError as problem:
        print(problem)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` builds it: once for all processes of the run, which only read it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, lock = shared / "site", FileLock(str(shared / "site.lock"))
    while not lock.take():
        time.sleep(0.5)
    try:
        if not folder.exists():
            build_site(own / "site").rename(folder)
    finally:
        lock.release()
    return folder


def build_site(folder: Path) -> Path:
    build = [sys.executable, ROOT / ".ci" / "site" / "build.py", folder]
    output: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    built = subprocess.run([*build, "--repo=octo/kit"], timeout=1500, **output)
    if re.search(r"\b(npm|pip) .*install .*failed\.|No such file.*'npm'", built.stdout):
        pytest.skip(f"the site can't be built without a network and npm: {built.stdout.splitlines()[-1]}")
    assert built.returncode == 0, built.stdout[-3000:]
    return folder


@pytest.fixture(scope="module")
def address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, with the test's stand-ins laid over it."""
    scratch = tmp_path_factory.mktemp("stand-ins")
    laid_over = {f"jupyter/{path}": content for path, content in tab.overlay(site / "jupyter", scratch).items()}
    with tab.served(site, laid_over) as (here, sizes):
        SENT[here] = sizes
        yield here


@pytest.fixture(scope="module")
def cut_off(playwright: Playwright) -> Iterator[Browser]:
    """A browser for which no host but this machine has a name."""
    assert CHROMIUM, "there is no Chromium here"
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, tab.CUT])
    yield browser
    browser.close()


@pytest.fixture
def visitor(cut_off: Browser) -> Iterator[Page]:
    """A fresh visitor, whose requests all stay on this machine. An old one would also start the notebooks of before again."""
    context = cut_off.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.on("dialog", lambda dialog: dialog.accept())  # a notebook that is not saved asks before it is left
    yield page
    context.close()
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:", "about:"))] == []


def said(cell: Any) -> list[tuple[str, str]]:
    """What a cell put out, its figures too, but for those that matplotlib draws and for what a person leaves on a desk.

    A desk shows what was decided and edited, so its title alone is compared; and the reviewer decides here, not a script.
    """
    found: list[tuple[str, str]] = []
    streams: dict[str, int] = {}  # where in `found` each one stands
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            name, text = output["name"], "".join(output["text"])
            if name in streams:  # the stored form has what a cell prints in one piece
                found[streams[name]] = (name, found[streams[name]][1] + text)
            else:
                streams[name] = len(found)
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
    found = [(form, MARK.sub(r"\1", text).replace(*WITHOUT_THREADS)) for form, text in found]
    return [(form, re.sub(r"\bscript\b", "reviewer", text)) for form, text in found]


@pytest.mark.parametrize("path", TABS)
def test_a_lesson_says_in_a_tab_what_is_stored(address: str, visitor: Page, path: Path) -> None:
    tab.opened(visitor, address, name_of(path))
    tab.run_all(visitor)
    flows.shoot(visitor, f"site-{path.stem}")
    stored = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    shown = [cell for cell in tab.cells(visitor) if cell["cell_type"] == "code"]
    assert [said(cell) for cell in shown] == [said(cell) for cell in stored]


def test_a_first_output_needs_no_more_megabytes_than_said(address: str, visitor: Page) -> None:
    """As tests/README.md says; numpy, matplotlib and what they need come on top."""
    SENT[address].clear()
    tab.opened(visitor, address, name_of(LESSONS[0]))
    ready = sum(SENT[address].values())
    tab.command(visitor, "notebook:clear-all-cell-outputs")
    tab.start(visitor, "notebook:run-all-cells")
    visitor.wait_for_function(tab.PUT_OUT)
    files = {path: size for path, size in SENT[address].items() if not DRAWING.search(path)}
    assert ready < 13e6
    assert sum(files.values()) < 19e6, sorted((size, path) for path, size in files.items())[-20:]


def test_what_a_tab_has_not_is_named(address: str, visitor: Page) -> None:
    tab.opened(visitor, address, name_of(LESSONS[0]))
    heard = tab.told(visitor, ABSENT)
    assert "async tools need a thread, and a browser tab has none; use a plain def" in heard
    assert "a browser tab has no threads; use Inline or Simulated" in heard
    assert "a browser tab has no sockets; use client() or async_client()" in heard


def test_the_work_outlives_the_tab(address: str, visitor: Page, cut_off: Browser, tmp_path: Path) -> None:
    """Not started, without end, right; kept over a reload, exported, and imported by another browser."""
    tab.opened(visitor, address, name_of(EXERCISES))
    assert "Not started" in tab.told(visitor, 'from exercises import check, compare, progress\ncheck("01.1")')
    assert "s of CPU time" in tab.told(visitor, WITHOUT_END)
    assert "✓ Right" in tab.told(visitor, 'whole, single = 1, 5\ncheck("01.1")')
    assert "Near" in tab.told(visitor, 'compare("01.1", 3, 4)')
    tab.told(visitor, 'with open("mini.py", "w") as file:\n    file.write("MINE = 53")')
    visitor.locator(".jp-CodeCell .cm-content").first.click()
    visitor.keyboard.press("Control+End")
    visitor.keyboard.type("\n# typed just before")

    tab.opened(visitor, address, name_of(EXERCISES))
    visitor.get_by_text("# typed just before").wait_for()
    again = tab.told(visitor, "import mini\nfrom exercises import progress\nprint(mini.MINE)\nprogress()")
    assert again.startswith("53\n")
    assert re.search(r"01\.1 .* right", again)
    assert "1 guesses: 0 right, 1 near" in tab.told(visitor, "progress()")

    visitor.goto(f"{address}/index.html")
    with visitor.expect_download() as download:
        visitor.get_by_role("button", name="Export my work").click()
    download.value.save_as(tmp_path / "work.zip")
    with zipfile.ZipFile(tmp_path / "work.zip") as work:
        files = {file["path"]: work.read(file["path"]) for file in json.loads(work.read("manifest.json"))["files"]}
    assert {name_of(EXERCISES), "exercises/progress.json", "exercises/mini.py"} <= files.keys()
    nbformat.validate(nbformat.reads(files[name_of(EXERCISES)].decode(), as_version=4))
    assert files["exercises/mini.py"] == b"MINE = 53"
    visitor.get_by_text("You have solved 1 of").wait_for()

    context = cut_off.new_context()
    other = context.new_page()
    other.set_default_timeout(300_000)
    other.goto(f"{address}/index.html")
    other.get_by_role("button", name="Export my work").click()
    other.get_by_text("Nothing is kept in this browser yet.").wait_for()
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    other.locator("#import").set_input_files(tmp_path / "other.json")
    other.get_by_text("nothing was changed").wait_for()
    other.locator("#import").set_input_files(tmp_path / "work.zip")
    other.get_by_text(f"{len(files)} files imported").wait_for()
    tab.opened(other, address, name_of(EXERCISES))
    assert tab.told(other, "import mini\nprint(mini.MINE)") == "53\n"
    context.close()


@pytest.mark.parametrize(("app", "width", "theme"), [("lab", 1280, "dark"), ("notebooks", 390, "light")])
def test_a_lesson_follows_the_theme_and_leads_back(
    address: str, visitor: Page, app: str, width: int, theme: Literal["dark", "light"]
) -> None:
    visitor.set_viewport_size({"width": width, "height": 800})
    visitor.emulate_media(color_scheme=theme)
    visitor.goto(f"{address}/jupyter/lab/index.html?path={name_of(LESSONS[0])}")
    visitor.wait_for_selector(".jp-Notebook .jp-Cell")
    assert f"/{app}/" in visitor.url
    light = str(theme == "light").lower()
    visitor.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}'")
    flows.shoot(visitor, f"site-lesson-{width}")
    visitor.get_by_role("link", name="All lessons").click()
    visitor.wait_for_url("**/index.html")
    assert visitor.get_by_role("link", name="Start the tour").count() == 1


def test_the_tab_shows_how_far_it_has_loaded_and_what_is_blocked(address: str, visitor: Page) -> None:
    visitor.add_init_script("indexedDB.open = () => { throw new Error('blocked') }")
    visitor.goto(f"{address}/jupyter/lab/index.html?path={name_of(EXERCISES)}")
    visitor.wait_for_function("() => document.querySelector('#loading progress')?.value > 0")
    visitor.get_by_text("This browser blocks storage for this site").wait_for()
    visitor.locator("#loading").wait_for(state="hidden")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_at_any_width_in_both_themes(address: str, visitor: Page, name: str) -> None:
    for width, theme in ((390, "dark"), (390, "light"), (1280, "dark"), (1280, "light")):
        visitor.set_viewport_size({"width": width, "height": 1000})
        visitor.emulate_media(color_scheme=theme)
        visitor.goto(f"{address}/{name}.html")
        flows.shoot(visitor, f"site-{name.replace('/', '-')}-{width}-{theme}")
        assert visitor.evaluate("() => document.documentElement.scrollWidth") == width
        assert visitor.evaluate(NO_SIGN) == []
        assert width < 800 or flows.faults(visitor, "html") == []


def test_the_search_finds_a_name_and_a_lesson(address: str, visitor: Page) -> None:
    visitor.goto(f"{address}/search.html?q=idempotency")
    visitor.locator("#search-results a", has_text="Failure and rollback").first.wait_for()


def test_every_link_and_file_of_a_page_is_there(site: Path) -> None:
    """Sphinx checks the links of texts; those of templates and figures, and everything that a page loads, are checked here."""
    pages = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    pages = {name: text for name, text in pages.items() if not name.startswith(("jupyter/", "404"))}
    anchors = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in pages.items()}
    broken, checked = [], 0
    for name, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', re.sub(r'src="data:[^"]*"', "", text)):
            if link.startswith(("https://", "mailto:")):
                continue
            target, _, part = unquote(unescape(link)).partition("#")
            file, _, query = target.partition("?")
            at = posixpath.normpath(posixpath.join(posixpath.dirname(name), file)) if file else name
            opened = f"jupyter/files/{query.removeprefix('path=')}" if query.startswith("path=") else at
            there = (site / opened).is_file() and (
                not part or at not in anchors or part in anchors[at] or "svg" in part
            )
            broken += [] if there else [(name, link)]
            checked += 1
    assert broken == []
    assert checked > 5000


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    loads = r'(?:src="|url\(|<link[^>]*rel="(?:stylesheet|preload|icon)"[^>]*href=")https?://'
    pages = [path for path in site.rglob("*.html") if "jupyter" not in path.relative_to(site).parts]
    assert [path.name for path in pages if re.search(loads, path.read_text(encoding="utf-8"))] == []


def test_a_tab_loads_only_matplotlib_from_another_host(site: Path) -> None:
    """No registry has the compiled packages that it needs for Pyodide; all else that the kit imports is on the site."""
    packages = json.loads((site / "jupyter" / tab.LOCK).read_text(encoding="utf-8"))["packages"]
    needed, waiting = set[str](), [*tab.tool("wheels").KIT, *tab.tool("wheels").KERNEL]
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            waiting += packages[name]["depends"]
    assert {name for name in needed if "://" in packages[name]["file_name"]} == tab.tool("wheels").FROM_PYODIDE


def test_names_lead_to_the_reference_and_back(site: Path) -> None:
    lesson, plans = (site / "notebooks/03_plan_as_data.html", site / "reference/planexec_lite.html")
    assert 'href="../reference/planexec_lite.html#planexec_lite.Plan"' in lesson.read_text(encoding="utf-8")
    assert "../notebooks/03_plan_as_data.html#a-plan-as-json" in plans.read_text(encoding="utf-8")
    assert "reference/planexec_lite.html#planexec_lite.Policy" in (site / "GLOSSARY.html").read_text(encoding="utf-8")
    texts = "".join(path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html"))
    for module in (planexec_lite, planexec_lab, views, mock_llm):
        names = [name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)]
        assert [name for name in names if not re.search(rf'id="[\w.]+\.{name}"', texts)] == []


def test_a_lesson_has_its_figures_folds_its_answers_and_can_be_run_and_edited(site: Path) -> None:
    for path in LESSONS:
        stored, text = json.loads(path.read_text(encoding="utf-8")), (site / name_of(path)).with_suffix(".html")
        text = text.read_text(encoding="utf-8")
        assert text.count("<figure") == path.read_text(encoding="utf-8").count('"<figure')
        hidden = [cell for cell in stored["cells"] if cell["metadata"].get("jupyter", {}).get("outputs_hidden")]
        assert text.count('<details class="admonition hide') == len(hidden)
        assert f"jupyter/lab/index.html?path={name_of(path)}" in text
        assert f"https://github.com/octo/kit/edit/main/{name_of(path)}" in text


def test_the_published_site_names_itself(site: Path) -> None:
    front, lost = ((site / name).read_text(encoding="utf-8") for name in ("index.html", "404.html"))
    assert "<loc>https://octo.github.io/kit/notebooks/00_tour.html</loc>" in (site / "sitemap.xml").read_text(
        encoding="utf-8"
    )
    assert '<meta property="og:image" content="https://octo.github.io/kit/_static/social.png"' in front
    assert (site / "_static/social.png").read_bytes().startswith(b"\x89PNG")
    assert 'href="/kit/_static/site.css' in lost
    assert 'href="_static/favicon.svg"' in front
