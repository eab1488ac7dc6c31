"""A run that continues with changed tools: the error names each change, and the run stays as it was."""

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

YES = Decision("approve", by="Ada")


def send(name: str) -> str:
    """Send it."""
    return name


def send_to(name: str, address: str) -> str:
    """Send it somewhere."""
    return f"{name} to {address}"


def send_on(name: str, copy: str = "boss") -> str:
    """Send it."""
    return name


LOOK = Tool(send, name="look", effects="none")


def tools(function: Any = send, effects: Any = "once", **more: Any) -> Toolbox:
    return Toolbox([Tool(function, name="send", effects=effects, **more), LOOK])


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Run 1 waits before step 2, which sends."""
    journal = Journal(tmp_path / "runs.db")
    steps = [step("1", "look", name="a"), step("2", "send", "1", name="{step_1_result}", gate=True)]
    execute(Plan.parse(steps), ToolExecutor(tools()), journal=journal)
    return journal


def resumed(journal: Journal, toolbox: Toolbox) -> Run:
    return PlannerExecutor(None, ToolExecutor(toolbox)).resume(journal.load(1), YES)


CHANGED = {
    "gone": (Toolbox([LOOK]), ".*send"),
    "other parameters": (tools(send_to), ".*address"),
    "other effects": (tools(effects="none"), 'the effects of send were "once", and are "none"'),
    "another default": (tools(send_on), "send is not the tool that the plan was made with"),
    "it destroys now": (tools(destructive=True), "send is not the tool that the plan was made with"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_has_changed_is_named_and_the_run_stays_as_it_is(name: str, journal: Journal) -> None:
    toolbox, words = CHANGED[name]
    before = journal.load(1).events
    with pytest.raises(ValueError, match=f"the tools have changed since this run began: step 2: {words}"):
        resumed(journal, toolbox)
    assert journal.load(1).events == before
    without_look = Toolbox([Tool(send, effects="once")])  # no step needs it any more
    assert resumed(journal, without_look).results == {"1": "a", "2": "a"}


@pytest.mark.parametrize("how", ["resume", "tell", "roll_back"])
def test_whoever_goes_on_with_a_run_needs_the_tools_that_it_began_with(how: str) -> None:
    def site(price: int) -> Toolbox:
        take = Tool(lambda: price, name="take", effects="idempotent")
        schema = {"type": "object", "properties": {"price": {"type": "integer", "default": price}}}
        return Toolbox([take, Tool.from_schema(lambda **given: given, schema, name="give", effects="idempotent")])

    steps = [step("1", "take", undo={"tool": "give"}), step("2", "give", "1", gate=True)]
    agent, other = (PlannerExecutor(RulePlanner(lambda goal: steps), ToolExecutor(site(price))) for price in (1, 2))
    run = agent.run("take it")
    arguments: dict[str, Any] = {"resume": [YES], "tell": ["hurry"], "roll_back": []}
    with pytest.raises(ValueError, match=r"give.* is not the tool that the plan was made with"):
        getattr(other, how)(run, *arguments[how])
    assert agent.resume(run, YES).status == "finished"


def test_where_a_planner_may_choose_a_new_or_another_tool_is_refused() -> None:
    plans = RulePlanner(lambda goal: {"steps": [step("1", "look", name="a", gate=True)], "complete": False})
    there = Tool(send, effects="none")
    run = PlannerExecutor(plans, ToolExecutor(Toolbox([LOOK, there]))).run("look")
    cases = {
        "wipe is new, and has effects": [there, Tool(send, name="wipe", effects="once")],
        "send is not the tool that the run began with": [Tool(send, effects="once")],
    }
    for words, others in cases.items():
        with pytest.raises(ValueError, match=words):
            PlannerExecutor(plans, ToolExecutor(Toolbox([LOOK, *others]))).resume(run, YES)
    harmless = PlannerExecutor(None, ToolExecutor(Toolbox([LOOK, there, Tool(send, name="peek", effects="none")])))
    assert harmless.resume(run, Decision("reject", by="Ada")).status == "stopped"
