"""Grants: whether a later plan stays within what a reviewer allowed when approving an earlier one."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.plan import Plan
from planexec_lite.tools import Toolbox


def granted_by(board: Board, plan: Plan, tools: Toolbox) -> str:
    """Return the name of the reviewer whose grant covers `plan`, "" if none does. See `Grant` for the bounds.

    What was done under the grant counts as new too, so that small steps don't add up to more than was granted.
    """
    if board.granted is None:
        return ""
    grant, approved, by = board.granted
    new = [step for step in (*(board.steps[id] for id in board.done), *plan.steps) if step not in approved]
    known_tools = {step.tool for step in approved}
    by_tool = tools.effects
    within = (
        len(new) <= grant.new_steps
        and all(step.tool in known_tools for step in new)
        and all(step.effects_with(by_tool) != "once" and not step.gate for step in new)
        and all(step.undo is None or step.undo.tool in known_tools for step in new)
        and all(call in board.plan.rollback or call.tool in known_tools for call in plan.rollback)
    )
    return by if within else ""
