"""Which steps need an undo of their own, where a plan has to say how it is taken back (`Policy.require_undo`).

A rollback takes back what a run inside a step did, step by step (`board.inside`). So a step that is carried out as a run needs
no undo, if the plans of that run have to say it themselves.
"""

from __future__ import annotations

from planexec_lite.executors import Executor, agent_inside
from planexec_lite.plan import Plan, Problem


def without_undo(plan: Plan, executor: Executor) -> list[Problem]:
    """Return what `Plan.without_undo` does, but for the steps whose undo is asked for inside them."""
    asked_inside = {
        step.id
        for step in plan.steps
        if (agent := agent_inside(executor, step)) is not None and agent.policy.require_undo
    }
    return [one for one in plan.without_undo(executor.tools) if one.step not in asked_inside]
