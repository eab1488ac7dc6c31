"""Answers and conversations are bounded in tokens and characters, and the missing part is marked."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import LLMEvaluator, LLMPlanner, Plan, ReActExecutor, Toolbox, ToolExecutor, execute, tool
from planexec_lite.model.asking import Bounds
from planexec_lite.model.prompt_text import SHORT, fitted, shortened
from planexec_lite.run.events import Action, Judged, Observation, PlanProposed
from tests.core.agents import carry_out
from tests.core.sums import FIRST, GOAL, SECOND, FakeClient, agent
from tests.roles.test_react import call, done, scene
from tests.rounds import rounds

PLAN = {"steps": [FIRST, SECOND]}


def contents(request: dict[str, Any]) -> list[str]:
    return [message["content"] or "" for message in request["messages"]]


@rounds(100)
@given(st.text("abc ", max_size=600), st.integers(80, 300))
def test_a_shortened_text_keeps_both_ends_and_counts_the_missing_part(text: str, most: int) -> None:
    short = shortened(text, most)
    if len(text) <= most:
        assert short == text
        return
    parts = re.fullmatch(r"(.+) … \[([\d,]+) characters left out\] … (.+)", short)
    head, missing, tail = parts.groups()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(missing) + len(tail) == len(text)
    assert len(short) <= most


@rounds(100)
@given(st.lists(st.text("ab", max_size=500), max_size=6), st.integers(600, 2000))
def test_a_shortened_conversation_keeps_the_rules_and_short_messages(texts: list[str], most: int) -> None:
    rules = {"role": "system", "content": "r" * 3000}
    messages = [rules, *({"role": "user", "content": text} for text in texts), {"role": "assistant", "content": None}]
    sent = fitted(messages, most)
    assert sent[0] == rules
    assert sum(len(message["content"] or "") for message in sent[1:]) <= most
    assert [message["role"] for message in sent] == [message["role"] for message in messages]
    if sum(map(len, texts)) <= most:
        assert sent == messages
    fair = most // (len(texts) + 1)
    assert all(
        before == after for before, after in zip(messages, sent, strict=True) if len(before["content"] or "") <= fair
    )


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", ""])
def test_a_bound_is_a_whole_number_from_1(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"planner_max_tokens=.*whole number from 1"):
        LLMPlanner(FakeClient(PLAN), max_tokens=value)
    if value:
        monkeypatch.setenv("PLANEXEC_EXECUTOR_MAX_PROMPT", str(value))
        with pytest.raises(ValueError, match=r"PLANEXEC_EXECUTOR_MAX_PROMPT=.*whole number from 1"):
            ReActExecutor(FakeClient(PLAN), Toolbox([]))


def test_each_role_has_a_limit_that_can_be_set_in_code_and_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = [Bounds.of(role).max_tokens for role in ("planner", "executor", "evaluator")]
    assert defaults == [2048, 1024, 512]
    monkeypatch.setenv("PLANEXEC_PLANNER_MAX_TOKENS", "300")
    assert LLMPlanner(FakeClient(PLAN)).bounds == Bounds(300, 60_000)
    assert LLMPlanner(FakeClient(PLAN), max_tokens=700, max_prompt=9000).bounds == Bounds(700, 9000)


class BadRequest(Exception):
    status_code = 400

    def __init__(self, message: str, param: str | None) -> None:
        super().__init__(message)
        self.param = param


NO_MAX_TOKENS = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."


@pytest.mark.parametrize("param", ["max_tokens", None])
def test_the_other_name_of_the_limit_is_remembered_for_an_endpoint(param: str | None) -> None:
    rejects = BadRequest(NO_MAX_TOKENS, param), BadRequest("'temperature' does not support 0", "temperature")
    client = FakeClient(*rejects, PLAN)
    for model in ("thinks", "thinks", "plain"):
        assert agent(LLMPlanner(client, model, max_tokens=700)).run(GOAL).answer == 53
    limits = [{name: request[name] for name in request if name.startswith("max_")} for request in client.requests]
    old, new = {"max_tokens": 700}, {"max_completion_tokens": 700}
    assert limits == [old, new, new, new, old]
    assert ["temperature" in request for request in client.requests] == [True, True, False, False, True]


def test_an_endless_answer_is_cut_off_and_the_repair_shows_it_shortened() -> None:
    endless = '{"steps": [' + json.dumps(FIRST) * 500
    client = FakeClient({"content": endless, "finish_reason": "length"}, PLAN)
    run = agent(LLMPlanner(client, "m")).run(GOAL)
    assert run.answer == 53
    rejected = next(event for event in run.events if isinstance(event, PlanProposed))
    assert [str(problem).split(" [")[0] for problem in rejected.problems] == [
        "plan: the answer was cut off; it may have 2,048 tokens (max_tokens)"
    ]
    assert rejected.text == endless  # the record keeps every word
    echoed, repair = contents(client.requests[1])[2:]
    assert echoed.startswith('{"steps": [')
    assert "characters left out" in echoed
    assert len(echoed) <= SHORT
    assert "cut off; it may have 2,048 tokens" in repair


@tool(effects="none")
def look(where: str) -> str:
    return "dust " * 40_000


DUST = Toolbox([look])


def test_a_call_in_a_truncated_answer_is_not_made() -> None:
    cut, end = call({"where": "hall"}, finish_reason="length"), {"text": "gave up"}
    value, meter, _ = done(scene("cut", cut, turn=1), scene("end", end, turn=2), tools=DUST)
    assert value == "gave up"
    assert not [event for _, _, event in meter.events if isinstance(event, Action)]


def test_long_observations_are_shortened_in_the_conversation() -> None:
    looks = [scene(f"look {turn}", call({"where": "hall"}), turn=turn) for turn in (1, 2, 3)]
    value, meter, llm = done(*looks, scene("end", {"text": "only dust"}, turn=4), tools=DUST, max_prompt=10_000)
    assert value == "only dust"
    assert all(sum(map(len, contents(call.request)[1:])) <= 10_000 for call in llm.calls)
    seen = contents(llm.calls[-1].request)
    assert [text.count("characters left out") for text in seen if text.startswith("dust")] == [1, 1, 1]
    assert "find the key" in seen[1]
    texts = [event.text for _, _, event in meter.events if isinstance(event, Observation)]
    assert list(map(len, texts)) == [200_000] * 3  # the record is complete


JUDGED = Plan.parse([{"id": 1, "tool": "look", "params": {"where": "hall"}, "success_criteria": "a key is there"}])


def test_the_evaluators_prompt_is_bounded_and_marks_the_missing_part() -> None:
    client = FakeClient({"verdict": "accept", "reason": "dust", "task": None, "rejects": None})
    evaluator = LLMEvaluator(client, "m", max_tokens=99, max_prompt=3000)
    before = carry_out([{"id": n, "description": "earlier " * 20} for n in range(99)], [])
    evaluator.evaluate(JUDGED.steps[0], look("hall"), before.board)
    request = client.requests[0]
    assert request["max_tokens"] == 99
    assert len(contents(request)[1]) <= 3000
    assert "a key is there" in contents(request)[1]
    assert "characters left out" in contents(request)[1]


def test_a_truncated_answer_of_an_evaluator_is_not_a_verdict() -> None:
    client = FakeClient({"content": '{"verdict": "accept", "reason": "' + "because " * 500, "finish_reason": "length"})
    run = execute(JUDGED, ToolExecutor(DUST), evaluator=LLMEvaluator(client, "m"))
    failed = next(event for event in run.events if (isinstance(event, Judged) and event.error is not None))
    assert "the evaluator: the answer was cut off; it may have 512 tokens (max_tokens)" in failed.error
    assert len(failed.error) < 400
