"""Three learners at once on a real JupyterHub: each logs in, gets a copy of the kit, runs the tour, presses Approve."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from playwright.sync_api import Browser, Page

from tests.browser import conftest
from tests.browser.flows import approve, desk, go_on, shoot, stopped
from tests.browser.lab import COMPLAINTS, in_a_browser, run_all, wait_until_done, wait_until_ready
from tests.browser.test_site import DESK, said
from tests.browser.two_cells import book
from tests.guards.books import LESSONS
from tests.hub import hub
from tests.hub.hub import Hub, Places

pytestmark = [*in_a_browser, pytest.mark.hub]
playwright, chromium = conftest.playwright, conftest.chromium  # the fixtures of the browser tests
LEARNERS = ("ada", "grace", "edsger")
TOUR = LESSONS[0]
PASSWORD = "any"  # the hub of this test asks for none
ANSWERS = {"ada": ("1, 5", "right"), "grace": ("2, 2", "wrong"), "edsger": ("1, 5", "right")}
NOTE = "a note of mine"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    began = time.monotonic()
    places = hub.set_up(tmp_path_factory.mktemp("hub"))
    print(f"the environment took {time.monotonic() - began:.0f} s")
    return places


@pytest.fixture(scope="module")
def running(places: Places) -> Iterator[Hub]:
    with hub.opened(places, *LEARNERS, hub.APART) as running:
        yield running


@pytest.fixture(scope="module")
def pages(chromium: Browser) -> dict[str, Page]:
    """A page for each learner, in separate sessions of the browser."""
    pages = {learner: chromium.new_page(viewport={"width": 1280, "height": 1000}) for learner in (*LEARNERS, hub.APART)}
    for page in pages.values():
        page.set_default_timeout(240_000)
    return pages


def log_in(page: Page, address: str, learner: str) -> None:
    """Follow an address to the hub's login, log in there, and wait for nothing."""
    page.goto(address)
    page.locator("#username_input").fill(learner)
    page.locator("#password_input").fill(PASSWORD)
    page.locator("#login_submit").click(no_wait_after=True)


def wait_for_book(page: Page, path: str) -> None:
    page.wait_for_url(f"**/lab/tree/{path}**", wait_until="domcontentloaded")
    wait_until_ready(page)


def code_cells(path: Path) -> list[Any]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def contents(cell: Any) -> list[Any]:
    return [one.get("data", one.get("text")) for one in cell.outputs]


def saved(page: Page, path: Path) -> list[Any]:
    before = path.stat().st_mtime_ns
    page.keyboard.press("ControlOrMeta+s")
    for _ in range(300):
        if path.stat().st_mtime_ns > before:
            break
        page.wait_for_timeout(100)
    return code_cells(path)


def kept_files(folder: Path) -> dict[str, str]:
    """The digest of each file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def tell(name: str, process: psutil.Process) -> None:
    """Print the memory of a process (RSS), and its share of it where pages are shared (PSS, on Linux)."""
    memory = process.memory_full_info()
    print(f"{name:24} RSS {memory.rss / 1e6:4.0f} MB, PSS {getattr(memory, 'pss', 0) / 1e6:4.0f} MB")


def test_three_learners_run_the_tour_at_once(running: Hub, pages: dict[str, Page]) -> None:
    shared = kept_files(running.places.shared)
    three = {learner: pages[learner] for learner in LEARNERS}
    began = time.monotonic()
    for learner, page in three.items():
        log_in(page, running.link(), learner)
    for page in three.values():
        wait_for_book(page, f"{hub.NAME}/notebooks/{TOUR.name}")
    there = time.monotonic()
    for learner in LEARNERS:
        tell(f"{learner}'s server, at first", running.servers()[learner])
        tell(f"{learner}'s kernel, at first", *running.kernels(learner))
    for page in three.values():
        run_all(page)
    asked = {learner: stopped(page) for learner, page in three.items()}  # all three wait for their reviewers
    for page in three.values():
        approve(desk(page))
    for learner, page in three.items():
        go_on(page, asked[learner])
    for page in three.values():
        wait_until_done(page)
    ended = time.monotonic()
    stored = code_cells(TOUR)
    for learner, page in three.items():
        assert page.locator(COMPLAINTS).all_inner_texts() == []
        shoot(page, f"hub-{learner}")
        cells = saved(page, running.copy_of(learner) / "notebooks" / TOUR.name)
        assert [said(cell) for cell in cells] == [said(cell) for cell in stored]
        bytes_alike = [contents(cell) == contents(was) for cell, was in zip(cells, stored, strict=True)]
        print(f"{learner}: {len(cells)} cells say what is stored, {sum(bytes_alike)} of them byte by byte")
        different = [cell for cell, alike in zip(cells, bytes_alike, strict=True) if not alike]
        assert all(DESK.search(str(cell.outputs)) for cell in different)
    print(f"{there - began:.1f} s from the login to three open tours, {ended - there:.1f} s for the three runs")
    tell("hub", running.process)
    for one in running.process.children():
        if "configurable-http-proxy" in " ".join(one.cmdline()):
            tell("proxy", one)
    for learner in LEARNERS:
        tell(f"{learner}'s server", running.servers()[learner])
        tell(f"{learner}'s kernel", *running.kernels(learner))
    assert kept_files(running.places.shared) == shared  # so learners need not write there


def test_each_learner_s_progress_is_kept_in_their_home(running: Hub, pages: dict[str, Page]) -> None:
    for learner in LEARNERS:
        given, verdict = ANSWERS[learner]
        own = running.copy_of(learner) / "exercises" / "own.ipynb"
        book(own, f'from exercises import check\n\nwhole, single = {given}\ncheck("01.1")')
        page = pages[learner]
        page.goto(f"{running.url}/user/{learner}/lab/tree/{hub.NAME}/exercises/own.ipynb?reset")
        wait_for_book(page, f"{hub.NAME}/exercises/own.ipynb")
        run_all(page)
        page.locator(".jp-OutputArea-output", has_text=f"01.1 · {verdict.capitalize()}").wait_for()
        kept = running.places.homes / learner / "planexec-progress.json"
        assert json.loads(kept.read_text(encoding="utf-8"))["01.1"] == verdict
        assert not (running.copy_of(learner) / "exercises" / "progress.json").exists()


def test_the_link_brings_what_is_new_and_keeps_what_a_learner_wrote(running: Hub, pages: dict[str, Page]) -> None:
    learner = LEARNERS[0]
    own, page = running.copy_of(learner), pages[learner]
    tour = own / "notebooks" / TOUR.name
    changed = nbformat.read(tour, as_version=4)
    changed.cells[0].source = NOTE
    nbformat.write(changed, tour)
    upstream = hub.repository(running.places)
    theirs = nbformat.read(upstream / "notebooks" / TOUR.name, as_version=4)
    theirs.cells[0].source = "# What the teacher changed"
    nbformat.write(theirs, upstream / "notebooks" / TOUR.name)
    (upstream / "NEWS.md").write_text("New this week.\n", encoding="utf-8")
    hub.commit(upstream, "news")
    page.goto(running.link())
    wait_for_book(page, f"{hub.NAME}/notebooks/{TOUR.name}")
    assert (own / "NEWS.md").read_text(encoding="utf-8") == "New this week.\n"
    assert nbformat.read(tour, as_version=4).cells[0].source == NOTE
    assert (own / "exercises" / "own.ipynb").exists()


def test_the_buttons_of_a_desk_are_the_server_s(running: Hub, pages: dict[str, Page]) -> None:
    """A server without the kit: where it has no `jupyterlab_widgets` a desk is a picture, with it one decides there."""
    install, page = hub.set_up_server(running.places), pages[hub.APART]
    log_in(page, running.link(), hub.APART)
    wait_for_book(page, f"{hub.NAME}/notebooks/{TOUR.name}")
    (kernel,) = running.kernels(hub.APART)
    assert Path(kernel.cmdline()[0]).parent == running.places.environment / "bin"
    run_all(page)
    stopped(page)
    assert page.locator(".pxl-desk").count() == 0
    page.get_by_text("The state when this cell was run.").first.wait_for()
    shoot(page, "hub-no-widgets")

    hub.run(*install, cwd=running.places.shared)
    page.goto(f"{running.url}/user/{hub.APART}/lab/tree/{hub.NAME}/notebooks/{TOUR.name}?reset")
    wait_for_book(page, f"{hub.NAME}/notebooks/{TOUR.name}")
    run_all(page)
    cell = stopped(page)
    approve(desk(page))
    go_on(page, cell)
    wait_until_done(page)
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    cells = saved(page, running.copy_of(hub.APART) / "notebooks" / TOUR.name)
    assert [said(cell) for cell in cells] == [said(cell) for cell in code_cells(TOUR)]
    tell("server without the kit", running.servers()[hub.APART])
