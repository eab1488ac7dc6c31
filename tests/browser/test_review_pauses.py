"""A run whose process was killed, opened from its journal in a notebook: the step in doubt is decided on the desk by a click."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import flows
from tests.browser.flows import button, shoot, write
from tests.browser.lab import Lab, desk_in_a_browser, run_all

pytestmark = [*desk_in_a_browser, pytest.mark.wide]

KILL = """import subprocess, sys
from pathlib import Path
from planexec_lab import views
from planexec_lite import Journal
from tests.browser.paying import agent

folder = {folder!r}
ended = subprocess.run([sys.executable, "-m", "tests.browser.paying", folder], cwd={root!r})
print("killed by signal", -ended.returncode)
one = agent(folder)
run = one.resume(one.journal.load(1))
run.reason"""
SHOW = """desk = views.desk(run, one.executor.tools)
desk"""
READ = """run = one.resume(one.journal.load(1), desk.decision)
print(run.status, run.results["3"], Path(folder, "paid.txt").read_text().split(), Path(folder, "sent.txt").read_text())"""


@pytest.mark.usefixtures("fresh")
def test_a_step_in_doubt_is_decided_by_a_click(lab: Lab, page: Page, tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    lab.open(page, lab.book("doubt.ipynb", KILL.format(folder=str(tmp_path), root=root), SHOW, READ))
    run_all(page)
    asked = flows.stopped(page)
    page.get_by_text("killed by signal 9").wait_for()
    page.get_by_text("waits to be told whether step 2 was done").wait_for()
    shown = page.locator(".pxl-desk").last
    shown.get_by_text("The run was interrupted while step 2 was running. Was it done?").wait_for()
    assert button(shown, "It was done").is_disabled()
    write(shown, "Result", '{"receipt": "R-7"}')
    shown.get_by_text("its result counts as").wait_for()
    shoot(page, "desk-in-doubt")
    assert not [fault for fault in flows.broken_rules(page, ".pxl-desk") if fault]
    button(shown, "It was done").click()
    shown.get_by_text("Said to be done by reviewer: step 2, which is in doubt").wait_for()
    asked.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+Enter")
    page.get_by_text("finished R-7 sent ['80'] R-7").wait_for()
