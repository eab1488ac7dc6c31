"""Events, the board and the rules: JSON both ways, one fold, pure decisions, and which event each state takes."""

import json
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import ApproveAll, Board, Plan, Policy, Run, Simulated, core
from planexec_lite.core import IllegalTransition, State
from planexec_lite.plan import Call, Step
from planexec_lite.run import events
from planexec_lite.run.events import PlanStarted, StepStarted
from planexec_lite.tools import Toolbox
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import Checked, Job, Workshop, check_fold, check_replay, jobs, json_values, plan_of, step
from tests.guards.books import ROOT
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
    """Random values of an event or of its parts, by the type hints."""
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
    @rounds(12)
    @given(some(kind))
    def check(event: Any) -> None:
        for one in (event, events.Inside(2.0, "2", events.Inside(1.0, "1", event))):
            line = events.to_json(one)
            assert "\n" not in line
            assert events.from_json(line) == events.from_dict(json.loads(json.dumps(events.to_dict(one)))) == one

    check()


@pytest.mark.parametrize("data", [{}, {"event": "Nothing"}, {"event": "Ended"}, {"event": "StepStarted", "at": "soon"}])
def test_other_data_is_not_an_event(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"unknown event|validation error"):
        events.from_dict(data)


def test_events_are_frozen_values() -> None:
    event = StepStarted(0.0, "1")
    with pytest.raises(AttributeError):
        event.step = "2"  # type: ignore[misc]
    assert event == StepStarted(0.0, "1", 1, 1)
    assert not hasattr(event, "__dict__")


class Rounds:
    """A planner that plans a portion of its jobs each time, so that runs have several plans."""

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
    """A random run: with one plan or a plan in portions, with failures and a number of slots."""
    made = draw(jobs(most=8))
    policy = Policy(failure=draw(st.sampled_from(["skip", "stop"])), retries=draw(st.integers(0, 1)), max_rounds=4)
    workers, tools = Simulated(draw(st.integers(1, 4) | st.none())), Workshop().toolbox
    if draw(st.booleans()):
        return carry_out(plan_of(made), tools, workers, policy=policy), policy
    place = {id: n for n, wave in enumerate(plan_of(made).waves()) for id in wave}
    ordered = sorted(made, key=lambda job: place[job.id])
    cut = draw(st.integers(0, len(made)))
    reviewer = draw(st.sampled_from([None, ApproveAll()]))
    planner = Rounds([part for part in (ordered[:cut], ordered[cut:]) if part])
    return agent_for(tools, planner, reviewer=reviewer, workers=workers, policy=policy).run("build"), policy


@rounds(150)
@given(runs())
def test_a_replay_decides_the_same_and_the_board_is_the_fold(ran: tuple[Run, Policy]) -> None:
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
        assert board.queue.first() == (ready[0] if ready else None)
        running = {id for id, state in board.state.items() if state == "running"}
        assert board.in_flight.keys() == running | ({None} if isinstance(event, PlanStarted) else set())


STEPS = [step("1", "a", undo={"tool": "u"}), step("2", "b"), step("3", "c", "1", success_criteria="good")]
PLAN, OTHER = Plan.parse(STEPS), Plan.parse([step("9", "a")])
BEGUN = [events.RunStarted(0.0, "goal", True, False, True), events.PlanProposed(0.0, PLAN)]
ONCE = [events.RunStarted(0.0, "goal", True, False, True, effects={"a": "once"}), events.PlanProposed(0.0, PLAN)]


DOUBT, BUDGET = (events.Question(kind, {}, step=id) for kind, id in (("doubt", "1"), ("budget", None)))


def board(*more: events.Event) -> Board:
    return Board.of([*BEGUN, *more])


STATES: dict[str, Callable[[], Board]] = {
    "waiting": board,
    "running": lambda: board(events.StepStarted(1.0, "1")),
    "done": lambda: board(events.StepStarted(1.0, "1"), events.StepDone(2.0, "1", 1)),
    "failed": lambda: board(events.StepStarted(1.0, "1"), events.StepFailed(2.0, "1", "no")),
    "judging": lambda: board(*DONE, events.StepStarted(1.0, "3"), events.StepDone(2.0, "3", 1)),
    "skipped": lambda: board(
        events.StepStarted(1.0, "1"), events.StepFailed(2.0, "1", "no"), events.StepSkipped(2.0, "3", "1 failed")
    ),
    "superseded": lambda: board(events.PlanStarted(1.0, "news"), events.PlanProposed(1.0, OTHER)),
    "in doubt": lambda: Board.of(
        [*ONCE, events.StepStarted(1.0, "1"), events.StepInDoubt(2.0, "1", "cut off"), events.Paused(2.0, DOUBT)]
    ),
    "undone": lambda: board(
        *DONE,
        events.RollbackStarted(2.0, "asked for"),
        events.UndoStarted(2.0, "1", UNDO),
        events.UndoDone(3.0, "1", 1),
    ),
}
UNDO = Call(tool="u")
DONE = [events.StepStarted(1.0, "1"), events.StepDone(2.0, "1", 1)]
OF = {"judging": "3", "skipped": "3"}  # the step that is in the state, where it is not step 1
EVENTS: dict[str, tuple[Callable[[str], events.Event], set[str]]] = {
    "started": (lambda id: events.StepStarted(3.0, id), {"waiting"}),
    "tried again": (lambda id: events.StepStarted(3.0, id, 2, 2), set()),
    "done": (lambda id: events.StepDone(3.0, id, 1), {"running"}),
    "failed": (lambda id: events.StepFailed(3.0, id, "no"), {"running"}),
    "cancelled": (lambda id: events.Requeued(3.0, id, "cancelled"), {"running"}),
    "paused inside": (lambda id: events.StepPaused(3.0, id, DOUBT.inside(id)), {"running"}),
    "interrupted": (lambda id: events.Requeued(3.0, id, "interrupted"), {"running"}),
    "in doubt": (lambda id: events.StepInDoubt(3.0, id, "cut off"), {"running"}),
    "resolved": (lambda id: events.Reviewed(3.0, "done", "", "Ann", step=id, result=1, of=DOUBT.digest), {"in doubt"}),
    "not done": (lambda id: events.Reviewed(3.0, "not done", "", "Ann", step=id, of=DOUBT.digest), {"in doubt"}),
    "held": (lambda id: events.StepBlocked(3.0, id, "no", final=True), {"waiting"}),
    "late": (lambda id: events.StepLate(3.0, id, 1), {"in doubt"}),
    "skipped": (lambda id: events.StepSkipped(3.0, id, "no"), {"waiting"}),
    "judged": (lambda id: events.Judged(3.0, id, "accept", ""), set()),
    "judge failed": (lambda id: events.Judged(3.0, id, "accept", error="no"), set()),
    "undo started": (lambda id: events.UndoStarted(3.0, id, UNDO), set()),
    "undone": (lambda id: events.UndoDone(3.0, id, 1), set()),
    "not undone": (lambda id: events.UndoFailed(3.0, id, "no"), set()),
    "undo left": (lambda id: events.UndoLeft(3.0, id, "no"), set()),
    "judge started": (lambda id: events.JudgeStarted(3.0, id), {"judging"}),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_is_accepted_in_its_states_and_rejected_in_others(state: str, kind: str) -> None:
    assert set(STATES) == set(get_args(State))
    make, legal = EVENTS[kind]
    board, id = STATES[state](), OF.get(state, "1")
    assert board.state[id] == state
    event, before = make(id), board.copy()
    if state in legal:
        board.apply(event)
        return
    with pytest.raises(IllegalTransition) as caught:
        board.apply(event)
    error = caught.value
    assert (error.event, error.step, error.state) == (event, id, state)
    assert f"{type(event).__name__}: step {id}" in str(error)
    assert board == before


STARTED, RUNNING = events.StepStarted(1.0, "1"), events.StepStarted(1.0, "3")
ENDED = events.Ended(2.0, "stopped", "x")
IMPOSSIBLE: dict[str, tuple[list[Any], Any, str]] = {  # the events before, the impossible event, and the reason
    "an unknown step": ([], events.StepStarted(3.0, "7"), "the step does not exist"),
    "a step that waits for another": ([], RUNNING, "step 3 can't start: it waits for 1"),
    "a second end while judged": ([*DONE, RUNNING, events.StepDone(2.0, "3", 1), events.JudgeStarted(2.0, "3")],
                                  events.StepFailed(3.0, "3", "no"), "it is judging"),
    "a plan with a done step": ([*DONE, events.PlanStarted(2.0, "news")], events.PlanProposed(3.0, PLAN), "1 can't propose"),
    "a plan without a running step": ([STARTED], events.PlanProposed(3.0, OTHER), "step 1 can't supersede: it is running"),
    "the end, with work in flight": ([STARTED], ENDED, "can't happen: work is in flight"),
    "a pause, with work in flight": ([STARTED], events.Paused(2.0, BUDGET), "can't happen: work is in flight"),
    "a second beginning": ([], BEGUN[0], "can't happen: the run has"),
    "the planner twice": ([events.PlanStarted(1.0, "news")], events.PlanStarted(1.0, "news"), "can't happen: it is in flight"),
    "a step while a person is asked": ([*DONE, events.Paused(2.0, BUDGET)], events.StepStarted(3.0, "2"), "the run waits"),
    "an answer to another question": ([*DONE, events.Paused(2.0, BUDGET)], events.Reviewed(3.0, "done", "", "Ann", of=DOUBT.digest),
                                      "it answers another question; the run asks about the budget"),
    "a step after the end": ([*DONE, ENDED], events.StepStarted(3.0, "2"), "can't happen: the run has"),
    "the planner after the end": ([*DONE, ENDED], events.PlanStarted(3.0, "news"), "can't happen: the run has"),
    "a second end": ([*DONE, ENDED], ENDED, "can't happen: the run has"),
}  # fmt: skip


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_an_impossible_event_changes_nothing_and_is_not_recorded(what: str) -> None:
    before, event, words = IMPOSSIBLE[what]
    run = Run([*BEGUN, *before])
    same = run.board.copy()
    with pytest.raises(IllegalTransition, match=words):
        run.record(event)
    assert (run.board, run.events) == (same, [*BEGUN, *before])


def test_a_board_that_validates_detects_a_wrong_result() -> None:
    board = Checked.of([*BEGUN, STARTED])
    board.results["2"] = 1
    with pytest.raises(AssertionError, match="step 2 has a result, and is waiting"):
        board.apply(events.StepDone(2.0, "1", 1))


def test_the_page_for_contributors_has_the_table_of_states_that_the_board_uses() -> None:
    lines = ["| event | from | to |", "|---|---|---|"]
    for kind, moves in Board.moves.items():
        for to in dict.fromkeys(moves.states.values()):
            starts = ", ".join(str(start) for start, end in moves.states.items() if end == to)
            lines.append(f"| `{kind.__name__}` | {starts} | {to} |")
    assert "\n".join(lines) in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Unlisted(core.Event):
    """An event that `assembly.Event` does not list."""


def test_an_event_that_could_not_be_read_is_not_written() -> None:
    with pytest.raises(TypeError, match="Unlisted can't be written"):
        events.to_json(Unlisted(0.0))
