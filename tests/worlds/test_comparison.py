"""When planning wins: every row of the sources is there, and every verdict follows from events and worlds alone."""

from functools import cache

import pytest

from planexec_lab import comparison as c
from planexec_lab.comparison import trials
from planexec_lab.scoreboard.assumptions import PACES, Pace
from planexec_lab.worlds import flights
from planexec_lite import events as e
from planexec_lite.model.prices import PRICES

CASES = tuple(dict.fromkeys(one.case for one in c.ADVICE))
pytestmark = pytest.mark.xdist_group("comparison")  # the cases are carried out once
by_case = pytest.mark.parametrize("compare", CASES, ids=lambda compare: compare.__name__)


@cache
def carried_out(compare):
    return compare()


def rows(*chosen):
    return tuple(c.Row(one, carried_out(one.case)) for one in c.ADVICE if not chosen or one.case in chosen)


def counted(side):
    """Calls, seconds and dollars of a side, added up from its events in this test's own way."""
    calls = [call for run in side.runs for event in run.events if not isinstance(event, e.Inside)
             for call in getattr(event, "calls", ())]  # fmt: skip
    seconds = sum(max(event.at for event in run.events) for run in side.runs)
    dollars = sum(
        (call.input_tokens * PRICES[call.model].read + call.output_tokens * PRICES[call.model].written) / 1e6
        for call in calls
    )
    return len(calls), seconds, dollars


def thoughts(run):
    return [event for event in run.events if isinstance(event, e.Inside) and isinstance(event.event, e.Thought)]


def began(side):
    """When the first step with a tool started, or the first action of an agent."""
    run = side.runs[0]
    actions = [event.at for event in run.events if isinstance(event, e.Inside) and isinstance(event.event, e.Action)]
    return min(actions or [event.at for event in run.events if isinstance(event, e.StepStarted)])


def done_before_all_were_seen(side):
    places = [place for place, event in enumerate(side.runs[0].events) if isinstance(event, e.Reviewed)]
    return len([event for event in side.runs[0].events[: places[-1]] if isinstance(event, e.StepDone)])


def asked_after_failure(side):
    """How often an agent thought after its first error, or a planner was asked after the first failed step."""
    events = side.runs[0].events
    bad = [place for place, event in enumerate(events) if isinstance(event, e.StepFailed)
           or (isinstance(event, e.Inside) and getattr(event.event, "error", False))]  # fmt: skip
    after = events[bad[0] :]
    return sum(isinstance(event, e.PlanStarted) or event in thoughts(side.runs[0]) for event in after)


OWN = {
    "times a person is asked": lambda side: sum(isinstance(event, e.Reviewed) for event in side.runs[0].events),
    "steps done before all were seen": done_before_all_were_seen,
    "seconds until the first call": began,
    "model calls after the failure": asked_after_failure,
    "calls without a reason": lambda side: sum(
        not step.description for step in side.runs[0].plan.steps if step.tool or not thoughts(side.runs[0])
    ),
}


def judged(case):
    one, other = case.planning, case.other
    if one.succeeded != other.succeeded:
        return "planning" if one.succeeded else "the other side"
    own = OWN.get(case.measure)
    pairs = [(own(one), own(other))] if own else [*zip(counted(one), counted(other), strict=True)]
    points = sum((a < b) - (b < a) for a, b in pairs if abs(a - b) > 0.1 * max(a, b))
    return "planning" if points > 0 else "the other side" if points < 0 else "tie"


@pytest.mark.slow
@by_case
def test_the_numbers_and_the_verdict_follow_from_the_events(compare):
    case = carried_out(compare)
    for side in (case.planning, case.other):
        assert (side.calls, pytest.approx(side.seconds), pytest.approx(side.dollars)) == counted(side)
    assert case.verdict == judged(case)
    assert [side.own for side in (case.planning, case.other) if case.measure] == [
        OWN[case.measure](side) for side in (case.planning, case.other) if case.measure
    ]
    assert bool(case.measure) == (case.planning.own is not None) == (case.other.own is not None)


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


def test_both_sides_have_the_same_mind_whatever_the_environment_names(monkeypatch):
    monkeypatch.setenv("PLANEXEC_LLM", "http://127.0.0.1:9/v1")
    assert "127.0.0.1:9" not in str(c.client_of(flights.BookingMind()).base_url)


def test_success_is_what_the_world_shows_and_not_what_the_run_says():
    case = carried_out(trials.order)
    assert [run.status for side in (case.planning, case.other) for run in side.runs] == ["finished", "finished"]
    assert (case.planning.succeeded, case.other.succeeded, case.by) == (True, False, "success")
