"""A transcript is written, continued, packed and heard again through the genuine client."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from mock_llm import MockLLM
from planexec_lite import Board, LLMPlanner, PlanError
from planexec_lite.recorded import (
    RULES,
    Head,
    PlannerWithout,
    RecordedAnswer,
    Sample,
    Sampling,
    Variant,
    load,
    replay,
    without,
)
from planexec_lite.recorded.recording import main, record, variants
from planexec_lite.recorded.transcript import line_of, pack
from planexec_lite.scenarios import arithmetic

HEAD = Head("a model", "0" * 64, {"a-model": "1.0"}, "2026-11-24", 0.7, 160, 2048, 2)
PLAN = json.dumps({"goal": "12 + 5", "steps": [{"id": "1", "tool": "add", "params": {"a": 12, "b": 5}}]})
ASKED = Variant("whole", "arithmetic", "What is 12 + 5?", None, True, 2, "a prompt")


def model(*texts: str) -> MockLLM:
    """A model that gives these answers, one a call, and the last of them for ever."""
    turns = [
        {"name": f"{turn}", "when": {"counter": "calls", "turn": turn}, "reply": {"text": text, "broken": True}}
        for turn, text in enumerate(texts, 1)
    ]
    return MockLLM([*turns, {"name": "else", "reply": {"text": texts[-1], "broken": True}}])


def said(text: str, finish_reason: str = "stop") -> RecordedAnswer:
    return RecordedAnswer(text, finish_reason, 340, 50, 100, "a digest")


def test_the_genuine_client_hears_the_answers_again_in_order() -> None:
    cut = said('{"goal": "{{step_1_result}}', "length")
    scripted = replay([cut, said(PLAN)])
    planner = LLMPlanner(scripted.client())
    with pytest.raises(PlanError, match="cut off") as caught:
        planner.plan(ASKED.goal, Board(), arithmetic.TOOLS)
    assert caught.value.text == cut.text
    assert planner.plan(ASKED.goal, Board(), arithmetic.TOOLS).steps[0].tool == "add"
    assert [call.output_tokens for call in scripted.calls] == [50, 50]


def test_a_model_is_asked_at_a_temperature_with_a_seed_for_each_answer() -> None:
    scripted = model("prose", PLAN)
    sampling = Sampling(scripted.client(), 0.7, 300)
    planner = LLMPlanner(sampling, max_tokens=160)
    with pytest.raises(PlanError):
        planner.plan(ASKED.goal, Board(), arithmetic.TOOLS)
    planner.plan(ASKED.goal, Board(), arithmetic.TOOLS)
    sent = [call.request for call in scripted.calls]
    assert [(body["temperature"], body["seed"], body["max_tokens"]) for body in sent] == [
        (0.7, 300, 160),
        (0.7, 301, 160),
    ]
    assert all(body["response_format"]["type"] == "json_schema" for body in sent)
    assert [one.text for one in sampling.answers] == ["prose", PLAN]
    assert sampling.answers[0].asked == sampling.answers[1].asked


def test_without_the_schema_no_response_format_is_sent() -> None:
    scripted = model(PLAN)
    LLMPlanner(Sampling(scripted.client(), 0.7, 1, schema=False)).plan(ASKED.goal, Board(), arithmetic.TOOLS)
    assert "response_format" not in scripted.calls[0].request


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_can_be_left_out_and_nothing_else_changes(rule: str) -> None:
    whole = PlannerWithout(None, None).instructions(arithmetic.TOOLS)
    left = PlannerWithout(None, rule).instructions(arithmetic.TOOLS)
    lines = whole.splitlines()
    gone = [line for line in lines if line not in left.splitlines()]
    assert gone[0].startswith(f"- {RULES[rule]}")
    assert [line for line in lines if line not in gone] == left.splitlines()
    assert all(line.startswith("  ") for line in gone[1:])


def test_the_rules_are_all_rules_of_the_prompt_but_the_first() -> None:
    whole = PlannerWithout(None, None).instructions(arithmetic.TOOLS)
    rules = whole.partition("Rules:\n")[2]
    assert sum(line.startswith("- ") for line in rules.splitlines()) == len(RULES) + 1


def test_a_rule_that_the_prompt_does_not_hold_is_an_error() -> None:
    with pytest.raises(ValueError, match="stands 0 times in the instructions"):
        without("Rules:\n- Be brief.", "ids")


def test_a_recording_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    scripted = model(PLAN)
    record(scripted.client(), file, HEAD, [ASKED], each=2)
    assert len(scripted.calls) == 2
    text = file.read_text("utf-8")
    file.write_text(text[:-40], "utf-8")
    record(scripted.client(), file, replace(HEAD, date="2026-11-25"), [ASKED], each=3)
    assert len(scripted.calls) == 4
    read = load(file)
    assert read.head == HEAD
    assert [sample.number for sample in read.of("whole")] == [1, 2, 3]


def test_repairs_can_follow_later_and_ask_nothing_twice(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    scripted = model("prose", "more prose", PLAN)
    client = scripted.client()
    record(client, file, HEAD, [ASKED], each=1, repairs=0)
    assert [one.text for one in load(file).of("whole")[0].answers] == ["prose"]
    record(client, file, HEAD, [ASKED], each=1, repairs=2)
    assert [one.text for one in load(file).of("whole")[0].answers] == ["prose", "more prose", PLAN]
    assert len(scripted.calls) == 3
    record(client, file, HEAD, [ASKED], each=1, repairs=2)
    assert len(scripted.calls) == 3
    first, second, third = load(file).of("whole")[0].answers
    assert (first.seed, second.seed, third.seed) == (100, 101, 102)
    assert first.asked != second.asked


def test_another_model_does_not_write_into_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    record(model(PLAN).client(), file, HEAD, [ASKED], each=1)
    with pytest.raises(ValueError, match="was recorded otherwise"):
        record(model(PLAN).client(), file, replace(HEAD, model="another"), [ASKED], each=2)


def test_a_packed_transcript_says_the_same_in_the_same_bytes(tmp_path: Path) -> None:
    file, one, two = tmp_path / "answers.jsonl", tmp_path / "one.gz", tmp_path / "two.gz"
    samples = [Sample("whole", number, (said(PLAN),)) for number in (2, 1)]
    file.write_text("".join(map(line_of, [HEAD, ASKED, *samples])), "utf-8")
    pack(file, one)
    assert main([str(file), "--pack", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert load(one) == load(file)
    assert [sample.number for sample in load(one).samples] == [1, 2]
    assert gzip.decompress(one.read_bytes()).decode().count("\n") == 4


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "has no head"),
        ('{"song": {}}\n', "line 1 can't be read: it is a 'song'"),
        ("prose\n", "line 1 can't be read"),
    ],
)
def test_a_file_that_is_no_transcript_is_an_error(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=fault):
        load(file)


def test_an_unknown_variant_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(line_of(HEAD) + line_of(ASKED), "utf-8")
    with pytest.raises(KeyError, match="there is no variant 'hole'; there are: whole"):
        load(file).of("hole")


def test_what_is_recorded_has_names_of_its_own() -> None:
    asked = variants()
    assert len({variant.name for variant in asked}) == len(asked)
    assert {variant.left_out for variant in asked} == {None, *RULES}
