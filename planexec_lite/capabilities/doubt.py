"""Doubt (lesson 10): it is unknown whether a step was done, and a repeat might do harm. A person says whether it was done.

A step is in doubt if it was interrupted, took longer than its timeout and could not be stopped, or raised an error after
an at-most-once call began. If a repeat does no harm, an interrupted step starts again instead. A late result of a step
that timed out is recorded, and never counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

from planexec_lite.core import (
    WAIT,
    Board,
    Capability,
    Choice,
    Moves,
    Part,
    when_idle,
)
from planexec_lite.core.events import Event, Outcome, Paused, Reviewed, StepFailed, StepStarted
from planexec_lite.core.questions import Question
from planexec_lite.frozen import frozen
from planexec_lite.meter import ModelCall
from planexec_lite.tools import KnownCall

UNKNOWN = "unknown whether it was done"


@frozen
class StepInDoubt(Outcome):
    """A step was interrupted, or its worker was lost. It does not start again before a person has said whether it was done."""

    step: str
    error: str


@frozen
class StepLate(Event):
    """A step has ended after its timeout, with a result or an error. It is recorded, and never counts. `chosen`: see `StepDone`."""

    step: str
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    chosen: tuple[KnownCall, ...] = field(default=(), repr=False)


class Doubt(Part):
    """The steps that a person is asked about, how many attempts of each step are in doubt, and the late results.

    `overdue` counts the attempts of each step that have not ended since they failed in doubt.
    """

    doubted: dict[str, None] = {}
    attempts: Counter[str] = Counter()
    overdue: Counter[str] = Counter()
    late: dict[str, object] = {}


def _takes_failure(board: Board, event: StepFailed) -> bool:
    """A step that failed in doubt is no failure before a person has said whether it was done, if there is a person."""
    if not event.in_doubt:
        return False
    step = board.steps[event.step]
    attempt, attempts = board.attempt[step.id]
    tried_again = attempt < attempts and not event.final  # the plan's author asked for it
    asks = board.has_reviewer and not board.repeatable(step) and not tried_again
    _in_doubt(board, event, asks=asks)
    return asks


def _in_doubt(board: Board, event: StepInDoubt | StepFailed, *, asks: bool = True) -> None:
    mine, step_id = board[Doubt], event.step
    mine.attempts[step_id] += 1
    mine.overdue[step_id] += 1
    if asks:
        mine.doubted[step_id] = None
        board.hold(step_id, "in doubt")
        board.errors[step_id] = event.error


def _check_late(board: Board, event: StepLate) -> None:
    if not board[Doubt].overdue[event.step]:
        board.refuse("come late", event.step)


def _late(board: Board, event: StepLate) -> None:
    mine = board[Doubt]
    mine.late[event.step] = event.error or event.result
    board.calls += event.calls
    mine.overdue[event.step] -= 1
    if event.error is None:
        mine.attempts -= Counter([event.step])  # one of the attempts that timed out


def resolves(question: Question, event: Reviewed) -> bool:
    """Whether a person says that a step of this run, which is in doubt, was done or not done."""
    return event.verdict in ("done", "not done") and not question.path


def _reviewed(board: Board, event: Reviewed) -> None:
    question = board.asked
    if not resolves(question, event):
        return
    mine, step_id = board[Doubt], question.step or ""
    mine.attempts -= Counter([step_id])
    mine.doubted.pop(step_id, None)
    if board.state[step_id] != "in doubt":
        return  # it failed or was superseded meanwhile, and a rollback had to know what became of it
    if event.verdict == "done":
        board.give(step_id, event.result)
    else:
        board.requeue(step_id)


VERDICTS = {
    "done": "The step counts as done, with the result that you give.",
    "not done": "The step starts again.",
    "roll back": "What the run has done is undone.",
}


def ask_about_doubt(board: Board, _policy: object) -> Choice | None:
    """Pause until a person says whether the step was done."""
    for step_id in board[Doubt].doubted:
        question = question_about(board, step_id, VERDICTS)
        return when_idle(board, Paused(board.now, question), WAIT)
    return None


def question_about(board: Board, step_id: str, verdicts: dict[str, str]) -> Question:
    """Return the question whether a step in doubt was done."""
    return Question("doubt", verdicts, board.errors.get(step_id, UNKNOWN), step_id)


def interrupted(board: Board, job: StepStarted) -> StepInDoubt | None:
    """Return the doubt about a step that was running when the run was interrupted; None if a repeat does no harm."""
    if board.repeatable(board.steps[job.step]):
        return None
    return StepInDoubt(board.now, job.step, f"interrupted; {UNKNOWN}")


CAPABILITY = Capability(
    Doubt,
    moves={StepInDoubt: Moves("doubt", {"running": "in doubt"})},
    checks={StepLate: _check_late},
    folds={StepInDoubt: _in_doubt, StepLate: _late, Reviewed: _reviewed},
    takes_failure=_takes_failure,
)
