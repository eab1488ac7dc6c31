"""The rules that choose the next event. The first rule that returns an event or a signal wins; then each guard can
replace it.

A rule reads the board and the policy. It returns an event, `HOLD`, `WAIT`, or None if it does not apply. A guard is
about one event type: it receives the chosen event and returns it, another event, `HOLD`, `WAIT` or `LATER`. A guard can also ask
the executor what its tools declare about a call. Rules and guards do no I/O, read no clock, and don't change the board.

Some need a role or a setting: they say so with `only_with`, and are left out of a run without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import chain
from typing import Any, TypeVar

from planexec_lite.core.board import Board
from planexec_lite.core.events import (
    Event,
    RunStarted,
    StepStarted,
)


class Signal(Enum):
    """A choice that is not an event."""

    HOLD = "No job starts until all running jobs have ended. Queued jobs are cancelled."
    WAIT = "No job starts now. Running and queued jobs continue."
    LATER = "This step can't start now, and keeps its place. The next step is tried."


HOLD, WAIT, LATER = Signal

Choice = Event | Signal
Rule = Callable[[Board, Any], Choice | None]
Guard = Callable[[Board, Any, Any, Any], Choice]
"""Gets the board, the policy, the chosen event and the executor."""
Guards = Sequence[tuple[type[Event], Guard]]
R = TypeVar("R", bound=Callable[..., Any])
ROLES = ("planner", "reviewer", "evaluator")
_NEEDS: dict[Callable[..., Any], str] = {}


def only_with(name: str) -> Callable[[R], R]:
    """Mark a rule or a guard that applies only in runs with the role of this name, or in which this setting is not None."""

    def marked(rule: R) -> R:
        _NEEDS[rule] = name
        return rule

    return marked


def applies(rule: Rule | Guard, policy: Any, started: RunStarted) -> bool:
    """Whether a rule or a guard can apply in a run with this policy that began with `started`."""
    name = _NEEDS.get(rule)
    if name in ROLES:
        return bool(getattr(started, name))
    return name is None or getattr(policy, name) is not None


def choose(
    board: Board, policy: Any, rules: Sequence[Rule], guards: Guards, executor: Any = None
) -> Choice:
    """Return the next event of the run; `HOLD` or `WAIT` if the run has ended, or must wait for a job or a person."""
    if board.ended or board.paused:
        return WAIT
    for rule in rules:
        if (chosen := rule(board, policy)) is not None:
            break
    else:
        return WAIT
    choice = _guarded(chosen, board, policy, guards, executor)
    if choice is LATER and isinstance(chosen, StepStarted):
        retries = board.retries() if chosen.attempt > 1 else ()
        ready = (StepStarted(board.now, step_id) for step_id in board.queue.ready())
        for other in chain(retries, ready):
            choice = _guarded(other, board, policy, guards, executor)
            if choice is not LATER:
                break
    return WAIT if choice is LATER else choice


def _guarded(choice: Choice, board: Board, policy: Any, guards: Guards, executor: Any) -> Choice:
    for about, guard in guards:
        if isinstance(choice, about):
            choice = guard(board, policy, choice, executor)
    return choice


def when_idle(board: Board, event: Event, otherwise: Signal = HOLD) -> Choice:
    """Return `event` if no job is running; otherwise return the signal `otherwise`."""
    return otherwise if board.in_flight else event


def after_retries(board: Board, event: Event) -> Choice:
    """Return `event` if no job is running. During a retry return `WAIT`, because its success might make `event` unnecessary.

    Otherwise return `HOLD`.
    """
    retried = any(
        step_id in board.attempt
        and (board.attempt[step_id][0] > 1 or board.state[step_id] == "failed")
        for step_id in board.in_flight
    )
    return when_idle(board, event, WAIT if retried else HOLD)
