"""Budgets (lesson 10): when a budget is used up, jobs that need it do not start. The run pauses and asks for more, or stops."""

from __future__ import annotations

from typing import Protocol

from planexec_lite.board import Board
from planexec_lite.budget import SHARED, Allowance, Budget, OverBudget, in_words
from planexec_lite.core import HOLD, WAIT, Signal, when_idle
from planexec_lite.events import JOBS, Ended, Event, Job, JudgeStarted, Paused, PlanStarted, StepStarted


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def budget(self) -> Budget | None: ...

    @property
    def over_budget(self) -> OverBudget: ...


def stop_if_denied(board: Board, policy: object) -> Event | Signal | None:
    """Stop the run if a person granted no more budget."""
    denied = board.spending.denied
    if denied is None:
        return None
    reason = f"{denied.by} granted no more budget" + (f": {denied.comment}" if denied.comment else "")
    return when_idle(board, Ended(board.now, "stopped", reason))


def return_queued_jobs(board: Board, policy: Settings) -> Event | Signal | None:
    """Cancel queued jobs when a budget that they need is used up."""
    used_up = policy.budget is not None and board.in_flight and _used_up(board, policy)
    return HOLD if used_up else None


def keep_within_budget(board: Board, policy: Settings, event: Event) -> Event | Signal:
    """Guard: pause or stop the run before a job that would exceed the budget."""
    if policy.budget is None or not isinstance(event, JOBS) or board.rollback.begun:
        return event
    if not (short := _used_up(board, policy, event)):
        return event
    queued = HOLD if _used_up(board, policy) else WAIT
    if policy.over_budget == "stop":
        reason = f"the budget is used up: {', '.join(short.values())}"
        return when_idle(board, Ended(board.now, "stopped", reason), queued)
    return when_idle(board, Paused(board.now, "budget", short=short), queued)


def allowance_of(board: Board, policy: Settings) -> Allowance:
    """Return what is left of the budget for the runs inside a step that starts now."""
    budget = (policy.budget or Budget()).plus(board.spending.extra)
    shared = Budget(**{name: bound for name, bound in budget.bounds.items() if name in SHARED})  # type: ignore[arg-type]
    return Allowance(shared.plus({name: -board.used(name) for name in shared.bounds}), policy.over_budget)


def _used_up(board: Board, policy: Settings, job: Job | None = None) -> dict[str, str]:
    """The bounds that keep `job` from starting, by name, in words. Without a job: those that keep every step from starting."""
    short = {}
    for name, bound in (policy.budget or Budget()).plus(board.spending.extra).bounds.items():
        used = board.used(name)
        # a job that does not use this can start, unless the budget is already exceeded
        if (used > bound and name in SHARED) or (used >= bound and name in _needs(board, job)):
            short[name] = in_words(name, used, bound)
    return short


def _needs(board: Board, job: Job | None) -> tuple[str, ...]:
    """The names of the bounds that a job uses, as far as this is known before it starts."""
    match job:
        case StepStarted(attempt=1):
            own: tuple[str, ...] = ("steps",)
        case PlanStarted(reason="repair"):
            own = ("repairs",)
        case PlanStarted(reason="failure" | "news" | "stall"):
            own = ("replans",)
        case _:
            own = ()
    models = isinstance(job, PlanStarted | JudgeStarted) or board.models_in_steps
    return (*own, *SHARED) if models else (*own, "seconds")
