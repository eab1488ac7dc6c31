"""Which events a board takes in which state: a table that the fold obeys, and errors that name event, step and state."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from planexec_lite import Plan, Run
from planexec_lite import events as e
from planexec_lite.assembly import Board
from planexec_lite.core import IllegalTransition, State
from planexec_lite.plan import Call
from tests.guards.books import ROOT

PLAN = Plan.parse(
    [
        {"id": "1", "tool": "a", "depends_on": [], "undo": {"tool": "u"}},
        {"id": "2", "tool": "b", "depends_on": []},
        {"id": "3", "tool": "c", "depends_on": ["1"], "success_criteria": "good"},
    ]
)
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
    "superseded": lambda: board(
        e.PlanStarted(1.0, "news"), e.PlanProposed(1.0, Plan.parse([{"id": "9", "tool": "a"}]))
    ),
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


def test_every_state_is_tried() -> None:
    assert set(STATES) == set(get_args(State))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_is_taken_in_its_states_and_rejected_in_others(state: str, kind: str) -> None:
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


@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_about_no_step_is_rejected(kind: str) -> None:
    with pytest.raises(IllegalTransition, match="the step does not exist"):
        board().apply(EVENTS[kind][0]("7"))


def test_a_step_whose_job_is_being_judged_takes_no_other_end() -> None:
    for late in (e.StepDone(3.0, "3", 1), e.StepFailed(3.0, "3", "no")):
        stands = board(*DONE, e.StepStarted(1.0, "3"), e.StepDone(2.0, "3", 1), e.JudgeStarted(2.0, "3"))
        with pytest.raises(IllegalTransition, match="it is judging"):
            stands.apply(late)


def test_steps_may_be_started_in_another_order_and_none_is_lost() -> None:
    stands = board(e.StepStarted(1.0, "2"))
    assert stands.ready == "1"
    stands.apply(e.StepStarted(1.0, "1"))
    assert (stands.ready, sorted(stands.in_flight)) == (None, ["1", "2"])


def test_a_step_that_waits_for_another_can_not_start() -> None:
    with pytest.raises(IllegalTransition, match="step 3 can't start: it waits for 1"):
        board().apply(e.StepStarted(1.0, "3"))


def test_a_plan_can_not_plan_again_what_is_done() -> None:
    stands = board(*DONE, e.PlanStarted(2.0, "news"))
    before = stands.copy()
    with pytest.raises(IllegalTransition, match="step 1 can't propose: it is done"):
        stands.apply(e.PlanProposed(3.0, PLAN))
    assert stands == before


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
