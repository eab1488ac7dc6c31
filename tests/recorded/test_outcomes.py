"""Recorders, and outcomes of recorded answers counted by hand; a scripted family with known errors is counted as it was written."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lab import recorded
from planexec_lab.recorded import RULES, RecordedAnswer, Sample, Share, load, replay, without
from planexec_lab.recorded.outcomes import judge, judge_first_step, repairs_needed
from planexec_lab.recorded.transcript import Head, Variant
from planexec_lab.recorded.whole_runs import digest
from planexec_lab.worlds import arithmetic
from planexec_lite import Board, LLMPlanner, PlanError
from tests.recorded.recording import Listening, record
from tests.recorded.scripted_family import asked

ASKED = Variant("whole", "arithmetic", "What is 12 + 5?", None, True, 2, "a prompt")
STEP = {"id": "1", "tool": "add", "params": {"a": 12, "b": 5}, "depends_on": []}


def said(value: Any, finish_reason: str = "stop") -> RecordedAnswer:
    text = value if isinstance(value, str) else json.dumps(value)
    return RecordedAnswer(text, finish_reason, 340, 50, 100, "a digest")


GOOD = said({"steps": [STEP]})
LOST = said({"steps": [{**STEP, "depends_on": ["1", "2", "3"]}]})
ENDLESS = said(f'{json.dumps({"steps": [STEP]})[:-4]}["1", "1', "length")
CUT = said(json.dumps({"steps": [STEP, STEP]})[:-30], "length")


@pytest.mark.parametrize(
    ("answer", "outcome", "first"),
    [
        (GOOD, "valid", "right"),
        (LOST, "invalid", "waits in vain"),
        (CUT, "cut off", "right"),
        (said("12 + 5 is 17."), "not JSON", "no call"),
        (said({"answer": 17}), "no plan", "no call"),
        (ENDLESS, "cut off", "never ends"),
        (said('{"steps": [{"tool": "add", "params": {"a": 12, "b": 5', "length"), "cut off", "no call"),
        (said({"steps": [{**STEP, "tool": "multiply"}]}), "valid", "another call"),
        (said({"steps": [{**STEP, "tool": "plus"}]}), "invalid", "another call"),
    ],
)
def test_an_answer_is_judged_whole_and_by_its_first_step(answer: RecordedAnswer, outcome: str, first: str) -> None:
    assert judge(answer, arithmetic.TOOLS) == outcome
    assert judge_first_step(answer, ASKED) == first


def test_repairs_are_counted_and_digests_ignore_call_ids() -> None:
    assert repairs_needed(Sample("whole", 1, (LOST, CUT, GOOD)), arithmetic.TOOLS) == 2
    assert repairs_needed(Sample("whole", 1, (GOOD,)), arithmetic.TOOLS) == 0
    assert repairs_needed(Sample("whole", 1, (LOST, LOST, LOST)), arithmetic.TOOLS) is None

    def conversation(id: str) -> list[dict[str, Any]]:
        call = {"id": id, "type": "function", "function": {"name": "add", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": "5"},
        ]

    assert digest(conversation("x7Yq")) == digest(conversation("call 1.0"))
    assert digest(conversation("a")) != digest(conversation("a")[:1])


def test_the_intervals_are_those_of_the_published_examples() -> None:
    # Newcombe (1998), table II: 56/70 less 48/80, and 9/10 less 3/10, by his method 10.
    assert Share(56, 70).minus(Share(48, 80))[1:] == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert Share(9, 10).minus(Share(3, 10))[1:] == pytest.approx((0.1705, 0.8090), abs=5e-5)
    # Wilson's interval for 81 of 263, in Newcombe's paper on single proportions of the same year.
    assert Share(81, 263).interval[1:] == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert Share(0, 30).interval == pytest.approx((0.0, 0.0, 0.1135), abs=5e-5)
    assert Share(30, 30).interval == pytest.approx((1.0, 0.8865, 1.0), abs=5e-5)
    assert not Share(0, 30).minus(Share(0, 30)).tells
    with pytest.raises(ValueError, match="share of nothing"):
        assert Share(0, 0).interval


@pytest.mark.slow
@pytest.mark.parametrize("names", [["without references"], pytest.param(None, marks=pytest.mark.weekly)])
def test_the_file_is_what_the_scripted_model_says(names: list[str] | None) -> None:
    said, family = asked(names), recorded.family()
    for name in names or family.variants:
        assert said.of(name) == family.of(name)


HEAD = Head("a model", "0" * 64, {"a-model": "1.0"}, "2026-11-24", 0.7, 160, 2048, 1)
PLAN = json.dumps({"goal": "12 + 5", "steps": [{"id": "1", "tool": "add", "params": {"a": 12, "b": 5}}]})


def model(*texts: str) -> MockLLM:
    """A model that gives these answers, one per call, and repeats the last one."""
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
    with pytest.raises(ValueError, match="occurs 0 times in the instructions"):
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
