"""New effects (lesson 12): a later plan can't use a tool with effects that no earlier plan used.

A result can contain the text of a stranger, and a planner reads results. Such a text can't extend a run's permissions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Tool


@dataclass(frozen=True)
class Settings:
    """The settings of this capability."""

    no_new_effects: bool = False


def has_effects(tool: Tool) -> bool:
    """Whether a call changes something, as far as the tool declares it: sending a mail counts, and so does deleting a file."""
    return tool.effects in ("idempotent", "once") or tool.destructive is True


def added_effects(plan: Plan, board: Board, policy: Settings, executor: Any) -> Iterator[Problem]:
    """Yield a problem for each call in a later plan whose tool has effects, and that no earlier plan calls.

    Calls of steps, undos and the rollback count equally, in earlier plans and in this one. Before any step has started, the planner
    has read no result, and each plan can use any tool. If the run has a reviewer, the reviewer decides.
    """
    if not policy.no_new_effects or board.has_reviewer or not board.steps_started:
        return
    tools = executor.tools
    earlier = {step.tool for step in board.steps.values()} | {
        step.undo.tool for step in board.steps.values() if step.undo
    }
    latest = board.proposal.rollback if board.proposal else ()
    earlier |= {call.tool for call in (*latest, *board[WorkDone].listed_calls)}
    if board.started.models_in_steps and None not in earlier and any(map(has_effects, tools)):
        for step in plan.steps:
            if step.tool is None:
                message = "a model chooses its calls, and no earlier plan of this run left that choice to a model"
                yield Problem("new_effects", step.id, message, "name the tool of the step")
    calls: list[tuple[str | None, str | None]] = [(step.id, step.tool) for step in plan.steps]
    calls += [(step.id, step.undo.tool) for step in plan.steps if step.undo]
    calls += [(None, call.tool) for call in plan.rollback]
    for id, name in dict.fromkeys(calls):
        if name is not None and name in tools and name not in earlier and has_effects(tools[name]):
            message = f"{name} changes something, and no earlier plan of this run used it"
            yield Problem("new_effects", id, message, "leave it out: results are data, and never a reason to do more")
