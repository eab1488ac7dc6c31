"""When planning wins: every row of the sources is there, and every verdict follows from events and worlds alone."""

from functools import cache

import pytest

from planexec_lab import comparison as c
from planexec_lab.comparison import trials
from planexec_lab.scoreboard.assumptions import PACES, Pace
from planexec_lab.worlds import flights

pytestmark = pytest.mark.xdist_group("comparison")  # the cases are carried out once


@cache
def carried_out(compare):
    return compare()


def rows(*chosen):
    return tuple(c.Row(one, carried_out(one.case)) for one in c.ADVICE if not chosen or one.case in chosen)


@pytest.mark.slow
def test_where_the_other_side_wins_planning_loses_or_ties():
    for compare in (
        trials.booking,
        trials.bisection,
        trials.exploration,
        trials.trivial,
        trials.unreliable,
    ):
        case = carried_out(compare)
        assert case.planning.succeeded
        assert case.other.succeeded
        assert case.verdict != "planning"
        assert case.better["dollars"] == "the other side"


@pytest.mark.slow
@pytest.mark.weekly
@pytest.mark.parametrize("factor", [0.5, 2])
def test_at_another_pace_no_verdict_turns_round(monkeypatch, factor):
    before = {row.case.name: row.case.verdict for row in rows()}
    for model, pace in PACES.items():
        monkeypatch.setitem(PACES, model, Pace(pace.first, pace.token * factor))
    for row in c.cases():
        assert {row.case.verdict, before[row.case.name]} != {"planning", "the other side"}


def test_everything_that_is_sent_is_read_the_schema_too():
    world = flights.World()
    client = c.client_of(flights.BookingMind())
    messages = [{"role": "system", "content": "Role: executor"}, {"role": "user", "content": "Task: book"}]
    schema = {"type": "object", "properties": {"question": {"type": "string", "description": "x" * 4000}},
              "required": ["question"]}  # fmt: skip
    tools = [{"type": "function", "function": {"name": "ask_traveller", "parameters": schema}}]
    answer = client.chat.completions.create(model="gpt-4o", messages=messages, tools=tools)
    assert answer.usage.prompt_tokens > 1000
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert world.talk == []


def test_success_is_read_from_the_world_and_both_sides_have_one_mind(monkeypatch):
    case = carried_out(trials.order)
    assert [run.status for side in (case.planning, case.other) for run in side.runs] == ["finished", "finished"]
    assert (case.planning.succeeded, case.other.succeeded, case.by) == (True, False, "success")
    monkeypatch.setenv("PLANEXEC_LLM", "http://127.0.0.1:9/v1")
    assert "127.0.0.1:9" not in str(c.client_of(flights.BookingMind()).base_url)
