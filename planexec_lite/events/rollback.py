"""What a rollback does: it is begun, and takes back one thing after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planexec_lite.meter import ModelCall
from planexec_lite.plan import Call


@dataclass(frozen=True, slots=True)
class RollbackBegun:
    """From here on nothing is carried out any more: what was done is taken back. `reason` says why.

    `to` names a step that stays as it is, with all that was done before it; None: everything is taken back. "1/a" is step a of
    the run inside step 1.
    """

    at: float
    reason: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class UndoStarted:
    """Job: `call` is made, which takes a step's effect back.

    `step` is the step, or names a call of the plan's rollback, as in "rollback 1"; of a run inside step 1 they are called "1/a"
    and "1/rollback 1".
    """

    at: float
    step: str
    call: Call


@dataclass(frozen=True, slots=True)
class UndoDone:
    """Outcome: the undo gave a result (data: what JSON can hold), after `seconds` of work."""

    at: float
    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoFailed:
    """Outcome: the undo raised an error, or took longer than the timeout of its step. The rollback goes on.

    In doubt: nobody knows how much of it was done.
    """

    at: float
    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False
