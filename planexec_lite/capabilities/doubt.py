"""Doubt (lesson 10): it is unknown whether a step was done, and a repeat might do harm. A person says whether it was done.

A step is in doubt if it was interrupted, or took longer than its timeout and could not be stopped. If a repeat does no harm,
it starts again instead. A late result of a step that timed out is recorded, and never counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from planexec_lite.core import WAIT, Answer, Board, Capability, IllegalTransition, Moves, Part, when_idle
from planexec_lite.core import events as e
from planexec_lite.meter import ModelCall

UNKNOWN = "unknown whether it was done"


@dataclass(frozen=True, slots=True)
class StepInDoubt(e.Outcome):
    """A step was interrupted. It does not start again before a person has said whether it was done."""

    step: str
    error: str


@dataclass(frozen=True, slots=True)
class StepLate(e.Event):
    """A step has ended after its timeout, with a result or an error. It is recorded, and never counts."""

    step: str
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass
class Doubt(Part):
    """The steps that a person is asked about, how many attempts of each step are in doubt, and the late results."""

    doubted: dict[str, None] = field(default_factory=dict)
    attempts: Counter[str] = field(default_factory=Counter)
    late: dict[str, object] = field(default_factory=dict)


def _step_failed(board: Board, event: e.StepFailed) -> None:
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
    if event.error is None:
        mine.attempts -= Counter([event.step])  # one of the attempts that timed out


def resolves(board: Board, event: e.Reviewed) -> bool:
    """Whether a person says that a step of this run, which is in doubt, was done or not done."""
    inside = board.paused is not None and board.paused.inside is not None
    return event.verdict in ("done", "not done") and not inside


def _check_review(board: Board, event: e.Reviewed) -> None:
    if resolves(board, event) and event.step not in board[Doubt].doubted:
        raise IllegalTransition("be resolved", event.step, board.state.get(event.step or ""))


def _reviewed(board: Board, event: e.Reviewed) -> None:
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
    checks={StepLate: _check_late, e.Reviewed: _check_review},
    folds={e.StepFailed: _step_failed, StepInDoubt: _in_doubt, StepLate: _late, e.Reviewed: _reviewed},
)


def ask_about_doubt(board: Board, policy: object) -> Answer | None:
    """Pause until a person says whether the step was done."""
    doubted = next(iter(board[Doubt].doubted), None)
    return None if doubted is None else when_idle(board, e.Paused(board.now, "doubt", doubted), WAIT)


def interrupted(board: Board, job: e.StepStarted, has_journal: bool) -> e.Event:
    """Return what happens to a step that was running when the run was interrupted.

    It starts again if a repeat does no harm. With a journal, a step with a nested run starts again too, because that run continues
    from where it was interrupted. Without a journal, it is unknown what was done inside.
    """
    if board.repeatable(board.steps[job.step]) or (job.inside and has_journal):
        return e.Requeued(board.now, job.step, "interrupted")
    return StepInDoubt(board.now, job.step, f"interrupted; {UNKNOWN}")
