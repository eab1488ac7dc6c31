"""What a person does at the review desk, the live board and the player, whichever notebook they stand in."""

import ast
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.lab import DONE, PROMPTS
from tests.guards.books import ROOT

SHOTS = ROOT / "build" / "screenshots"
AXE = "axe-core@4.10.3"
DECISIONS = ("Approve", "Reject", "Ask for changes")
IS_OPEN = """(desk.closest('.jp-Cell').querySelector('.jp-InputPrompt').innerText.includes('*')
    && desk.querySelector('button.pxl-main').checkVisibility())"""
OPEN = f"[...document.querySelectorAll('.pxl-desk')].some(desk => {IS_OPEN})"
FOCUSED = """() => { const at = document.activeElement; if (!at.closest('.pxl-desk')) return '';
    return at.labels?.length ? at.labels[0].innerText : at.innerText }"""
RULES = (Path(__file__).parent / "rules.js").read_text(encoding="utf-8")


def desk(page: Page) -> Locator:
    """The desk that was shown last, when its decision can be made."""
    found = page.locator(".pxl-desk").last
    button(found, "Approve").wait_for()
    return found


def button(where: Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


def fill(where: Locator, label: str, text: str) -> None:
    """Type into a field, and leave it."""
    field = where.get_by_label(label, exact=True)
    field.fill(text)
    field.blur()


def wait_dark(where: Locator, name: str, dark: bool = True) -> None:
    """Wait until a button can't be pressed, or can."""
    state = ":disabled" if dark else ":enabled"
    where.locator(f"button{state}", has_text=re.compile(f"^{name}$")).wait_for()


def waits(page: Page) -> bool:
    """Whether a cell is running."""
    return "[*]:" in page.evaluate(PROMPTS)


def play(page: Page, where: Locator, gestures: Sequence[str | tuple[str, str]]) -> None:
    """Do by hand what a script does: a name presses a button, ``("3: tag", "v2")`` fills in a field of step 3."""
    for gesture in gestures:
        name, text = (gesture, None) if isinstance(gesture, str) else gesture
        step, colon, label = name.rpartition(": ")
        verb = re.fullmatch(r"(?:Move|Remove|Add below) (\S+)(?: up| down)?", name)
        closed = f"Edit {verb[1] if verb else step}"
        if verb or colon:
            edit, close = button(where, closed), button(where, closed.replace("Edit", "Close"))
            edit.or_(close).wait_for()
            edit.click() if edit.count() else None
            close.wait_for()
        if text is not None:
            fill(where, label, text)
            continue
        wait_dark(where, name, dark=False)
        button(where, name).click()
        if name in DECISIONS:
            button(where, "Approve").wait_for(state="hidden")
        if name.startswith("Add"):  # a new step opens its form and takes the focus there
            page.wait_for_function(f"() => ({FOCUSED})() === 'description'")


def script_of(source: str) -> list[str | tuple[str, str]]:
    """The script that a cell gives to its review, where it stands there word for word; else one that approves."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "script":
            with suppress(ValueError):
                found: list[str | tuple[str, str]] = ast.literal_eval(node.value)
                return found
    return ["Approve"]


def waiting(page: Page, after: Locator | None = None) -> Locator:
    """The desk for whose decision a cell waits, when it is there; `after` is the one before it, which must be closed."""
    if after is not None:
        button(after, "Approve").wait_for(state="hidden")
    page.wait_for_function(f"() => {OPEN}")
    number = page.evaluate(f"() => [...document.querySelectorAll('.pxl-desk')].findIndex(desk => {IS_OPEN})")
    return page.locator(".pxl-desk").nth(number)


def wait_for_a_person(page: Page, seconds: float = 180) -> None:
    """Wait until every cell has run; where one waits for a decision, play its script by hand."""
    for _ in range(20):
        page.wait_for_function(f"() => ({DONE})() || {OPEN}", timeout=seconds * 1000)
        if page.evaluate(DONE):
            return
        shown = waiting(page)
        cell = shown.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' jp-Cell ')]")
        lines = cell.locator(".cm-line").all_inner_texts()
        play(page, shown, script_of("\n".join(lines)))
    raise AssertionError("the cells ask and ask")


def shoot(page: Page, name: str) -> None:
    """Keep a picture of the page among the build's output."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def tab_through(page: Page, most: int = 200) -> list[str]:
    """Press Tab until the focus leaves the desk; the names of what had it."""
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        if not (name := page.evaluate(FOCUSED)):
            return seen
        seen.append(name)
    raise AssertionError(f"the focus never leaves the desk: {seen}")


def broken_rules(page: Page, where: str) -> list[str]:
    """Rules that every part of a page should keep, checked by hand: names, their difference, contrast."""
    said: list[str] = page.evaluate(RULES, where)
    return said


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


def serious_faults(page: Page, source: str, where: str) -> list[str]:
    """What axe-core finds serious or critical in a part of the page."""
    page.evaluate(source)
    found: dict[str, Any] = page.evaluate("where => axe.run(where)", where)
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
