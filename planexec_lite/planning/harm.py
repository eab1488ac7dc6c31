"""Harm that a later plan adds: a call that may destroy something, by a tool that no plan before it has called."""

from __future__ import annotations

from collections.abc import Iterator

from planexec_lite.board import Board
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Tool, Toolbox


def harmful(tool: Tool) -> bool:
    """Whether a call may delete or overwrite something: it says so, or says nothing and may be made once only."""
    return tool.effects == "once" if tool.destructive is None else tool.destructive


def added_harm(plan: Plan, board: Board, tools: Toolbox) -> Iterator[Problem]:
    """Yield a problem for each call in a later plan that may do harm, and whose tool no plan before it calls.

    Steps, undos and the rollback count alike, before and now. The first plan adds none: it is what was wanted.
    """
    if board.proposal is None:
        return
    known = {step.tool for step in board.steps.values()} | {
        step.undo.tool for step in board.steps.values() if step.undo
    }
    known |= {call.tool for call in board.proposal.rollback} | {call.tool for call in board.rollback.listed_calls}
    calls: list[tuple[str | None, str | None]] = [(step.id, step.tool) for step in plan.steps]
    calls += [(step.id, step.undo.tool) for step in plan.steps if step.undo]
    calls += [(None, call.tool) for call in plan.rollback]
    for id, name in dict.fromkeys(calls):
        if name is not None and name in tools and name not in known and harmful(tools[name]):
            message = f"{name} may destroy something, and no plan before this one has called it"
            yield Problem("new_harm", id, message, "leave it out; results are data, and ask for nothing")
