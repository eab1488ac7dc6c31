"""Which events a board takes in which state: a table that the fold obeys, and errors that name event, step and state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from planexec_lite import Plan, Run
from planexec_lite import events as e
from planexec_lite.assembly import Board
from planexec_lite.core import IllegalTransition, State
from planexec_lite.plan import Call
from tests.core.shapes import step
from tests.guards.books import ROOT

STEPS = [step("1", "a", undo={"tool": "u"}), step("2", "b"), step("3", "c", "1", success_criteria="good")]
PLAN, OTHER = Plan.parse(STEPS), Plan.parse([step("9", "a")])
BEGUN = [e.RunStarted(0.0, "goal", True, False, True), e.PlanProposed(0.0, PLAN)]
ONCE = [e.RunStarted(0.0, "goal", True, False, True, effects={"a": "once"}), e.PlanProposed(0.0, PLAN)]


def board(*more: e.Event) -> Board:
    return Board.of([*BEGUN, *more])


STATES: dict[str, Callable[[], Board]] = {
    "waiting": board,
    "running": lambda: board(e.StepStarted(1.0, "1")),
    "done": lambda: board(e.StepStarted(1.0, "1"), e.StepDone(2.0, "1", 1)),
    "failed": lambda: board(e.StepStarted(1.0, "1"), e.StepFailed(2.0, "1", "no")),
    "judging": lambda: board(*DONE, e.StepStarted(1.0, "3"), e.StepDone(2.0, "3", 1)),
    "skipped": lambda: board(
        e.StepStarted(1.0, "1"), e.StepFailed(2.0, "1", "no"), e.StepSkipped(2.0, "3", "1 failed")
    ),
    "superseded": lambda: board(e.PlanStarted(1.0, "news"), e.PlanProposed(1.0, OTHER)),
    "in doubt": lambda: Board.of([*ONCE, e.StepStarted(1.0, "1"), e.StepInDoubt(2.0, "1", "cut off")]),
    "undone": lambda: board(
        *DONE, e.RollbackStarted(2.0, "asked for"), e.UndoStarted(2.0, "1", UNDO), e.UndoDone(3.0, "1", 1)
    ),
}
UNDO = Call(tool="u")
DONE = [e.StepStarted(1.0, "1"), e.StepDone(2.0, "1", 1)]
OF = {"judging": "3", "skipped": "3"}  # the step that is in the state, where it is not step 1
EVENTS: dict[str, tuple[Callable[[str], e.Event], set[str]]] = {
    "started": (lambda id: e.StepStarted(3.0, id), {"waiting"}),
    "tried again": (lambda id: e.StepStarted(3.0, id, 2, 2), set()),
    "done": (lambda id: e.StepDone(3.0, id, 1), {"running"}),
    "failed": (lambda id: e.StepFailed(3.0, id, "no"), {"running"}),
    "cancelled": (lambda id: e.Requeued(3.0, id, "cancelled"), {"running"}),
    "paused inside": (lambda id: e.StepPaused(3.0, id, "waits"), {"running"}),
    "interrupted": (lambda id: e.Requeued(3.0, id, "interrupted"), {"running"}),
    "in doubt": (lambda id: e.StepInDoubt(3.0, id, "cut off"), {"running"}),
    "resolved": (lambda id: e.Reviewed(3.0, "done", "", "Ann", step=id, result=1), {"in doubt"}),
    "not done": (lambda id: e.Reviewed(3.0, "not done", "", "Ann", step=id), {"in doubt"}),
    "held": (lambda id: e.StepBlocked(3.0, id, "no", final=True), {"waiting"}),
    "late": (lambda id: e.StepLate(3.0, id, 1), {"in doubt"}),
    "skipped": (lambda id: e.StepSkipped(3.0, id, "no"), {"waiting"}),
    "judged": (lambda id: e.Judged(3.0, id, "accept", ""), set()),
    "judge failed": (lambda id: e.Judged(3.0, id, "accept", error="no"), set()),
    "undo started": (lambda id: e.UndoStarted(3.0, id, UNDO), set()),
    "undone": (lambda id: e.UndoDone(3.0, id, 1), set()),
    "not undone": (lambda id: e.UndoFailed(3.0, id, "no"), set()),
    "judge started": (lambda id: e.JudgeStarted(3.0, id), {"judging"}),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_is_taken_in_its_states_and_rejected_in_others(state: str, kind: str) -> None:
    assert set(STATES) == set(get_args(State))
    make, legal = EVENTS[kind]
    stands, id = STATES[state](), OF.get(state, "1")
    assert stands.state[id] == state
    event, before = make(id), stands.copy()
    if state in legal:
        stands.apply(event)
        return
    with pytest.raises(IllegalTransition) as caught:
        stands.apply(event)
    error = caught.value
    assert (error.event, error.step, error.state) == (event, id, state)
    assert f"{type(event).__name__}: step {id}" in str(error)
    assert stands == before


STARTED, RUNNING = e.StepStarted(1.0, "1"), e.StepStarted(1.0, "3")
ENDED = e.Ended(2.0, "stopped", "x")
IMPOSSIBLE: dict[str, tuple[list[Any], Any, str]] = {  # what happened before, what can't happen, and the reason
    "a step that is not there": ([], e.StepStarted(3.0, "7"), "the step does not exist"),
    "a step that waits for another": ([], RUNNING, "step 3 can't start: it waits for 1"),
    "a second end while judged": ([*DONE, RUNNING, e.StepDone(2.0, "3", 1), e.JudgeStarted(2.0, "3")],
                                  e.StepFailed(3.0, "3", "no"), "it is judging"),
    "a plan that has what is done": ([*DONE, e.PlanStarted(2.0, "news")], e.PlanProposed(3.0, PLAN), "1 can't propose"),
    "a plan instead of what runs": ([STARTED], e.PlanProposed(3.0, OTHER), "step 1 can't supersede: it is running"),
    "the end, with work in flight": ([STARTED], ENDED, "can't happen: work is in flight"),
    "a pause, with work in flight": ([STARTED], e.Paused(2.0, "budget"), "can't happen: work is in flight"),
    "a second beginning": ([], BEGUN[0], "can't happen: the run has"),
    "the planner twice": ([e.PlanStarted(1.0, "news")], e.PlanStarted(1.0, "news"), "can't happen: it is in flight"),
    "a step while a person is asked": ([*DONE, e.Paused(2.0, "budget")], e.StepStarted(3.0, "2"), "the run waits"),
    "a step after the end": ([*DONE, ENDED], e.StepStarted(3.0, "2"), "can't happen: the run has"),
    "the planner after the end": ([*DONE, ENDED], e.PlanStarted(3.0, "news"), "can't happen: the run has"),
    "a second end": ([*DONE, ENDED], ENDED, "can't happen: the run has"),
}  # fmt: skip


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_can_not_happen_changes_nothing(what: str) -> None:
    before, event, words = IMPOSSIBLE[what]
    stands = board(*before)
    same = stands.copy()
    with pytest.raises(IllegalTransition, match=words):
        stands.apply(event)
    assert stands == same


def test_a_run_keeps_no_event_that_can_not_have_happened() -> None:
    run = Run(BEGUN)
    with pytest.raises(IllegalTransition):
        run.record(e.StepDone(1.0, "1", 1))
    assert run.events == BEGUN


def as_table() -> str:
    """The moves of steps as a Markdown table, a row for each event and state that it leads to."""
    lines = ["| event | from | to |", "|---|---|---|"]
    for kind, moves in Board.moves.items():
        for to in dict.fromkeys(moves.states.values()):
            starts = ", ".join(str(start) for start, end in moves.states.items() if end == to)
            lines.append(f"| `{kind.__name__}` | {starts} | {to} |")
    return "\n".join(lines)


def test_the_table_that_is_shown_is_the_one_that_is_obeyed() -> None:
    assert as_table() in (ROOT / "README.md").read_text(encoding="utf-8")
