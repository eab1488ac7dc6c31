"""Grants: whether a later plan stays within what a reviewer allowed when approving an earlier one."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.plan import Plan, Step
from planexec_lite.tools import Toolbox


def granted_by(board: Board, plan: Plan, tools: Toolbox) -> str:
    """Return the name of the reviewer whose grant covers `plan`, "" if none does. See `Grant` for the bounds.

    What was started under the grant counts too, so that small steps don't add up to more than was granted; and a step that
    may be done once, and was tried, is not tried again without being asked.
    """
    if board.granted is None:
        return ""
    grant, approved, by, rollback = board.granted
    new: list[Step] = []
    for step in (*(board.begun or ()), *plan.steps):
        if step not in approved and step not in new:
            new.append(step)
    known = {step.tool for step in approved if not step.gate}
    once = [step for step in plan.steps if step.effects_with(tools.effects) == "once"]
    calls = [step.undo for step in new if step.undo] + [call for call in plan.rollback if call not in rollback]
    within = (
        len(new) <= grant.new_steps
        and all(step.tool in known and not step.gate for step in new)
        and all(step in approved and step.id not in board.attempt for step in once)
        and all(call.tool in known for call in calls)
    )
    return by if within else ""
