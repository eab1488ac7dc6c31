"""The scripted coding agent knows only what is in its window, and its catalogue has a tool for each request."""

import json
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import recorded
from planexec_lab.worlds.refactor import World, catalogue, coder
from planexec_lite import Toolbox, tool
from planexec_lite.model.schemas import function_schema


def worked(goal: str, tools: Toolbox, most: int = 5) -> tuple[str | None, list[dict[str, Any]]]:
    """The answer and the window of a plain loop around the model."""
    client = coder.Coder(most=most).script().client()
    window: list[dict[str, Any]] = [{"role": "system", "content": coder.SYSTEM}, {"role": "user", "content": goal}]
    for _ in range(40):
        schemas: Any = [function_schema(one) for one in tools]
        messages: Any = window
        reply = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=schemas)
        message: Any = reply.choices[0].message
        window.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or ():
            text = coder.observe(tools, call.function.name, json.loads(call.function.arguments))
            window.append({"role": "tool", "content": text, "tool_call_id": call.id})
        if not message.tool_calls:
            return message.content, window
    return None, window


@tool(effects="idempotent")
def write_todos(todos: list[str]) -> str:
    """Replace the todo list.

    Args:
        todos: all of its lines
    """
    return "ok"


@pytest.mark.parametrize(
    ("goal", "kept"), [(coder.THOROUGH, True), (coder.THOROUGH.replace(coder.CONSTRAINT, ""), False)]
)
def test_a_constraint_counts_only_while_it_is_in_the_window(goal: str, kept: bool) -> None:
    world = World()
    answer, _ = worked(goal, world.tools)
    assert answer == "Done."
    assert world.run_test_suite()["summary"] == "11 tests passed", "no test of the shop checks the constraint"
    assert ("SESSIONS[session] = name\n" in world.read_file(coder.AUTH)) is kept


def test_a_call_that_a_summary_names_as_done_is_not_made_again() -> None:
    world = World()
    _, window = worked(coder.GOAL, world.tools)
    calls = [call["function"] for message in window for call in message.get("tool_calls") or ()]
    done = [f"done: {call['name']} {call['arguments']}" for call in calls if call["name"] == "replace_in_file"]
    answer, after = worked("\n".join([coder.GOAL, *done]), world.tools)
    assert answer == "Done."
    assert [call["function"]["name"] for message in after for call in message.get("tool_calls") or ()] == [
        "run_test_suite"
    ]


@pytest.mark.parametrize(("most", "tests"), [(5, 10), (6, 11)])
def test_a_list_of_five_lines_loses_the_last_item_and_a_longer_one_does_not(most: int, tests: int) -> None:
    world = World()
    answer, _ = worked(coder.GOAL, Toolbox([*world.tools, write_todos]), most)
    assert answer == f"Done: {most} of {most} items are completed."
    assert world.run_test_suite()["passed"] == tests


def test_with_tools_that_only_read_it_answers_with_a_plan_and_changes_nothing() -> None:
    world = World()
    answer, _ = worked(coder.GOAL, Toolbox([one for one in world.tools if one.effects == "none"]))
    assert answer is not None
    assert answer.splitlines()[:2] == ["Plan:", "1. give auth.py a clock"]
    assert World().read_file(coder.AUTH) == world.read_file(coder.AUTH)


def test_each_request_means_a_tool_of_the_catalogue() -> None:
    names = [one.name for one in catalogue.tools()]
    assert len(set(names)) == 200
    requests = catalogue.REQUESTS | catalogue.OTHER_WORDS
    assert set(requests.values()) <= set(names)
    recording = json.loads((Path(recorded.__file__).parent / "tool_choices.json").read_text(encoding="utf-8"))
    assert recording["requests"].keys() == requests.keys()
    for row in recording["requests"].values():
        assert row["of 200"] in names
        assert {*row["found"]} <= {*names}
        assert row["of 5 found"] in row["found"][:5]
        assert row["of 3 found"] in row["found"][:3]
