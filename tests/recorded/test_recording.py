"""A recording is written, goes on where it was cut off, and is heard again through the genuine client."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lab.recorded import RULES, RecordedAnswer, load, replay, without
from planexec_lab.recorded.transcript import Head, Variant
from planexec_lab.recorded.whole_runs import digest
from planexec_lab.worlds import arithmetic
from planexec_lite import Board, LLMPlanner, PlanError
from tests.recorded.recording import Listening, record

HEAD = Head("a model", "0" * 64, {"a-model": "1.0"}, "2026-11-24", 0.7, 160, 2048, 1)
PLAN = json.dumps({"goal": "12 + 5", "steps": [{"id": "1", "tool": "add", "params": {"a": 12, "b": 5}}]})
ASKED = Variant("whole", "arithmetic", "What is 12 + 5?", None, True, 2, "a prompt")


def model(*texts: str) -> MockLLM:
    """A model that gives these answers, one a call, and the last of them for ever."""
    turns = [({"counter": "calls", "turn": turn}, text) for turn, text in enumerate(texts, 1)] + [({}, texts[-1])]
    return MockLLM(
        [
            {"name": f"{n}", "when": when, "reply": {"text": text, "broken": True}}
            for n, (when, text) in enumerate(turns)
        ]
    )


def test_the_genuine_client_hears_the_answers_again_in_order() -> None:
    cut = RecordedAnswer('{"goal": "{{step_1_result}}', "length", 340, 50, 100, "a digest")
    scripted = replay([cut, replace(cut, text=PLAN, finish_reason="stop")])
    planner = LLMPlanner(scripted.client())
    with pytest.raises(PlanError, match="cut off") as caught:
        planner.plan(ASKED.goal, Board(), arithmetic.TOOLS)
    assert caught.value.text == cut.text
    assert planner.plan(ASKED.goal, Board(), arithmetic.TOOLS).steps[0].tool == "add"
    assert [call.output_tokens for call in scripted.calls] == [50, 50]


@pytest.mark.parametrize("schema", [True, False])
def test_a_model_is_asked_at_a_temperature_with_a_seed_for_each_answer(schema: bool) -> None:
    scripted = model("prose", PLAN)
    asked = Listening(scripted.client(), 0.7, 300, schema)
    planner = LLMPlanner(asked, max_tokens=160)
    with pytest.raises(PlanError):
        planner.plan(ASKED.goal, Board(), arithmetic.TOOLS)
    planner.plan(ASKED.goal, Board(), arithmetic.TOOLS)
    sent = [call.request for call in scripted.calls]
    settings = [(body["temperature"], body["seed"], body["max_tokens"]) for body in sent]
    assert settings == [(0.7, 300, 160), (0.7, 301, 160)]
    assert all(("response_format" in body) == schema for body in sent)
    assert [one.text for one in asked.answers] == ["prose", PLAN]


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_can_be_left_out_and_nothing_else_changes(rule: str) -> None:
    whole = LLMPlanner(None).instructions(arithmetic.TOOLS)
    lines, left = whole.splitlines(), without(whole, rule).splitlines()
    gone = [line for line in lines if line not in left]
    assert gone[0].startswith(f"- {RULES[rule]}")
    assert [line for line in lines if line not in gone] == left
    assert all(line.startswith("  ") for line in gone[1:])
    with pytest.raises(ValueError, match="stands 0 times in the instructions"):
        without("Rules:\n- Be brief.", rule)


def test_a_recording_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    file, scripted = tmp_path / "answers.jsonl", model("prose", "more prose", PLAN)
    record(scripted.client(), file, HEAD, [ASKED], each=2)
    assert len(scripted.calls) == 4
    file.write_text(file.read_text("utf-8")[:-40], "utf-8")
    record(scripted.client(), file, HEAD, [ASKED], each=3)
    assert len(scripted.calls) == 6
    read = load(file)
    assert [(one.number, len(one.answers)) for one in read.of("whole")] == [(1, 3), (2, 1), (3, 1)]
    assert load(f"{file}.gz") == read
    with pytest.raises(KeyError, match="there is no variant 'hole'; there are: whole"):
        read.of("hole")
    assert gzip.decompress(Path(f"{file}.gz").read_bytes()) == file.read_bytes()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "has no head"),
        ('{"song": {}}\n', "line 1 can't be read .KeyError: 'song'"),
        ("prose\n", "line 1 can't be read"),
        ('{"head": 5}\n', "line 1 can't be read"),
    ],
)
def test_a_file_that_is_no_transcript_is_an_error(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=fault):
        load(file)


def test_ids_that_a_server_gives_to_calls_change_no_digest() -> None:
    def conversation(id: str) -> list[dict[str, Any]]:
        call = {"id": id, "type": "function", "function": {"name": "add", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": "5"},
        ]

    assert digest(conversation("x7Yq")) == digest(conversation("call 1.0"))
    assert digest(conversation("a")) != digest(conversation("a")[:1])
