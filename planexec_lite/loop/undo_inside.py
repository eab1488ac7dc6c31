"""Which steps need an undo of their own, where a plan has to say how it is taken back (`Policy.require_undo`).

A rollback takes back what a run inside a step did, step by step (`board.inside`). So a step that is carried out as a run needs
no undo, if the plans of that run have to say it themselves.
"""

from __future__ import annotations

from planexec_lite.executors import Executor, HybridExecutor, Team
from planexec_lite.loop.nested import NestedExecutor
from planexec_lite.plan import Plan, Problem, Step


def without_undo(plan: Plan, executor: Executor) -> list[Problem]:
    """Return what `Plan.without_undo` does, but for the steps whose undo is asked for inside them."""
    steps = {step.id: step for step in plan.steps}
    problems = plan.without_undo(executor.tools)
    return [one for one in problems if one.step is None or not _asked_inside(steps[one.step], executor)]


def _asked_inside(step: Step, executor: Executor) -> bool:
    match executor:
        case HybridExecutor():
            return _asked_inside(step, executor.rule if executor.applies(step) else executor.otherwise)
        case Team():
            known = step.tool is None or step.tool in executor.tools.names
            return known and _asked_inside(step, executor.roles[executor.role_of(step)])
        case NestedExecutor():
            return executor.policy.require_undo
    return False
