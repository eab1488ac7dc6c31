"""A run that continues with changed tools: the error names each change, and the run stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planexec_lite import (
    Decision,
    Journal,
    Plan,
    PlannerExecutor,
    RulePlanner,
    Run,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from tests.core.shapes import step


def send(name: str) -> str:
    """Send it."""
    return name


def send_to(name: str, address: str) -> str:
    """Send it somewhere."""
    return f"{name} to {address}"


def send_on(name: str, copy: str = "boss") -> str:
    """Send it."""
    return name


def look(name: str) -> str:
    """Look at it."""
    return name


def tools(**effects: Any) -> Toolbox:
    return Toolbox([Tool(send, **effects), Tool(look, effects="none")])


PLAN: Any = {
    "goal": "send it",
    "steps": [step("1", "look", name="a"), step("2", "send", "1", name="{step_1_result}", gate=True)],
}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Run 1 waits before step 2, which sends."""
    journal = Journal(tmp_path / "runs.db")
    execute(Plan.parse(PLAN), ToolExecutor(tools(effects="once")), journal=journal)
    return journal


def resumed(journal: Journal, toolbox: Toolbox) -> Run:
    agent = PlannerExecutor(None, ToolExecutor(toolbox))
    return agent.resume(journal.load(1), Decision("approve", by="Ada"))


CHANGED = {
    "gone": (Toolbox([Tool(look, effects="none")]), "step 2: .*send"),
    "other parameters": (
        Toolbox([Tool(send_to, name="send", effects="once"), Tool(look, effects="none")]),
        "step 2: .*address",
    ),
    "other effects": (tools(effects="none"), "step 2: send is not the tool that the plan was made with"),
    "another default": (
        Toolbox([Tool(send_on, name="send", effects="once"), Tool(look, effects="none")]),
        "step 2: send is not the tool that the plan was made with",
    ),
    "it destroys now": (
        tools(effects="once", destructive=True),
        "step 2: send is not the tool that the plan was made with",
    ),
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


@pytest.mark.parametrize("how", ["resume", "tell", "roll_back"])
def test_whoever_goes_on_with_a_run_needs_the_tools_that_it_began_with(how: str) -> None:
    def site(price: int) -> Toolbox:
        take = Tool(lambda: price, name="take", effects="idempotent")
        schema = {"type": "object", "properties": {"price": {"type": "integer", "default": price}}}
        return Toolbox([take, Tool.from_schema(lambda **given: given, schema, name="give", effects="idempotent")])

    steps = [step("1", "take") | {"undo": {"tool": "give"}}, step("2", "give", "1", gate=True)]
    agent = PlannerExecutor(RulePlanner(lambda goal: steps), ToolExecutor(site(1)))
    run = agent.run("take it")
    assert run.status == "paused"
    other = PlannerExecutor(agent.planner, ToolExecutor(site(2)))
    go_on = {
        "resume": lambda: other.resume(run, Decision("approve", by="Ada")),
        "tell": lambda: other.tell(run, "hurry"),
        "roll_back": lambda: other.roll_back(run),
    }
    with pytest.raises(ValueError, match=r"give.* is not the tool that the plan was made with"):
        go_on[how]()
    assert agent.resume(run, Decision("approve", by="Ada")).status == "finished"


def test_where_a_planner_may_choose_a_new_or_another_tool_is_refused() -> None:
    here, there, peek = Tool(look, effects="none"), Tool(send, effects="none"), Tool(look, name="peek", effects="none")
    plans = RulePlanner(lambda goal: {"steps": [step("1", "look", name="a", gate=True)], "complete": False})
    run = PlannerExecutor(plans, ToolExecutor(Toolbox([here, there]))).run("look")
    cases = {
        "wipe is new, and has effects": [there, Tool(send, name="wipe", effects="once")],
        "send is not the tool that the run began with": [Tool(send, effects="once")],
    }
    for words, others in cases.items():
        with pytest.raises(ValueError, match=words):
            PlannerExecutor(plans, ToolExecutor(Toolbox([here, *others]))).resume(run, Decision("approve", by="Ada"))
    harmless = PlannerExecutor(None, ToolExecutor(Toolbox([here, there, peek])))
    assert harmless.resume(run, Decision("reject", by="Ada")).status == "stopped"
