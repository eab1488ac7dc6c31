"""Replanning (lesson 06): the planner plans the rest again after a failure, news, every step or a stall; done steps are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from planexec_lite.capabilities.doubt import UNKNOWN, Doubt
from planexec_lite.capabilities.news import News
from planexec_lite.core import (
    Board,
    Capability,
    Choice,
    Part,
    after_retries,
    has_planner,
    only_if,
    when_idle,
)
from planexec_lite.core import events as e
from planexec_lite.plan import Plan, Problem, Step

ROUNDS = ("horizon", "step")  # reasons to ask the planner for more steps: a round
REPLANS = ("failure", "news", "stall")  # reasons to plan the rest again: a replan
Signature = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Settings:
    """What a failed step means, when the planner is asked again, and how often. See `Policy`."""

    failure: Literal["skip", "stop"] = "skip"
    max_repairs: int = 2
    replan: Literal["never", "failure", "step", "stall"] = "never"
    max_replans: int = 3
    max_rounds: int = 25


def check(policy: Settings) -> None:
    """Raise `ValueError` for an unknown word, and for two settings that exclude each other."""
    if policy.failure not in ("skip", "stop"):
        raise ValueError(f"failure={policy.failure!r}: a failed step means 'skip' or 'stop'")
    if policy.replan not in ("never", "failure", "step", "stall"):
        raise ValueError(
            f"replan={policy.replan!r}: plan again 'never', after a 'failure', a 'step' or a 'stall'"
        )
    if policy.replan == "stall" and policy.failure == "stop":
        raise ValueError(
            'replan="stall" needs failure="skip": a run that stops at a failure never stalls'
        )


@dataclass
class Replanning(Part):
    """How often the planner was asked for which reason, and the failures that no plan has answered.

    Attributes:
        asked_for: the latest reason; `ask_again`: the reason when the planner was interrupted.
        tried: the signatures of plans that have failed.
        unanswered: the failed steps of earlier plans; one of the steps `answering` has to be done before they count as answered.
        waiting: the calls that were left of the plan before, while a streamed plan replaces it.
        results: how many steps were done when the latest plan came.
    """

    rounds: int = 0
    replans: int = 0
    repairs: int = 0
    asked_for: e.PlanReason | None = None
    ask_again: e.PlanReason | None = None
    tried: set[Signature] = field(default_factory=set)
    unanswered: dict[str, Step] = field(default_factory=dict)
    answering: set[str] = field(default_factory=set)
    waiting: Signature = frozenset()
    results: int = 0


def signature(steps: Iterable[Step]) -> Signature:
    """Return the calls and words of some steps, without their ids, to recognise a plan that has been tried before."""
    return frozenset((step.description, str(step)) for step in steps)


def _does(step: Step) -> tuple[str, str]:
    """Return a step's call or description, without its id."""
    return ("call", str(step)) if step.tool else ("words", f"{step.description} {step.params}")


def _count(mine: Replanning, reason: e.PlanReason | None, by: int) -> None:
    mine.rounds += by * (reason in ROUNDS)
    mine.replans += by * (reason in REPLANS)
    mine.repairs += by * (reason == "repair")


def _asked(board: Board, event: e.PlanStarted) -> None:
    mine = board[Replanning]
    _count(mine, event.reason, 1)
    mine.asked_for, mine.ask_again = event.reason, None


def _requeued(board: Board, event: e.Requeued) -> None:
    if event.step is None:  # the same question is asked again, and counts once
        mine = board[Replanning]
        _count(mine, mine.asked_for, -1)
        mine.ask_again = mine.asked_for


def _before_plan(board: Board, plan: Plan | None) -> None:
    mine = board[Replanning]
    failed = {} if plan is None else _open_failures(board, plan)
    answering = set() if plan is None or not failed else _answers(board, plan, failed)
    if not board.arrived:
        before = unanswered(board) | {step_id: board.steps[step_id] for step_id in board.failed}
        mine.waiting = _still_to_do(board, before) if before else frozenset()
        if board.failed:  # a new plan must differ from these steps
            mine.tried.add(signature(board.steps[step_id] for step_id in board.unfinished))
        mine.unanswered = before
    if plan is not None:
        mine.unanswered, mine.answering, mine.results = failed, answering, len(board.results)


def unanswered(board: Board) -> dict[str, Step]:
    """The steps of earlier plans that failed for good, if no step was done since that answers this."""
    mine = board[Replanning]
    return {} if mine.answering & board.results.keys() else mine.unanswered


def _open_failures(board: Board, plan: Plan) -> dict[str, Step]:
    failed = unanswered(board) | {step_id: board.steps[step_id] for step_id in board.failed}
    return {step_id: step for step_id, step in failed.items() if step_id not in plan.supersedes}


def _answers(board: Board, plan: Plan, failed: Mapping[str, Step]) -> set[str]:
    """The ids of the steps of `plan` that answer the failures: those that were not waiting before."""
    mine = board[Replanning]
    waiting = mine.waiting if board.arrived else _still_to_do(board, failed)
    new = (step for step in plan.steps if step.id in board.arrived or step.id not in board.results)
    return {step.id for step in new if step.id in mine.answering or _does(step) not in waiting}


def _still_to_do(board: Board, failed: Collection[str]) -> Signature:
    answering = board[Replanning].answering
    return frozenset(
        _does(board.steps[step_id])
        for step_id in board.unfinished
        if step_id not in failed and step_id not in answering
    )


def failures_passed_over(
    plan: Plan, board: Board, _policy: object, _executor: object
) -> Iterator[Problem]:
    """Plan check: a complete plan answers each failed step by a new step, or names it in `Plan.supersedes`."""
    failed = _open_failures(board, plan) if plan.complete else {}
    for step_id in failed if failed and not _answers(board, plan, failed) else ():
        hint = f'add a step that does it otherwise or checks it; or name it, "supersedes": ["{step_id}"], if you give it up'
        yield Problem(
            "unanswered_failure", step_id, "it failed, and the plan brings no new step", hint
        )


def tried_before(
    plan: Plan, board: Board, _policy: object, _executor: object
) -> Iterator[Problem]:
    """Plan check: after a failure a plan must change something. After news the same steps can be right."""
    tried = set(board[Replanning].tried) if board.failed or board.problems else set()
    tried |= (
        {signature(board.steps[step_id] for step_id in board.unfinished)}
        if board.failed
        else set()
    )
    if signature(plan.steps) in tried:
        hint = "do something else about the failed step, or leave it out"
        yield Problem("tried_before", None, "the steps are those that have failed before", hint)


@only_if(has_planner)
def stop_after_news(board: Board, policy: Settings) -> Choice | None:
    """Stop the run if news needs a new plan, and there have already been `max_replans`."""
    replans = board[Replanning].replans
    if not (board[News].unread and replans >= policy.max_replans):
        return None
    reason = f"news came, and the rest was planned again {replans} times already (max_replans)"
    return when_idle(board, e.Ended(board.now, "stopped", reason))


@only_if(lambda policy, _started: policy.failure == "stop")
def stop_at_failure(board: Board, policy: Settings) -> Choice | None:
    """With ``failure="stop"``, end the run after a failed step, unless the rest is planned again."""
    if not board.failed:
        return None
    if (
        board[Replanning].ask_again
        or why_replan(board, policy)
        or (board.problems and policy.replan != "never")
    ):
        return None
    return when_idle(
        board,
        e.Ended(board.now, "failed", _first_failure(board) + _replans_used_up(board, policy)),
    )


@only_if(has_planner)
def stop_after_repairs(board: Board, policy: Settings) -> Choice | None:
    """End the run if the planner refused, or wrote more than `max_repairs` invalid plans in a row after the first one."""
    for problem in board.problems:
        if problem.code == "refused":  # there is no plan that the planner could correct
            return when_idle(board, e.Ended(board.now, "failed", problem.message))
    attempts = board.invalid_in_a_row
    if attempts <= policy.max_repairs:
        return None
    problems = "; ".join(map(str, board.problems[:3]))
    reason = (
        f"no valid plan after {attempts} attempts (max_repairs={policy.max_repairs}): {problems}"
    )
    return when_idle(board, e.Ended(board.now, "failed", reason))


@only_if(has_planner)
def replan(board: Board, policy: Settings) -> Choice | None:
    """Ask the planner for the rest if `why_replan` gives a reason."""
    reason = board[Replanning].ask_again or why_replan(board, policy)
    if reason is None:
        return None
    asked = e.PlanStarted(board.now, reason)
    return when_idle(board, asked) if board[News].unread else after_retries(board, asked)


def ask_for_more(board: Board, policy: Settings) -> Choice | None:
    """Ask for the next steps if the plan is done up to its horizon, at most `max_rounds` times."""
    if board.in_flight or board.proposal is None or board.proposal.complete:
        return None
    if not board.has_planner:
        why = "the plan is not complete, and there is no planner to ask for more"
        return e.Ended(board.now, "stopped", why)
    if board[Replanning].rounds >= policy.max_rounds:
        why = f"the planner was asked for more {policy.max_rounds} times (max_rounds)"
        return e.Ended(board.now, "stopped", why)
    return e.PlanStarted(board.now, "horizon")


def fail(board: Board, policy: Settings) -> Choice | None:
    """End the run as failed if a step failed and no later step made up for it."""
    if board.in_flight or board.proposal is None:
        return None
    if board.failed:
        skipped = [step_id for step_id, state in board.state.items() if state == "skipped"]
        behind = f"; skipped behind it: {', '.join(skipped)}" if skipped else ""
        return e.Ended(
            board.now, "failed", _first_failure(board) + behind + _replans_used_up(board, policy)
        )
    if failed := unanswered(board):
        return e.Ended(
            board.now,
            "failed",
            f"step {next(iter(failed))} failed, and no later step was done that answers it",
        )
    return None


def why_replan(
    board: Board, policy: Settings
) -> Literal["failure", "news", "step", "stall"] | None:
    """Return the reason to plan the rest again; None without a reason, or if no replan is left."""
    mine = board[Replanning]
    if not board.has_planner or board.proposal is None or board.problems:
        return None
    if mine.replans < policy.max_replans:
        if board[News].unread:
            return "news"
        if board.failed and policy.replan in ("failure", "step"):
            return "failure"
        if (
            board.failed
            and policy.replan == "stall"
            and not (board.ready or board.unreachable or board.in_flight)
        ):
            return "stall"
    # this is a round, not a replan: no step failed
    done_since = policy.replan == "step" and len(board.results) > mine.results
    return "step" if done_since and mine.rounds < policy.max_rounds and board.unfinished else None


def _first_failure(board: Board) -> str:
    step_id = next(iter(board.failed))
    in_doubt = (
        board[Doubt].attempts[step_id] > 0 and board.effects_of(board.steps[step_id]) != "none"
    )
    return f"step {step_id} failed: {board.errors[step_id]}" + (f"; {UNKNOWN}" if in_doubt else "")


def _replans_used_up(board: Board, policy: Settings) -> str:
    replans = board[Replanning].replans
    used_up = policy.replan != "never" and board.has_planner and replans >= policy.max_replans
    return f"; planned again {replans} times (max_replans={policy.max_replans})" if used_up else ""


CAPABILITY = Capability(
    Replanning,
    folds={e.PlanStarted: _asked, e.Requeued: _requeued},
    before_plan=_before_plan,
    plan_checks=(failures_passed_over, tried_before),
    check_settings=check,
)
