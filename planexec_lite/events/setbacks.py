"""What keeps a step from being done: it backs off, is blocked, held or taken back, interrupted, paused inside, skipped, or late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planexec_lite.meter import ModelCall
from planexec_lite.tools import MadeCall


@dataclass(frozen=True, slots=True)
class StepLate:
    """A step that had been given up came to its end: its result, or its error. It is recorded, and never counts."""

    at: float
    step: str
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class BackoffStarted:
    """Job: a step that failed waits for `seconds` before it is tried again. It holds no slot."""

    at: float
    step: str
    seconds: float


@dataclass(frozen=True, slots=True)
class BackoffEnded:
    """Outcome: the wait is over, after `seconds`, or was cut short because nothing may start any more."""

    at: float
    step: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StepBlocked:
    """An attempt of a step failed without a call, since its tool's circuit breaker is open. It counts as an attempt."""

    at: float
    step: str
    error: str
    attempt: int = 1
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class StepHeld:
    """A step may not start as it is: it would repeat a call that may be made once. `reason` names the step that made it.

    Where there is a reviewer, or the step has a gate, it asks; otherwise it fails.
    """

    at: float
    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class StepCancelled:
    """A step was handed to the workers and taken back before it had begun. It waits again."""

    at: float
    step: str


@dataclass(frozen=True, slots=True)
class StepPaused:
    """The step waits for the decision of a person, as at a gate: `reason` says what for.

    The run inside the step waits; or the step's executor chose a `call` that needs approval. `made` are the calls that had
    approval and were made before: the step starts again, and these calls are not made again. In doubt: a call that must run
    at most once was made in the run inside.
    """

    at: float
    step: str
    reason: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False
    call: str = ""
    made: tuple[MadeCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A job was in flight when the run was left: by an interrupt, an error outside the jobs, or the end of the process.

    `step` is the step, or None: the planner. A step that may be done once is in doubt: nobody knows whether it was done.
    All others are tried again, and the planner and the evaluator are asked again. `told`: what happened in the run inside the
    step is known up to here, so the step is in no doubt, and that run goes on from there; `calls` are its calls of models.
    """

    at: float
    step: str | None = None
    told: bool = False
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class StepSkipped:
    """A step will not be carried out, because a step that it waits for did not get done."""

    at: float
    step: str
    reason: str
