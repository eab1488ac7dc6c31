"""Budgets (appendix A6): when a budget is used up, jobs that need it do not start. The run pauses and asks for more, or stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from planexec_lite.capabilities.judging import JudgeStarted
from planexec_lite.capabilities.replanning import REPLANS, Replanning
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.core import (
    HOLD,
    LATER,
    WAIT,
    Board,
    Capability,
    Choice,
    Part,
    only_if,
    when_idle,
)
from planexec_lite.core import events as e
from planexec_lite.core.executors import most_model_calls
from planexec_lite.core.questions import Question
from planexec_lite.meter import Budget, ModelCall

OverBudget = Literal["pause", "stop"]
SHARED = ("model_calls", "tokens", "dollars", "seconds")
"""The bounds that nested runs share with the outer run. Each run counts its steps, replans and repairs separately."""
_ONE = {
    "model_calls": "model call",
    "tokens": "token",
    "steps": "step",
    "replans": "replan",
    "repairs": "repair",
}


@dataclass(frozen=True)
class Settings:
    """What a run may use, and what happens when that is used up. See `Policy`."""

    budget: Budget | None = None
    over_budget: OverBudget = "pause"


def check(policy: Settings) -> None:
    """Raise `ValueError` for an unknown word, and for a budget of another type."""
    if policy.over_budget not in ("pause", "stop"):
        raise ValueError(
            f"over_budget={policy.over_budget!r}: 'pause' and ask for more, or 'stop'"
        )
    if not isinstance(policy.budget, Budget | None):
        raise ValueError(f"budget={policy.budget!r}: a Budget, or None for no bound")


@dataclass
class Spending(Part):
    """The grants beyond the budget.

    `by_model` is a cache: the totals of each model over the first `added` calls of the board.
    """

    extra: Counter[str] = field(default_factory=Counter)
    by_model: dict[str, ModelCall] = field(default_factory=dict, compare=False)
    added: int = field(default=0, compare=False)

    def totals(self, calls: Sequence[ModelCall]) -> Iterable[ModelCall]:
        """The totals of each model over all `calls` of the board."""
        for call in calls[self.added :]:
            so_far = self.by_model.get(call.model, ModelCall(call.model, 0, 0))
            read, written = (
                so_far.input_tokens + call.input_tokens,
                so_far.output_tokens + call.output_tokens,
            )
            self.by_model[call.model] = ModelCall(
                call.model, read, written, so_far.seconds + call.seconds
            )
        self.added = len(calls)
        return self.by_model.values()


def _reviewed(board: Board, event: e.Reviewed) -> None:
    mine, question = board[Spending], board.asked
    if event.budget is not None:
        own = (name for name in event.budget.bounds if name in SHARED or not question.path)
        mine.extra.update({name: event.budget.bounds[name] for name in own})


VERDICTS = {
    "approve": "The run continues with the further budget that you give.",
    "reject": "The run ends, and what was done stays.",
    "roll back": "What the run has done is undone.",
}


def used(board: Board, name: str) -> float:
    """Return how much the run has used of what a `Budget` bounds. Raises `ValueError` for dollars if a price is missing."""
    mine = board[Spending]
    match name:
        case "steps":
            return board.steps_started
        case "model_calls":
            return len(board.calls)
        case "tokens":
            return sum(one.input_tokens + one.output_tokens for one in mine.totals(board.calls))
        case "dollars":
            try:
                from planexec_lite.model.prices import cost

                return cost(mine.totals(board.calls))
            except KeyError as missing:
                raise ValueError(f"a budget in dollars can't be kept: {missing.args[0]}") from None
        case "seconds":
            return board.now
    return int(getattr(board[Replanning], name))


def in_words(name: str, amount: float, bound: float | None = None) -> str:
    """Return an amount with its bound and its unit: "5 of 5 steps", "$0.0521 of $0.05", "62 of 60 s"."""
    of, more = ("", amount) if bound is None else (f" of {_figure(name, bound)}", bound)
    noun = (
        ""
        if name == "dollars"
        else " s"
        if name == "seconds"
        else f" {_ONE[name]}{'' if more == 1 else 's'}"
    )
    return f"{_figure(name, amount)}{of}{noun}"


def _figure(name: str, number: float) -> str:
    if name == "dollars":
        return f"${number:.4f}".rstrip("0").rstrip(".") if number else "$0"
    return f"{round(number, 3):,}".removesuffix(".0")


@only_if(lambda policy, _started: policy.budget is not None)
def return_queued_jobs(board: Board, policy: Settings) -> Choice | None:
    """Cancel queued jobs when a budget that they need is used up."""
    return HOLD if board.in_flight and _used_up(board, policy) else None


@only_if(lambda policy, _started: policy.budget is not None)
def keep_within_budget(board: Board, policy: Settings, event: e.Job, executor: Any) -> Choice:
    """Guard: pause or stop the run before a job that would exceed the budget. A step reserves the model calls that it may make."""
    if board[Rollback].started:
        return event
    if short := _used_up(board, policy, event):
        queued = HOLD if _used_up(board, policy) else WAIT
        if policy.over_budget == "stop":
            reason = f"the budget is used up: {', '.join(short.values())}"
            return when_idle(board, e.Ended(board.now, "stopped", reason), queued)
        return when_idle(
            board, e.Paused(board.now, Question("budget", VERDICTS, amounts=short)), queued
        )
    left = _model_calls_left(board, policy)
    if left is None:
        return event
    if isinstance(event, e.PlanStarted | JudgeStarted):
        return event if left >= 1 else WAIT
    if isinstance(event, e.StepStarted) and board.started.models_in_steps:
        return _reserve(board, event, left, executor)
    return event


def _reserve(board: Board, event: e.StepStarted, left: int, executor: Any) -> Choice:
    """Reserve the model calls that a step may make, out of those that are `left`, or let other steps go first."""
    most = most_model_calls(executor, board.steps[event.step])
    if most == 0:
        return event
    fits = left >= (most or 1)
    overtakes = (
        most_model_calls(executor, board.steps[step_id]) != 0
        for step_id in board.queue.before(event.step)
    )
    if board.in_flight and (not fits or any(overtakes)):
        return LATER  # until a running step returns the calls that it has not used; steps without models go first
    return replace(event, reserved=left if most is None else min(left, most))


def _model_calls_left(board: Board, policy: Settings) -> int | None:
    """Return the model calls that are neither made nor reserved by a running job; None: no bound."""
    left = _budget(board, policy).model_calls
    if left is None:
        return None
    left -= len(board.calls)
    for job in board.in_flight.values():
        if isinstance(job, e.StepStarted):
            left -= job.reserved
        elif isinstance(job, e.PlanStarted | JudgeStarted):
            left -= 1
    return left


def context(agent: Any, run: Any, job: e.Job) -> dict[str, Any]:
    """Return the budget that is left for the models and nested runs of a job that starts now."""
    if agent.policy.budget is None:
        return {}
    board = run.board
    bounds = {
        name: bound
        for name, bound in _budget(board, agent.policy).bounds.items()
        if name in SHARED
    }
    left = {name: max(0, bound - used(board, name)) for name, bound in bounds.items()}
    reserved = job.reserved if isinstance(job, e.StepStarted) and "model_calls" in left else None
    if reserved is not None and board.started.models_in_steps:
        left["model_calls"] = reserved
    given = {"budget": Budget(**left), "over_budget": agent.policy.over_budget}  # type: ignore[arg-type]
    return given | ({"model_calls": reserved} if reserved else {})


def _budget(board: Board, policy: Settings) -> Budget:
    return (policy.budget or Budget()).plus(board[Spending].extra)


def _used_up(board: Board, policy: Settings, job: e.Job | None = None) -> dict[str, str]:
    """Return the bounds that keep `job` from starting, by name; without a job, the bounds that keep every step from starting."""
    short = {}
    for name, bound in _budget(board, policy).bounds.items():
        amount = used(board, name)
        # a job that does not use this amount can start, unless the bound is already exceeded
        if (amount > bound and name in SHARED) or (amount >= bound and name in _needs(board, job)):
            short[name] = in_words(name, amount, bound)
    return short


def _needs(board: Board, job: e.Job | None) -> tuple[str, ...]:
    """Return the names of the bounds that a job will use, as far as this is known before it starts."""
    own: tuple[str, ...] = ()
    if isinstance(job, e.StepStarted) and job.attempt == 1:
        own = ("steps",)
    elif isinstance(job, e.PlanStarted):
        own = (
            ("repairs",)
            if job.reason == "repair"
            else ("replans",)
            if job.reason in REPLANS
            else ()
        )
    models = isinstance(job, e.PlanStarted | JudgeStarted) or board.started.models_in_steps
    return (*own, *SHARED) if models else (*own, "seconds")


CAPABILITY = Capability(
    Spending,
    folds={e.Reviewed: _reviewed},
    context=dict.fromkeys((e.StepStarted, e.PlanStarted, JudgeStarted), context),
    check_settings=check,
)
