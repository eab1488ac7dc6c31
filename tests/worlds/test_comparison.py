"""When planning wins: the verdicts of lesson A3, which prints them all, don't depend on the pace, and every word is counted."""

import pytest

from planexec_lab.scoreboard import tried
from planexec_lab.scoreboard.advice_cases import client_of
from planexec_lab.scoreboard.assumptions import PACES, Pace
from planexec_lab.worlds import flights


@pytest.mark.slow
@pytest.mark.weekly
@pytest.mark.xdist_group("comparison")  # the cases are carried out once
@pytest.mark.parametrize("factor", [0.5, 2])
def test_at_another_pace_no_verdict_turns_round(monkeypatch, factor):
    before = {row.case.name: row.case.verdict for row in tried()}
    for model, pace in PACES.items():
        monkeypatch.setitem(PACES, model, Pace(pace.first, pace.token * factor))
    for row in tried():
        assert {row.case.verdict, before[row.case.name]} != {"planning", "the other side"}


def test_everything_that_is_sent_is_read_the_schema_too(monkeypatch):
    monkeypatch.setenv("PLANEXEC_LLM", "http://127.0.0.1:9/v1")  # both sides have one mind, and no endpoint is asked
    messages = [{"role": "system", "content": "Role: executor"}, {"role": "user", "content": "Task: book"}]
    schema = {"type": "object", "properties": {"question": {"type": "string", "description": "x" * 4000}},
              "required": ["question"]}  # fmt: skip
    tools = [{"type": "function", "function": {"name": "ask_traveller", "parameters": schema}}]
    client = client_of(flights.BookingMind())
    answer = client.chat.completions.create(model="gpt-4o", messages=messages, tools=tools)
    assert answer.usage.prompt_tokens > 1000
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
