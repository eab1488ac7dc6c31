"""Texts with fields: filled in one pass, and a bad field is named."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.worlds.arithmetic import TOOLS
from planexec_lite import LLMPlanner
from planexec_lite.roles.planners import INSTRUCTIONS
from planexec_lite.template import check, fields, fill

PIECES = st.sampled_from(
    ["{", "}", "{{", "}}", "a", "b", "{a}", "{{a}}", "{b}", "{a.__class__}", "{0}", "{a!r}", "\n", "é"]
)
TEXTS = st.lists(PIECES).map("".join)
FILLED = TEXTS.filter(lambda text: set(fields(text)) <= {"a", "b"})  # pieces may join to a field such as {ab}


@given(text=FILLED, a=st.text() | TEXTS, b=st.text() | TEXTS)
def test_a_value_is_never_expanded_again(text: str, a: str, b: str) -> None:
    marked = fill(text, {"a": "\0", "b": "\1"})
    assert fill(text, {"a": a, "b": b}) == "".join({"\0": a, "\1": b}.get(sign, sign) for sign in marked)


@given(text=FILLED)
def test_what_is_no_field_stays_as_it_is(text: str) -> None:
    halved = re.sub(r"\{(\{[abé]+\})\}", r"\1", text)
    assert fill(text, {"a": "{a}", "b": "{b}"}) == halved


def test_fields_come_once_each_and_in_order() -> None:
    assert fields('{b} {a} {b} {{c}} {"d": 1} { e } {f.g} {0} {}') == ("b", "a")


def test_a_text_can_not_reach_into_a_value() -> None:
    text = "{a.__class__} {a[0]} {a!r} {a:>10} {a}"
    assert fill(text, {"a": "x"}) == "{a.__class__} {a[0]} {a!r} {a:>10} x"


def test_json_in_a_text_stays_json() -> None:
    assert fill('{tools} {"steps": [{"id": "1", "params": {"a": {}}}]}', {"tools": "t"}) == (
        't {"steps": [{"id": "1", "params": {"a": {}}}]}'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (INSTRUCTIONS.replace("{span}", ""), "the field {span} is missing; its fields are {tools}, {step}, {span}"),
        (INSTRUCTIONS.replace("{tools}", "{tols}"), r"instructions, line 6: there is no field {tols}"),
        (INSTRUCTIONS + "\n{goal}", "for the literal text, double the braces: {{goal}}"),
        ("", "the field {tools} is missing"),
        (7, "instructions: a text is wanted, not a int"),
    ],
)
def test_a_planner_names_the_bad_field_of_its_instructions(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        LLMPlanner(None, "m", instructions=text)


def test_other_instructions_are_sent_with_the_same_values() -> None:
    mine = "{span}\n{tools}\n{step}\n{{span}}"
    sent = LLMPlanner(None, "m", instructions=mine, max_steps=3).instructions(TOOLS)
    assert sent.startswith("Write the whole plan, at most 3 steps")
    assert TOOLS.describe() in sent
    assert "write {step_1_result} and list" in sent
    assert sent.endswith("\n{span}")


def test_the_kit_s_own_instructions_are_the_default() -> None:
    whole = LLMPlanner(None, "m").instructions(TOOLS)
    assert whole == LLMPlanner(None, "m", instructions=INSTRUCTIONS).instructions(TOOLS)
    assert fields(INSTRUCTIONS) == ("tools", "step", "span")


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ValueError, match=r"there is no field \{b\}; its fields are \{a\}"):
        fill("{a} {b}", {"a": "x"})
    assert check("x", (), "it") == "x"
