"""Deadlines (lesson 09): after the deadline of a run no step starts, and the run stops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pydantic import NonNegativeFloat

from planexec_lite.capabilities.judging import JudgeStarted
from planexec_lite.core import Board, Capability, Choice, only_with, when_idle
from planexec_lite.core.events import Ended, Job, PlanStarted


@dataclass(frozen=True)
class Settings:
    """The time at which the run stops. See `Policy`."""

    deadline: NonNegativeFloat | None = None


def until_deadline(policy: Settings, now: float, seconds: float = math.inf) -> float:
    """Return `seconds`, or the seconds from `now` until the deadline if those are fewer."""
    if policy.deadline is None:
        return seconds
    return min(seconds, max(0.0, round(policy.deadline - now, 9)))


@only_with("deadline")
def stop_at_deadline(board: Board, policy: Settings) -> Choice | None:
    """Stop the run at its deadline, unless everything is planned and done."""
    if until_deadline(policy, board.now) > 0:
        return None
    plan = board.proposal
    if plan is not None and plan.complete and not (board.problems or board.unfinished):
        return None
    reason = f"the deadline of {policy.deadline:g} s has passed"
    return when_idle(board, Ended(board.now, "stopped", reason))


def context(agent: Any, run: Any, _job: Job) -> dict[str, Any]:
    """Return the seconds that a planner or an evaluator has. It can only read them; a step's task has its own limit."""
    limit = until_deadline(agent.policy, run.board.now)
    return {} if limit == math.inf else {"limit": limit}


CAPABILITY = Capability(
    context=dict.fromkeys((PlanStarted, JudgeStarted), context),
)
