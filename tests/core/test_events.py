"""Events, the board and the rules: JSON both ways, one fold, pure decisions, and a replay that decides the same."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    ApproveAll,
    Board,
    Plan,
    PlannerExecutor,
    Policy,
    Run,
    Simulated,
    ToolExecutor,
    events,
    execute,
)
from planexec_lite.events import PlanStarted, StepStarted
from planexec_lite.plan import Call, Step
from planexec_lite.tools import Toolbox
from tests.core.shapes import Job, Workshop, check_fold, check_replay, jobs, json_values, plan_of
from tests.rounds import rounds

plans = jobs(most=4).map(plan_of)
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    float: st.integers(0, 4000).map(lambda quarters: quarters / 4),
    int: st.integers(0, 3),
    Any: json_values,
    Plan: plans,
    Step: plans.map(lambda plan: plan.steps[0]),
    Call: st.builds(Call, tool=st.text(min_size=1), params=st.dictionaries(st.text(), json_values)),
}


def some(kind: Any) -> st.SearchStrategy[Any]:
    """Random values of an event or of a part of one, by its type hints."""
    arguments = get_args(kind)
    if kind in LEAVES:
        return LEAVES[kind]
    if get_origin(kind) is tuple:
        return st.lists(some(arguments[0]), max_size=2).map(tuple)
    if get_origin(kind) is dict:
        return st.dictionaries(*map(some, arguments), max_size=2)
    if get_origin(kind) in (Union, UnionType):
        return st.one_of(*map(some, arguments))
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return st.builds(kind, **{name: some(hint) for name, hint in get_type_hints(kind).items()})
    return st.from_type(kind)


KINDS: list[Any] = list(get_args(events.Event))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_goes_through_json_and_back(kind: Any) -> None:
    @rounds(30)
    @given(some(kind))
    def check(event: Any) -> None:
        for told in (event, events.Inside(2.0, "2", events.Inside(1.0, "1", event))):
            line = events.to_json(told)
            assert "\n" not in line
            assert events.from_json(line) == events.from_dict(json.loads(json.dumps(events.to_dict(told)))) == told

    check()


amounts, costs = st.none() | st.integers(0), st.none() | st.integers(0, 4000).map(lambda quarters: quarters / 4)


@pytest.mark.parametrize("data", [{}, {"event": "Nothing"}, {"event": "Ended"}, {"event": "StepStarted", "at": "soon"}])
def test_anything_else_is_no_event(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"unknown event|validation error"):
        events.from_dict(data)


def test_events_are_frozen_values() -> None:
    event = StepStarted(0.0, "1")
    with pytest.raises(AttributeError):
        event.step = "2"  # type: ignore[misc]
    assert event == StepStarted(0.0, "1", 1, 1)
    assert not hasattr(event, "__dict__")


class Rounds:
    """A planner that hands its jobs over in portions, so that runs have several plans."""

    def __init__(self, portions: list[list[Job]]) -> None:
        self.portions = portions

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        portion = next((p for p in self.portions if not {job.id for job in p} <= board.state.keys()), [])
        known = set(board.results) | {job.id for job in portion}
        kept = [
            Job(j.id, tuple(id for id in j.waits_for if id in known), j.quarters, j.fails, j.retries) for j in portion
        ]
        return plan_of(kept).changed(complete=portion == [])


@st.composite
def runs(draw: st.DrawFn) -> tuple[Run, Policy]:
    """A random run: a plan given or written in portions, some steps failing, some slots."""
    made = draw(jobs(most=8))
    policy = Policy(failure=draw(st.sampled_from(["skip", "stop"])), retries=draw(st.integers(0, 1)), max_rounds=4)
    workers, executor = Simulated(draw(st.integers(1, 4) | st.none())), ToolExecutor(Workshop().toolbox)
    if draw(st.booleans()):
        return execute(plan_of(made), executor, workers=workers, policy=policy), policy
    place = {id: n for n, wave in enumerate(plan_of(made).waves()) for id in wave}
    ordered = sorted(made, key=lambda job: place[job.id])
    cut = draw(st.integers(0, len(made)))
    reviewer = draw(st.sampled_from([None, ApproveAll()]))
    planner = Rounds([part for part in (ordered[:cut], ordered[cut:]) if part])
    agent = PlannerExecutor(planner, executor, reviewer, workers=workers, policy=policy)
    return agent.run("build"), policy


@rounds(150)
@given(runs())
def test_a_replay_decides_what_was_decided_and_the_board_is_the_fold(ran: tuple[Run, Policy]) -> None:
    run, policy = ran
    check_fold(run)
    check_replay(run, policy)
    assert run.board.ended
    assert run.makespan == run.events[-1].at
    assert run.events == sorted(run.events, key=lambda event: event.at)
    board = Board()
    for event in run.events:
        board.apply(event)
        latest = board.proposal.steps if board.proposal else ()
        waiting = [step for step in latest if board.state[step.id] == "waiting"]
        ready = [step.id for step in waiting if all(id in board.results for id in step.depends_on)]
        assert board.ready == (ready[0] if ready else None)
        running = {id for id, state in board.state.items() if state == "running"}
        assert board.in_flight.keys() == running | ({None} if isinstance(event, PlanStarted) else set())
