"""Doubt (lesson 10): nobody knows whether a step was done, and a repeat might do harm. A person says what became of it.

A step is in doubt if it was interrupted, or took longer than its timeout and could not be stopped. If a repeat does no harm,
it starts again instead. A late result of a step that was given up is recorded, and never counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from planexec_lite.core import (
    WAIT,
    Answer,
    Board,
    Capability,
    Event,
    IllegalTransition,
    Moves,
    Outcome,
    Part,
    when_idle,
)
from planexec_lite.core.events import Paused, Requeued, Reviewed, StepFailed, StepStarted
from planexec_lite.meter import ModelCall


@dataclass(frozen=True, slots=True)
class StepInDoubt(Outcome):
    """A step was interrupted, and must not start again before somebody says whether it was done."""

    step: str
    error: str


@dataclass(frozen=True, slots=True)
class StepLate(Event):
    """A step that had been given up has ended: its result, or its error. It is recorded, and never counts."""

    step: str
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass
class Doubt(Part):
    """The steps that a person is asked about; how many attempts of a step are in doubt; and what came of one later."""

    doubted: dict[str, None] = field(default_factory=dict)
    attempts: Counter[str] = field(default_factory=Counter)
    late: dict[str, object] = field(default_factory=dict)


def _step_failed(board: Board, event: StepFailed) -> None:
    if event.in_doubt:
        board[Doubt].attempts[event.step] += 1


def _in_doubt(board: Board, event: StepInDoubt) -> None:
    mine = board[Doubt]
    mine.attempts[event.step] += 1
    mine.doubted[event.step] = None
    board.errors[event.step] = event.error


def _check_late(board: Board, event: StepLate) -> None:
    if not board[Doubt].attempts[event.step]:
        raise IllegalTransition("come late", event.step, board.state.get(event.step))


def _late(board: Board, event: StepLate) -> None:
    mine = board[Doubt]
    mine.late[event.step] = event.error or event.result
    board.calls += event.calls
    mine.attempts -= Counter([event.step])  # one of the attempts that timed out


def resolves(board: Board, event: Reviewed) -> bool:
    """Whether a person says what became of a step in doubt."""
    inside = board.paused is not None and board.paused.about == "inside"
    return event.verdict in ("done", "not done") and not inside


def _check_review(board: Board, event: Reviewed) -> None:
    if resolves(board, event) and event.step not in board[Doubt].doubted:
        raise IllegalTransition("be resolved", event.step, board.state.get(event.step or ""))


def _reviewed(board: Board, event: Reviewed) -> None:
    if not resolves(board, event):
        return
    mine, id = board[Doubt], event.step or ""
    mine.attempts -= Counter([id])
    del mine.doubted[id]
    if event.verdict == "done":
        board.give(id, event.result)
    else:
        board.requeue(id)


CAPABILITY = Capability(
    Doubt,
    moves={StepInDoubt: Moves("doubt", {"running": "in doubt"})},
    checks={StepLate: _check_late, Reviewed: _check_review},
    folds={StepFailed: _step_failed, StepInDoubt: _in_doubt, StepLate: _late, Reviewed: _reviewed},
)


def ask_about_doubt(board: Board, policy: object) -> Answer | None:
    """Pause until a person says what became of the step."""
    doubted = next(iter(board[Doubt].doubted), None)
    return None if doubted is None else when_idle(board, Paused(board.now, "doubt", doubted), WAIT)


def interrupted(board: Board, job: StepStarted, has_journal: bool) -> Event:
    """What becomes of a step that was in flight when the run was left.

    It starts again if a repeat does no harm. With a journal, so does a step with a run inside: that run goes on from where it was
    cut off. Without one, nobody knows what was done inside.
    """
    if board.repeatable(board.steps[job.step]) or (job.inside and has_journal):
        return Requeued(board.now, job.step, "interrupted")
    return StepInDoubt(board.now, job.step, "interrupted; nobody knows whether it was done")
