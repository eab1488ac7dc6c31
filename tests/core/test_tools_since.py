"""A run that goes on with other tools than it began with: what has changed is named, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planexec_lite import Decision, Journal, Plan, PlannerExecutor, Run, Tool, Toolbox, ToolExecutor, execute
from tests.core.shapes import step


def send(name: str) -> str:
    """Send it."""
    return name


def send_to(name: str, address: str) -> str:
    """Send it somewhere."""
    return f"{name} to {address}"


def look(name: str) -> str:
    """Look at it."""
    return name


def tools(**effects: Any) -> Toolbox:
    return Toolbox([Tool(send, **effects), Tool(look)])


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Run 1 waits before step 2, which sends."""
    journal = Journal(tmp_path / "runs.db")
    steps = [step("1", "look", name="a"), step("2", "send", "1", name="{step_1_result}", gate=True)]
    execute(Plan.parse(steps), ToolExecutor(tools(effects="once")), journal=journal)
    return journal


def resumed(journal: Journal, toolbox: Toolbox) -> Run:
    return PlannerExecutor(None, ToolExecutor(toolbox)).resume(journal.load(1), Decision("approve", by="Ada"))


CHANGED = {
    "gone": (Toolbox([Tool(look)]), "step 2: .*send"),
    "other parameters": (Toolbox([Tool(send_to, name="send", effects="once"), Tool(look)]), "step 2: .*address"),
    "other effects": (tools(), 'step 2: the effects of send were "once", and are "none"'),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_has_changed_is_named_and_the_run_stays_as_it_is(name: str, journal: Journal) -> None:
    toolbox, words = CHANGED[name]
    before = journal.load(1).events
    with pytest.raises(ValueError, match=f"the tools have changed since this run began: {words}"):
        resumed(journal, toolbox)
    assert journal.load(1).events == before
    assert resumed(journal, tools(effects="once")).results == {"1": "a", "2": "a"}


def test_a_tool_that_no_step_needs_any_more_may_be_gone(journal: Journal) -> None:
    assert resumed(journal, Toolbox([Tool(send, effects="once")])).status == "finished"
