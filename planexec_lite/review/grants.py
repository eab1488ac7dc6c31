"""Grants: whether a later plan stays within what a reviewer allowed when approving an earlier one."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.plan import Plan, Step, lineages


def granting_reviewer(board: Board, plan: Plan) -> str:
    """Return the name of the reviewer whose grant covers `plan`, "" if none does. See `Grant` for the bounds.

    What was started under the grant counts too, so that small steps don't add up to more than was granted. A step that must
    run at most once, or that may delete or overwrite something, is covered only if all that it depends on is, too; and one
    that was tried is not tried again without being asked. What an approved
    step said to be careful with, no later step does without care.
    """
    if board.approvals.grant_scope is None:
        return ""
    grant, approved, by, rollback = board.approvals.grant_scope
    new: list[Step] = []
    for step in (*(board.approvals.begun or ()), *plan.steps):
        if step not in approved and step not in new:
            new.append(step)
    known = {step.tool for step in approved if not step.gate}
    careful = {step.tool for step in approved if board.once.needs_approval(step)}
    once = [step for step in plan.steps if step.tool in careful or board.once.needs_approval(step)]
    steps = board.steps | {step.id: step for step in plan.steps}
    calls = [step.undo for step in new if step.undo] + [call for call in plan.rollback if call not in rollback]
    within = (
        len(new) <= grant.new_steps
        and all(step.tool in known and not step.gate for step in new)
        and all(step in approved and step.id not in board.table.attempt for step in once)
        and board.approvals.covered >= lineages(steps, [step.id for step in once])
        and all(call.tool in known for call in calls)
    )
    return by if within else ""
