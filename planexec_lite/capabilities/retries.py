"""Retries (lesson 09): a failed step is tried again, after a wait that holds no slot."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated, Any

from pydantic import Field, NonNegativeFloat
from pydantic.dataclasses import dataclass as pydantic_dataclass

from planexec_lite.capabilities import deadline
from planexec_lite.capabilities.judging import Judged
from planexec_lite.capabilities.news import News
from planexec_lite.core import (
    SETTINGS,
    Board,
    Capability,
    Choice,
    Moves,
    Part,
    Work,
    only_with,
)
from planexec_lite.core.events import Job, Outcome, Requeued, StepBlocked, StepFailed, StepStarted
from planexec_lite.frozen import frozen
from planexec_lite.plan import MAX_RETRIES


@pydantic_dataclass(frozen=True, slots=True, config=SETTINGS)
class Backoff:
    """How long a failed step waits before it is tried again: longer each time, up to a bound.

    Args:
        first: seconds before the second attempt.
        factor: multiplier applied to each successive wait.
        longest: the longest wait, in seconds.
        jitter: the random share of each wait, from 0 to 1, so that steps that failed together are not retried together.
        seed: with the step's id and the attempt, it determines the random share: a replay waits for the same time.

    Raises `ValueError` for a wait below zero, a factor below one, or a share outside 0 to 1.
    """

    first: NonNegativeFloat = 1.0
    factor: float = Field(default=2.0, ge=1)
    longest: NonNegativeFloat = 60.0
    jitter: float = Field(default=0.5, ge=0, le=1)
    seed: int = 0

    def seconds(self, step: str, attempt: int) -> float:
        """The wait before attempt number `attempt` (2 or more) of a step, in seconds."""
        whole = min(self.longest, self.first * self.factor ** (attempt - 2))
        return round(
            whole * (1 - self.jitter * Random(f"{self.seed} {step} {attempt}").random()), 6
        )


@dataclass(frozen=True)
class Settings(deadline.Settings):
    """How often a failed step is tried again, and how long it waits before. See `Policy`."""

    backoff: Backoff | None = None
    retries: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = 0


@frozen
class BackoffStarted(Job):
    """A step that failed waits for `seconds` before it is tried again. It holds no slot."""

    step: str
    seconds: float


@frozen
class BackoffEnded(Outcome):
    """The wait is over, after `seconds`, or ended early because no job starts any more."""

    step: str
    seconds: float = 0.0


class Backoffs(Part):
    """The failed steps that have waited, and can be tried again now."""

    ended: set[str] = set()


def _check_start(board: Board, event: BackoffStarted) -> None:
    if event.step not in board.retry:
        board.refuse("back off", event.step)


def _waited(board: Board, event: BackoffEnded | Requeued) -> None:
    job = board.in_flight[event.step]
    if isinstance(job, BackoffStarted):  # an interrupted wait was long enough
        board[Backoffs].ended.add(job.step)
        board.retry.append(job.step)


CAPABILITY = Capability(
    Backoffs,
    moves={
        BackoffStarted: Moves("back off", {"failed": "failed"}),
        BackoffEnded: Moves("come to this end", {"failed": "failed"}),
    },
    checks={BackoffStarted: _check_start},
    folds={
        BackoffStarted: lambda board, event: board.retry.remove(event.step),
        BackoffEnded: _waited,
        Requeued: _waited,
        **dict.fromkeys(
            (StepFailed, StepBlocked, Judged),
            lambda board, event: board[Backoffs].ended.discard(event.step),
        ),
    },
    work={
        BackoffStarted: Work.waiting(lambda at, job, seconds: BackoffEnded(at, job.step, seconds))
    },
)


@only_with("backoff")
def back_off(board: Board, policy: Settings) -> Choice | None:
    """Start the wait of a failed step that has not waited yet."""
    assert policy.backoff is not None
    ended = board[Backoffs].ended
    # the planner reads news first, which might make the retry unnecessary
    for step_id in () if board[News].unplanned else board.retry:
        if step_id not in ended:
            seconds = policy.backoff.seconds(step_id, board.attempt[step_id][0] + 1)
            seconds = deadline.until_deadline(policy, board.now, seconds)
            return BackoffStarted(board.now, step_id, seconds)
    return None


def try_again(board: Board, _policy: object) -> Choice | None:
    """Start the next attempt of a failed step."""
    if not board.retry or board[News].unplanned:
        return None
    return next(board.retries(), None)


def allow_retries(board: Board, policy: Settings, event: StepStarted, _executor: Any) -> Choice:
    """Guard: set the number of attempts when a step first starts.

    `Policy.retries` applies only to steps that are safe to repeat; `Step.retries` applies to any step.
    """
    if event.attempt > 1:
        return event
    step = board.steps[event.step]
    retries = step.retries
    if policy.retries and not retries and board.repeatable(step):
        retries = policy.retries
    return StepStarted(event.at, event.step, 1, 1 + retries) if retries else event
