"""Retries (lesson 09): a failed step is tried again, after a wait that holds no slot."""

from __future__ import annotations

from typing import Protocol

from planexec_lite.board import Board
from planexec_lite.capabilities.deadline import until_deadline
from planexec_lite.core import Signal
from planexec_lite.events import BackoffStarted, Event, StepStarted
from planexec_lite.policy import Backoff


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def backoff(self) -> Backoff | None: ...

    @property
    def retries(self) -> int: ...

    @property
    def deadline(self) -> float | None: ...


def back_off(board: Board, policy: Settings) -> Event | Signal | None:
    """Start the wait of a failed step that has not waited yet."""
    table = board.table
    id = next((id for id in table.retries if id not in table.rested), None) if policy.backoff else None
    if id is None or policy.backoff is None or _news_first(board):
        return None
    seconds = policy.backoff.seconds(id, table.attempt[id][0] + 1)
    return BackoffStarted(board.now, id, until_deadline(policy, board.now, seconds))


def try_again(board: Board, policy: object) -> Event | Signal | None:
    """Start the next attempt of a failed step."""
    id = board.table.retry_next if board.table.retries and not _news_first(board) else None
    if id is None:
        return None
    attempt, attempts = board.table.attempt[id]
    return StepStarted(board.now, id, attempt + 1, attempts)


def allow_retries(board: Board, policy: Settings, event: Event) -> Event | Signal:
    """Guard: set the number of attempts when a step first starts.

    `Policy.retries` applies only to steps that are safe to repeat; `Step.retries` applies to any step.
    """
    if not isinstance(event, StepStarted) or event.attempt > 1:
        return event
    retries = board.steps[event.step].retries
    if policy.retries and not retries and board.repeatable(event.step):
        retries = policy.retries
    return StepStarted(event.at, event.step, 1, 1 + retries) if retries else event


def _news_first(board: Board) -> bool:
    """Whether the planner reads news first: it might change what is tried again."""
    return board.has_planner and board.proposals.unplanned_news
