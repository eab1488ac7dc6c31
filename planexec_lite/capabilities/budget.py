"""Budgets (appendix A6): when a budget is used up, jobs that need it do not start. The run pauses and asks for more, or stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from planexec_lite.capabilities.judging import JudgeStarted
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.capabilities.stepping import most_model_calls
from planexec_lite.core import (
    HOLD,
    LATER,
    WAIT,
    Board,
    Capability,
    Choice,
    Part,
    only_with,
    when_idle,
)
from planexec_lite.core.events import Ended, Event, Job, Paused, PlanStarted, Reviewed, StepStarted
from planexec_lite.core.questions import Question
from planexec_lite.meter import Budget, ModelCall

SHARED = ("model_calls", "tokens", "dollars", "seconds")
"""The bounds that nested runs share with the outer run. Each run counts its steps separately."""
ASKS_MODEL = (PlanStarted, JudgeStarted)


@dataclass(frozen=True)
class Settings:
    """The bounds of a run, and what happens when one is reached. See `Policy`."""

    budget: Budget | None = None
    over_budget: Literal["pause", "stop"] = "pause"


class Spending(Part):
    """The grants beyond the budget.

    `_by_model` is a cache: the totals of each model over the first `_added` calls of the board.
    """

    extra: Counter[str] = Counter()
    _by_model: dict[str, ModelCall] = {}
    _added: int = 0

    def totals(self, calls: Sequence[ModelCall]) -> Iterable[ModelCall]:
        """The tokens of each model over all `calls` of the board."""
        for call in calls[self._added :]:
            so_far = self._by_model.get(call.model, ModelCall(call.model, 0, 0))
            self._by_model[call.model] = replace(
                so_far,
                input_tokens=so_far.input_tokens + call.input_tokens,
                output_tokens=so_far.output_tokens + call.output_tokens,
            )
        self._added = len(calls)
        return self._by_model.values()


def _reviewed(board: Board, event: Reviewed) -> None:
    for name, more in event.budget.bounds.items() if event.budget else ():
        if name in SHARED or not board.asked.path:  # the run inside counts the others itself
            board[Spending].extra[name] += more  # type: ignore[assignment]


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
    return board.now


def in_words(name: str, *amounts: float) -> str:
    """Return an amount, or an amount and its bound, with the unit: "5 of 5 steps", "$0.0521 of $0.05", "62 of 60 s"."""
    if name == "dollars":
        return " of ".join(f"${number:.4f}".rstrip("0").rstrip(".") for number in amounts)
    unit = name.replace("_", " ")
    if name == "seconds":
        unit = "s"
    elif amounts[-1] == 1:
        unit = unit.removesuffix("s")
    figures = (f"{round(number, 3):,}".removesuffix(".0") for number in amounts)
    return f"{' of '.join(figures)} {unit}"


@only_with("budget")
def return_queued_jobs(board: Board, policy: Settings) -> Choice | None:
    """Cancel queued jobs when a budget that they need is used up."""
    return HOLD if board.in_flight and _used_up(board, policy) else None


@only_with("budget")
def keep_within_budget(board: Board, policy: Settings, event: Job, executor: Any) -> Choice:
    """Guard: pause or stop the run before a job that would exceed the budget. A step reserves the model calls that it may make."""
    if board[Rollback].started:
        return event
    if short := _used_up(board, policy, event):
        queued = HOLD if _used_up(board, policy) else WAIT
        answer: Event = Paused(board.now, Question("budget", VERDICTS, amounts=short))
        if policy.over_budget == "stop":
            reason = f"the budget is used up: {', '.join(short.values())}"
            answer = Ended(board.now, "stopped", reason)
        return when_idle(board, answer, queued)
    return _reserve(board, policy, event, executor)


def _reserve(board: Board, policy: Settings, event: Job, executor: Any) -> Choice:
    """Reserve the model calls that a job may make, or let it wait while a running job has reserved them."""
    bound = _budget(board, policy).model_calls
    if bound is None:
        return event
    reserved = (
        job.reserved if isinstance(job, StepStarted) else isinstance(job, ASKS_MODEL)
        for job in board.in_flight.values()
    )
    left = bound - len(board.calls) - sum(reserved)
    if isinstance(event, ASKS_MODEL):
        return event if left >= 1 else WAIT
    if not isinstance(event, StepStarted) or not board.started.models_in_steps:
        return event
    most = most_model_calls(executor, board.steps[event.step])
    if most == 0:
        return event
    before = (board.steps[step_id] for step_id in board.queue.before(event.step))
    overtakes = any(most_model_calls(executor, step) != 0 for step in before)
    if board.in_flight and (overtakes or left < (most or 1)):
        return LATER  # until a running step returns the calls that it has not used; steps without models go first
    return replace(event, reserved=left if most is None else min(left, most))


def context(agent: Any, run: Any, job: Job) -> dict[str, Any]:
    """Return the budget that is left for the models and nested runs of a job that starts now."""
    policy, board = agent.policy, run.board
    if policy.budget is None:
        return {}
    bounds = _budget(board, policy).bounds.items()
    left = {name: max(0, bound - used(board, name)) for name, bound in bounds if name in SHARED}
    given = {"over_budget": policy.over_budget}
    if isinstance(job, StepStarted) and job.reserved:
        left["model_calls"] = given["model_calls"] = job.reserved
    return {"budget": Budget(**left), **given}  # type: ignore[arg-type]


def _budget(board: Board, policy: Settings) -> Budget:
    return (policy.budget or Budget()).plus(board[Spending].extra)


def _used_up(board: Board, policy: Settings, job: Job | None = None) -> dict[str, str]:
    """Return the bounds that keep `job` from starting, by name; without a job, the bounds that keep every step from starting."""
    asks_model = isinstance(job, ASKS_MODEL) or board.started.models_in_steps
    is_new_step = isinstance(job, StepStarted) and job.attempt == 1
    needs = {"seconds": True, "steps": is_new_step}
    short = {}
    for name, bound in _budget(board, policy).bounds.items():
        amount = used(board, name)
        # a job that does not use this amount can start, unless the bound is already exceeded
        is_exceeded = amount > bound and name in SHARED
        if is_exceeded or (amount >= bound and needs.get(name, asks_model)):
            short[name] = in_words(name, amount, bound)
    return short


CAPABILITY = Capability(
    Spending,
    folds={Reviewed: _reviewed},
    context=dict.fromkeys((StepStarted, *ASKS_MODEL), context),
)
