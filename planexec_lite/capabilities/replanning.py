"""Replanning (lesson 06): the planner plans the rest again after a failure, news, every step or a stall; done steps are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import NonNegativeInt

from planexec_lite.capabilities.doubt import UNKNOWN, Doubt
from planexec_lite.capabilities.news import News
from planexec_lite.core import (
    Board,
    Capability,
    Choice,
    Part,
    after_retries,
    only_with,
    when_idle,
)
from planexec_lite.core.events import Ended, PlanReason, PlanStarted, Requeued
from planexec_lite.plan import Plan, Problem, Step

USES: dict[PlanReason, str] = {
    "first": "first plans",
    "repair": "repairs",
    "horizon": "rounds",
    "step": "rounds",
    "failure": "replans",
    "news": "replans",
    "stall": "replans",
}
"""By reason to ask the planner, what it counts as. All but the first plan have a bound."""


@dataclass(frozen=True)
class Settings:
    """What a failed step means, when the planner is asked again, and how often. See `Policy`."""

    failure: Literal["skip", "stop"] = "skip"
    max_repairs: NonNegativeInt = 2
    replan: Literal["never", "failure", "step", "stall"] = "never"
    max_replans: NonNegativeInt = 3
    max_rounds: NonNegativeInt = 25

    def __post_init__(self) -> None:
        if self.replan == "stall" and self.failure == "stop":
            raise ValueError(
                'replan="stall" needs failure="skip": a run that stops at a failure never stalls'
            )


class Replanning(Part):
    """How often the planner was asked, and the failures that no plan has answered.

    Attributes:
        asked: how often, by the words of `USES`.
        ask_again: why the planner was asked, if it was interrupted.
        tried: the signatures of plans that have failed.
        unanswered: failed steps that the plan must make up for; `answering`: the new steps that can. When one of those is
            done, all failures are answered.
        waiting: the other steps that were left when the planner was asked about the latest failure.
        results: how many steps were done when the latest plan came.
    """

    asked: Counter[str] = Counter()
    ask_again: PlanReason | None = None
    tried: set[frozenset[str]] = set()
    unanswered: dict[str, None] = {}
    answering: set[str] = set()
    waiting: frozenset[str] = frozenset()
    results: int = 0


def signature(steps: Iterable[Step]) -> frozenset[str]:
    """Return the calls and words of some steps, without their ids, to recognise a plan that has been tried before."""
    return frozenset(f"{step.description}: {step}" for step in steps)


def _does(step: Step) -> str:
    """Return a step's call or description, without its id."""
    return str(step) if step.tool else f"{step.description} {step.params}"


def _asked(board: Board, event: PlanStarted) -> None:
    mine = board[Replanning]
    mine.asked[USES[event.reason]] += 1
    mine.ask_again = None
    if board.failed:  # a new plan must differ from what is left, and bring a new step
        left = [board.steps[step_id] for step_id in board.unfinished]
        mine.tried.add(signature(left))
        mine.unanswered = unanswered(board) | board.failed
        known = mine.unanswered.keys() | mine.answering
        mine.waiting = frozenset(_does(step) for step in left if step.id not in known)
        mine.answering = set()


def _requeued(board: Board, event: Requeued) -> None:
    job = board.in_flight[event.step]
    if isinstance(job, PlanStarted):  # the same question is asked again, and counts once
        board[Replanning].asked[USES[job.reason]] -= 1
        board[Replanning].ask_again = job.reason


def _before_plan(board: Board, plan: Plan) -> None:
    mine = board[Replanning]
    mine.unanswered = _passed_over(board, plan)
    mine.answering = {step.id for step in _new(board, plan)} if mine.unanswered else set()
    mine.results = len(board.results)


def unanswered(board: Board) -> dict[str, None]:
    """The steps that failed for good before the planner was asked; none once a step that answers them is done."""
    mine = board[Replanning]
    return {} if mine.answering & board.results.keys() else mine.unanswered


def _passed_over(board: Board, plan: Plan) -> dict[str, None]:
    """The failures that `plan` does not give up by name."""
    return {step_id: None for step_id in unanswered(board) if step_id not in plan.supersedes}


def _new(board: Board, plan: Plan) -> list[Step]:
    """The steps of `plan` that answer a failure: those that were not waiting then."""
    known = board[Replanning].waiting
    return [step for step in plan.steps if _does(step) not in known]


def answers_failures(
    plan: Plan, board: Board, _policy: object, _executor: object
) -> Iterator[Problem]:
    """Plan check: a plan does not repeat what has failed, and if it is complete, it answers each failed step.

    It brings a new step, or names the failed one in `Plan.supersedes`. After news the same steps can be right.
    """
    if plan.complete and not _new(board, plan):
        for step_id in _passed_over(board, plan):
            hint = f'add a step that does it otherwise or checks it; or name it, "supersedes": ["{step_id}"], if you give it up'
            yield Problem(
                "unanswered_failure", step_id, "it failed, and the plan brings no new step", hint
            )
    has_failed = board.failed or board.problems
    if has_failed and signature(plan.steps) in board[Replanning].tried:
        hint = "do something else about the failed step, or leave it out"
        yield Problem("tried_before", None, "the steps are those that have failed before", hint)


@only_with("planner")
def stop_without_plan(board: Board, policy: Settings) -> Choice | None:
    """End the run if no plan is left to ask for.

    News needs a replan, and there have been `max_replans`; or the planner refused, or wrote more than `max_repairs` invalid plans
    in a row after the first one.
    """
    replans = board[Replanning].asked["replans"]
    if board[News].unread and replans >= policy.max_replans:
        why = f"news came, and the rest was planned again {replans} times already (max_replans)"
        return when_idle(board, Ended(board.now, "stopped", why))
    attempts = board.invalid_in_a_row
    refusals = [problem.message for problem in board.problems if problem.code == "refused"]
    if refusals:  # there is no plan that the planner could correct
        why = refusals[0]
    elif attempts > policy.max_repairs:
        problems = "; ".join(map(str, board.problems[:3]))
        why = f"no valid plan after {attempts} attempts (max_repairs={policy.max_repairs}): {problems}"
    else:
        return None
    return when_idle(board, Ended(board.now, "failed", why))


def stop_at_failure(board: Board, policy: Settings) -> Choice | None:
    """With ``failure="stop"``, end the run after a failed step, unless the rest is planned again."""
    if policy.failure != "stop" or not board.failed or why_replan(board, policy):
        return None
    if board.problems and policy.replan != "never":
        return None
    return when_idle(board, _failed(board, policy))


@only_with("planner")
def replan(board: Board, policy: Settings) -> Choice | None:
    """Ask the planner for the rest if `why_replan` gives a reason."""
    reason = why_replan(board, policy)
    if reason is None:
        return None
    asked = PlanStarted(board.now, reason)
    return when_idle(board, asked) if board[News].unread else after_retries(board, asked)


def ask_for_more(board: Board, policy: Settings) -> Choice | None:
    """Ask for the next steps if the plan is done up to its horizon, at most `max_rounds` times."""
    if board.in_flight or board.proposal is None or board.proposal.complete:
        return None
    if not board.has_planner:
        why = "the plan is not complete, and there is no planner to ask for more"
    elif board[Replanning].asked["rounds"] >= policy.max_rounds:
        why = f"the planner was asked for more {policy.max_rounds} times (max_rounds)"
    else:
        return PlanStarted(board.now, "horizon")
    return fail(board, policy) or Ended(board.now, "stopped", why)


def fail(board: Board, policy: Settings) -> Choice | None:
    """End the run as failed if a step failed and no later step made up for it."""
    if board.in_flight or board.proposal is None:
        return None
    if board.failed:
        return _failed(board, policy)
    for step_id in unanswered(board):
        why = f"step {step_id} failed, and no later step was done that answers it"
        return Ended(board.now, "failed", why)
    return None


def why_replan(board: Board, policy: Settings) -> PlanReason | None:
    """Return the reason to plan the rest again, or to ask again if the planner was interrupted.

    None without a reason, or if no replan is left.
    """
    mine = board[Replanning]
    if mine.ask_again or not board.has_planner or board.proposal is None or board.problems:
        return mine.ask_again
    if mine.asked["replans"] < policy.max_replans:
        if board[News].unread:
            return "news"
        if board.failed and policy.replan in ("failure", "step"):
            return "failure"
        stalls = board.failed and policy.replan == "stall"
        queue = board.queue
        if stalls and not (queue.first() or queue.unreachable or board.in_flight):
            return "stall"
    # this is a round, not a replan: no step failed
    can_ask = policy.replan == "step" and mine.asked["rounds"] < policy.max_rounds
    return "step" if can_ask and len(board.results) > mine.results and board.unfinished else None


def _failed(board: Board, policy: Settings) -> Ended:
    """The end of a run in which a step failed, with the reason."""
    step_id = next(iter(board.failed))
    why = f"step {step_id} failed: {board.errors[step_id]}"
    if board[Doubt].attempts[step_id] > 0 and board.effects[step_id] != "none":
        why += f"; {UNKNOWN}"
    if skipped := [step_id for step_id, state in board.state.items() if state == "skipped"]:
        why += f"; skipped behind it: {', '.join(skipped)}"
    replans = board[Replanning].asked["replans"]
    if board.has_planner and policy.replan != "never" and replans >= policy.max_replans:
        why += f"; planned again {replans} times (max_replans={policy.max_replans})"
    return Ended(board.now, "failed", why)


CAPABILITY = Capability(
    Replanning,
    folds={PlanStarted: _asked, Requeued: _requeued},
    before_plan=_before_plan,
    plan_checks=(answers_failures,),
)
