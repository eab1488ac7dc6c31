"""A person's actions at the review desk, the live board and the player, in any notebook."""

import ast
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, TimeoutError

from tests.browser.lab import COMPLAINTS, DONE, Lab, run_all
from tests.guards.books import ROOT

SHOTS = ROOT / "build" / "screenshots"
AXE = "axe-core@4.10.3"
THEMES = ("Dark", pytest.param("Light", marks=pytest.mark.wide))  # the light one is easier on colours
# For tests that hardly depend on colours.
mostly_dark = pytest.mark.parametrize(
    "themed", ["Dark", pytest.param("Light", marks=pytest.mark.weekly)], indirect=True
)
DECISIONS = ("Approve", "Reject", "Ask for changes", "It was done", "It was not done", "Roll back")
MAIN = "button.pxl-main"  # the first of the decisions: it is there as long as none was made
STOPPED = f"""(document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle' &&
    [...document.querySelectorAll(`{COMPLAINTS}`)].some(one => one.innerText.includes('waits for you')))"""
FOCUSED = """() => { const at = document.activeElement; if (!at.closest('.pxl-desk')) return '';
    return at.labels?.length ? at.labels[0].innerText : at.innerText }"""
RULES = (Path(__file__).parent / "rules.js").read_text(encoding="utf-8")


def opened(lab: Lab, page: Page, name: str, *cells: str) -> None:
    lab.open(page, lab.book(f"{name}.ipynb", *cells))
    run_all(page)


def desk(page: Page) -> Locator:
    """The desk that was shown last, when its decision can be made."""
    shown = page.locator(".pxl-desk").last
    shown.locator(MAIN).first.wait_for()
    return shown


def button(where: Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


def write(where: Locator, label: str, text: str) -> None:
    """Type into a field as a person does: select and delete its text, then press one key after the other."""
    field = where.get_by_label(label, exact=True)
    field.press("ControlOrMeta+a")
    field.press("Delete")
    field.press_sequentially(text, delay=20)
    field.blur()


def wait_dark(where: Locator, name: str, dark: bool = True) -> None:
    """Wait until a button can't be pressed, or can."""
    state = ":disabled" if dark else ":enabled"
    where.locator(f"button{state}", has_text=re.compile(f"^{name}$")).wait_for()


def add_step(page: Page, where: Locator) -> None:
    """Open the form of a new step, and wait until the focus is in it: keys pressed earlier would go elsewhere."""
    button(where, "Add a step").click()
    page.wait_for_function(f"() => ({FOCUSED})() === 'description'")


def approve(where: Locator) -> None:
    """Press Approve; where the desk asks once more, because something can't be undone, say yes.

    A key that arrives behind the press takes the question back, and a person presses Approve again.
    """
    ask, sure = button(where, "Approve"), button(where, "Yes, approve")
    ask.click()
    try:
        ask.wait_for(state="hidden", timeout=20_000)
    except TimeoutError:  # the question came and was taken back between two looks
        ask.click()
        ask.wait_for(state="hidden")
    if not where.get_by_label("Comment", exact=True).is_visible():  # it goes before the buttons where the desk closes
        return
    try:
        sure.click(timeout=20_000)
    except TimeoutError:
        ask.click()
        sure.click()
    sure.wait_for(state="hidden")


def play(page: Page, where: Locator, gestures: Sequence[str | tuple[str, str]]) -> None:
    """Do by hand what a script does: a name presses a button, ``("3: tag", "v2")`` fills in a field of step 3."""
    for gesture in gestures:
        name, text = (gesture, None) if isinstance(gesture, str) else gesture
        step, colon, label = name.rpartition(": ")
        removed = re.fullmatch(r"Remove (\S+)", name)
        closed = f"Edit {removed[1] if removed else step}"
        if removed or colon:
            edit, close = button(where, closed), button(where, closed.replace("Edit", "Close"))
            edit.or_(close).wait_for()
            edit.click() if edit.count() else None
            close.wait_for()
        if text is not None:
            write(where, label, text)
            continue
        wait_dark(where, name, dark=False)
        if name == "Approve":
            approve(where)
            continue
        if name == "Add a step":
            add_step(page, where)
            continue
        button(where, name).click()
        if name in DECISIONS:
            where.locator(MAIN).first.wait_for(state="hidden")


def script_of(source: str) -> list[str | tuple[str, str]]:
    """The script that a cell gives to its desk, if it is a literal; else a script that approves."""
    for node in ast.walk(ast.parse(source)):
        given = isinstance(node, ast.keyword) and node.arg == "script"
        named = isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == ["script"]
        if given or named:
            with suppress(ValueError):
                outputs: list[str | tuple[str, str]] = ast.literal_eval(node.value)  # type: ignore[attr-defined]
                return outputs
    return ["Approve"]


def stopped(page: Page) -> Locator:
    """The cell at which Run All has stopped, because there is no decision yet."""
    page.wait_for_function(f"() => {STOPPED}")
    cells = page.locator(".jp-CodeCell").all()
    return next(cell for cell in cells if cell.locator(COMPLAINTS, has_text="waits for you").count())


def go_on(page: Page, cell: Locator) -> None:
    """Run a cell and all below it, from the menu, when the decision on the desk has selected the cell that waits for it."""
    cell.and_(page.locator(".jp-mod-active")).wait_for()
    if cell.locator("xpath=following::*[contains(@class, 'jp-CodeCell')]").count():
        page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        page.get_by_role("menuitem", name="Run Selected Cell and All Below", exact=True).click()
    else:
        page.keyboard.press("ControlOrMeta+Enter")
    cell.locator(COMPLAINTS).first.wait_for(state="detached")


def cell_of(shown: Locator) -> Locator:
    return shown.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' jp-Cell ')]")


def wait_for_a_person(page: Page, seconds: float = 180) -> None:
    """Wait until every cell has run; where a desk asks, play its script by hand, and go on where Run All has stopped."""
    for _ in range(60):
        page.wait_for_function(f"() => ({DONE})() || {STOPPED}", timeout=seconds * 1000)
        if not page.evaluate(f"() => {STOPPED}"):
            return
        asked, shown = stopped(page), desk(page)
        lines = cell_of(shown).locator(".cm-line").all_inner_texts()
        play(page, shown, script_of("\n".join(lines)))
        go_on(page, asked)
    raise AssertionError("the cells ask and ask")


def shoot(page: Page, name: str) -> None:
    """Keep a picture of the page among the build's output."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def broken_rules(page: Page, where: str) -> list[str]:
    """Rules that every part of a page should keep, checked by hand: names, their difference, contrast."""
    broken: list[str] = page.evaluate(RULES, where)
    return broken


@cache
def axe() -> str | None:
    """The source of axe-core, fetched with npm into the build's output; None where it can't be had."""
    folder = ROOT / "build" / "axe"
    if not (kept := list(folder.glob("*.tgz"))) and (npm := shutil.which("npm")):
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", AXE, "--silent", f"--pack-destination={folder}"]
        with suppress(subprocess.TimeoutExpired):  # without a network, npm tries for minutes
            subprocess.run(command, cwd=folder, capture_output=True, timeout=30, check=False)
        kept = list(folder.glob("*.tgz"))
    if not kept:
        return None
    with tarfile.open(kept[0]) as packed:
        member = packed.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def faults(page: Page, where: str) -> list[str]:
    """axe-core's violations in a part of the page, if axe-core is available."""
    if (source := axe()) is None:
        return []
    page.evaluate(source)
    report: dict[str, Any] = page.evaluate("where => axe.run(where)", where)
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for fault in report["violations"]
        for node in fault["nodes"]
    ]
