"""The planner's instructions: a text with three fields, filled in one pass; a missing field is named."""

from __future__ import annotations

import re

import pytest

from planexec_lab.worlds.arithmetic import TOOLS
from planexec_lite import LLMPlanner, Tool, Toolbox
from planexec_lite.roles.planners import FIELDS, INSTRUCTIONS


@pytest.mark.parametrize("field", FIELDS)
def test_a_planner_names_the_missing_field_of_its_instructions(field: str) -> None:
    words = f"the field {{{field}}} is missing; write each of {{tools}}, {{step}}, {{span}} at least once"
    with pytest.raises(ValueError, match=re.escape(words)):
        LLMPlanner(None, "m", instructions=INSTRUCTIONS.replace(f"{{{field}}}", ""))


def test_other_instructions_are_sent_with_the_same_values() -> None:
    mine = "{span}\n{tools}\n{step}\n{goal} {tools!r} {a: 1}"
    sent = LLMPlanner(None, "m", instructions=mine, max_steps=3).instructions(TOOLS)
    assert sent.startswith("Write the whole plan, at most 3 steps")
    assert TOOLS.describe() in sent
    assert "write {step_1_result} and list" in sent
    assert sent.endswith("\n{goal} {tools!r} {a: 1}")


def test_a_value_is_never_expanded_again() -> None:
    tool = Tool(lambda: None, name="odd", description="writes {span} and {tools}")
    sent = LLMPlanner(None, "m", instructions="{tools}\n{step}\n{span}").instructions(Toolbox([tool]))
    assert sent.startswith("- odd(): writes {span} and {tools}\n")


def test_the_kit_s_own_instructions_are_the_default() -> None:
    whole = LLMPlanner(None, "m").instructions(TOOLS)
    assert whole == LLMPlanner(None, "m", instructions=INSTRUCTIONS).instructions(TOOLS)
