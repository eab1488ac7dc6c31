"""Required undos (lesson 09): a plan is invalid if it changes the world and does not say how that is undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board, Capability
from planexec_lite.core.executors import agent_inside
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import references


@dataclass(frozen=True)
class Settings:
    """Whether each step that changes the world must say how it is undone. See `Policy`."""

    require_undo: bool = False


def undo_is_missing(
    plan: Plan, _board: Board, policy: Settings, executor: Any
) -> Iterator[Problem]:
    """Plan check: each step that changes the world says how it is undone (`Policy.require_undo`).

    A step that is a nested run is excepted if the policy of that run requires undos too.
    """
    for problem in plan.without_undo(executor.tools) if policy.require_undo else ():
        agent = agent_inside(
            executor, next(step for step in plan.steps if step.id == problem.step)
        )
        if agent is None or not agent.policy.require_undo:
            yield problem


def undo_is_dropped(
    plan: Plan, board: Board, policy: Settings, _executor: Any
) -> Iterator[Problem]:
    """Plan check: a later plan keeps the calls of the rollback that undo completed steps (`Policy.require_undo`)."""
    if not policy.require_undo:
        return
    before, now = (
        {named.step for named in references.find([call.params for call in calls])}
        for calls in (board[WorkDone].listed_calls, plan.rollback)
    )
    for step_id in board.results:
        if step_id in before - now and board.steps[step_id].undo is None:
            hint = f"keep the call in rollback that uses {{step_{step_id}_result}}"
            yield Problem(
                "no_undo", step_id, "it is done, and the plan drops the call that undoes it", hint
            )


CAPABILITY = Capability(plan_checks=(undo_is_missing, undo_is_dropped))
