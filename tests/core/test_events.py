"""Events, the board and the rules: JSON both ways, one fold, pure decisions, and a replay that decides the same."""

from __future__ import annotations

import copy
import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    ApproveAll,
    Board,
    Budget,
    Plan,
    PlannerExecutor,
    Policy,
    Run,
    Simulated,
    ToolExecutor,
    events,
    execute,
)
from planexec_lite.assembly import decide
from planexec_lite.core import IllegalTransition
from planexec_lite.events import (
    Ended,
    JudgeStarted,
    Paused,
    PlanProposed,
    PlanStarted,
    RunStarted,
    StepDone,
    StepSkipped,
    StepStarted,
)
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Call, Problem
from planexec_lite.tools import Limit, Toolbox
from tests.core.shapes import Job, Workshop, jobs, json_values, plan_of, without_key
from tests.rounds import rounds

seconds = st.integers(0, 4000).map(lambda quarters: quarters / 4)
names = st.sampled_from(["1", "5b", "1.1"])
model_calls = st.lists(st.builds(ModelCall, st.text(), st.integers(0), st.integers(0), seconds), max_size=2).map(tuple)
problems = st.lists(st.builds(Problem, st.text(), st.none() | names, st.text(), st.text()), max_size=2).map(tuple)
reasons = st.sampled_from(["first", "repair", "horizon", "failure", "news", "step", "stall"])
plans = jobs(most=4).map(plan_of)
limits = st.lists(st.builds(Limit, st.text(), st.lists(names, max_size=2).map(tuple), st.integers(1)), max_size=2)
effects = st.dictionaries(st.text(), st.sampled_from(["none", "idempotent", "once"]), max_size=2)
amounts, costs = st.none() | st.integers(0), st.none() | st.integers(0, 4000).map(lambda quarters: quarters / 4)
budgets = st.builds(Budget, amounts, amounts, amounts, costs, costs, amounts, amounts)
some = {
    events.RunStarted: st.builds(
        events.RunStarted, seconds, st.text(), st.booleans(), st.booleans(), st.booleans(), limits.map(tuple), effects,
        st.booleans(),
    ),
    events.PlanStarted: st.builds(events.PlanStarted, seconds, reasons),
    events.PlanProposed: st.builds(
        events.PlanProposed, seconds, st.none() | plans, problems, st.text(), seconds, model_calls, st.text()
    ),
    events.StepProposed: st.builds(events.StepProposed, seconds, plans.map(lambda plan: plan.steps[0])),
    events.Requeued: st.builds(events.Requeued, seconds, st.none() | names, st.sampled_from(["cancelled", "interrupted"])),
    events.StepInDoubt: st.builds(events.StepInDoubt, seconds, names, st.text()),
    events.StepProgress: st.builds(events.StepProgress, seconds, names, st.integers(0, 100)),
    events.UndoPaused: st.builds(events.UndoPaused, seconds, names, st.text(), st.just("undo"), seconds, model_calls),
    events.StepLate: st.builds(events.StepLate, seconds, names, json_values, st.none() | st.text(), seconds),
    events.StepBlocked: st.builds(
        events.StepBlocked, seconds, names, st.text(), st.integers(1, 3), st.integers(1, 3)
    ),
    events.StepPaused: st.builds(events.StepPaused, seconds, names, st.text(), seconds, model_calls),
    events.Reviewed: st.builds(
        events.Reviewed, seconds, st.sampled_from(["approve", "reject", "change", "done"]), st.text(), st.text(), st.text(),
        st.none() | names, st.none() | plans, st.none() | st.builds(events.Grant, st.integers(0)), st.none() | budgets,
        json_values,
    ),
    events.StepStarted: st.builds(events.StepStarted, seconds, names, st.integers(1, 3), st.integers(1, 3)),
    events.StepDone: st.builds(events.StepDone, seconds, names, json_values, seconds, model_calls),
    events.StepFailed: st.builds(
        events.StepFailed, seconds, names, st.text(), seconds, model_calls, st.booleans(), st.booleans()
    ),
    events.StepSkipped: st.builds(events.StepSkipped, seconds, names, st.text()),
    events.BackoffStarted: st.builds(events.BackoffStarted, seconds, names, seconds),
    events.BackoffEnded: st.builds(events.BackoffEnded, seconds, names, seconds),
    events.RollbackStarted: st.builds(events.RollbackStarted, seconds, st.text(), st.none() | names),
    events.UndoStarted: st.builds(
        events.UndoStarted, seconds, names, st.builds(Call, tool=names, params=st.dictionaries(st.text(), json_values))
    ),
    events.UndoDone: st.builds(events.UndoDone, seconds, names, json_values, seconds, model_calls),
    events.UndoFailed: st.builds(events.UndoFailed, seconds, names, st.text(), seconds, model_calls, st.booleans()),
    events.JudgeStarted: st.builds(events.JudgeStarted, seconds, names),
    events.Judged: st.builds(
        events.Judged, seconds, names, st.sampled_from(["accept", "retry", "modify", "replan"]), st.text(),
        st.none() | plans.map(lambda plan: plan.steps[0]), st.none() | names, seconds, model_calls,
    ),
    events.NewsReceived: st.builds(events.NewsReceived, seconds, st.text()),
    events.Inside: st.builds(events.Inside, seconds, names, json_values),
    events.Paused: st.builds(
        events.Paused, seconds, st.sampled_from(get_args(events.PauseReason)), st.none() | names,
        st.dictionaries(names, st.text(), max_size=2),
    ),
    events.Ended: st.builds(
        events.Ended, seconds, st.sampled_from(["finished", "failed", "stopped", "rolled back"]), st.text()
    ),
}  # fmt: skip


def over_line(event: Any) -> Any:
    line = events.to_json(event)
    assert "\n" not in line
    return events.from_json(line)


def over_json(event: Any) -> Any:
    return events.from_dict(json.loads(json.dumps(events.to_dict(event))))


KINDS: list[Any] = list(get_args(events.Event))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_goes_through_json_and_back(kind: Any) -> None:
    assert kind in some, f"write how to make a random {kind} into `some`"

    @rounds(30)
    @given(some[kind])
    def check(event: Any) -> None:
        assert over_json(event) == over_line(event) == event
        assert hash(event.at) == hash(over_json(event).at)

    check()


@rounds(30)
@given(st.one_of(*[made for kind, made in some.items() if kind is not events.Inside]))
def test_an_event_of_a_nested_run_goes_through_json_and_back(inner: Any) -> None:
    event = events.Inside(1.0, "1", inner)
    assert over_json(event) == over_line(event) == event
    assert over_json(events.Inside(2.0, "2", event)) == events.Inside(2.0, "2", event)


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


def test_a_step_is_done_once_and_only_after_it_was_started() -> None:
    plan = Plan.parse(
        [{"id": "a", "depends_on": []}, {"id": "b", "depends_on": []}, {"id": "c", "depends_on": ["a", "b"]}]
    )
    board = Board.of([RunStarted(0.0, "g", False, False), PlanProposed(0.0, plan)])
    with pytest.raises(IllegalTransition, match="StepDone: step a"):
        board.apply(StepDone(1.0, "a", 1))
    for event in (StepStarted(1.0, "a"), StepStarted(1.0, "b"), StepDone(2.0, "a", 1)):
        board.apply(event)
    with pytest.raises(IllegalTransition, match="StepDone: step a"):
        board.apply(StepDone(2.0, "a", 1))
    assert board.ready is None


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


DECIDED = (StepStarted, PlanStarted, JudgeStarted, StepSkipped, Paused, Ended)


@rounds(150)
@given(runs())
def test_the_same_events_give_the_same_board_also_after_json(ran: tuple[Run, Policy]) -> None:
    run, _ = ran
    assert Board.of(run.events) == run.board
    assert Board.of(over_json(event) for event in run.events) == run.board
    assert run.board.ended
    assert run.makespan == run.events[-1].at


@rounds(150)
@given(runs())
def test_a_replay_decides_what_was_decided_and_deciding_changes_nothing(ran: tuple[Run, Policy]) -> None:
    run, policy = ran
    board = Board()
    for event in run.events:
        if isinstance(event, DECIDED):
            before = copy.deepcopy(board)
            assert decide(board, policy) == without_key(event)
            assert decide(board, policy) == without_key(event)
            assert board == before
        board.apply(event)
    assert decide(board, policy) is None


@rounds(60)
@given(runs())
def test_time_never_runs_backwards(ran: tuple[Run, Policy]) -> None:
    times = [event.at for event in ran[0].events]
    assert times == sorted(times)


@rounds(60)
@given(runs())
def test_ready_is_the_first_waiting_step_whose_dependencies_are_all_done(ran: tuple[Run, Policy]) -> None:
    board = Board()
    for event in ran[0].events:
        board.apply(event)
        latest = board.proposal.steps if board.proposal else ()
        ready = [
            s.id for s in latest if board.state[s.id] == "waiting" and all(d in board.results for d in s.depends_on)
        ]
        assert board.ready == (ready[0] if ready else None)
        assert board.in_flight.keys() == {id for id, state in board.state.items() if state == "running"} | (
            {None} if isinstance(event, PlanStarted) else set()
        )


def test_a_board_differs_when_its_events_differ() -> None:
    first, second = (
        execute(plan_of([Job("1", quarters=n)]), ToolExecutor(Workshop().toolbox), workers=Simulated()) for n in (1, 2)
    )
    assert first.board != second.board
    assert first.board != 1
