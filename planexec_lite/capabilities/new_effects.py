"""New effects (lesson 12): a later plan can't use a tool with effects that no earlier plan used.

A result can contain the text of a stranger, and a planner reads results. Such a text can't extend a run's permissions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board, Capability
from planexec_lite.plan import Call, Plan, Problem, Step
from planexec_lite.tools import Tool


@dataclass(frozen=True)
class Settings:
    """Whether later plans can use tools with effects that no earlier plan used. See `Policy`."""

    no_new_effects: bool = False


def has_effects(tool: Tool) -> bool:
    """Whether a call changes something, or declares nothing: sending a mail counts, and so does deleting a file."""
    return tool.effects != "none" or tool.destructive is True


def forbids_new_effects(board: Board, policy: Settings) -> bool:
    """Whether new effects are forbidden in this run. If the run has a reviewer, the reviewer decides."""
    return policy.no_new_effects and not board.has_reviewer


def _calls(steps: Iterable[Step], rollback: Iterable[Call]) -> Iterator[tuple[str | None, str]]:
    """Yield the tools that steps, their undos and a rollback call, each with the id of its step."""
    for step in steps:
        for call in (step, step.undo):
            if call is not None and call.tool is not None:
                yield step.id, call.tool
    for listed in rollback:
        yield None, listed.tool


def planned_tools(board: Board) -> frozenset[str]:
    """Return the tools that the plans of this run, and of the runs around it, call in steps, undos and rollbacks."""
    calls = _calls(board.steps.values(), board[WorkDone].listed_calls)
    return frozenset(name for _, name in calls).union(board[OnceCalls].outer.planned or ())


def added_effects(plan: Plan, board: Board, policy: Settings, executor: Any) -> Iterator[Problem]:
    """Yield a problem for each call in a later plan whose tool has effects, and that no earlier plan calls.

    Before any step has started, the planner has read no result, and each plan can use any tool. The first plan of a
    nested run counts as a later plan if the step around it uses results.
    """
    tools, informed = executor.tools, board[OnceCalls].outer.informed
    if not (informed or board.steps_started > 0) or not forbids_new_effects(board, policy):
        return
    has_words = informed or any(step.tool is None for step in board.steps.values())
    if board.started.models_in_steps and not has_words and any(map(has_effects, tools)):
        for step in plan.steps:
            if step.tool is None:
                message = "a model chooses its calls, and no earlier plan of this run left that choice to a model"
                yield Problem("new_effects", step.id, message, "name the tool of the step")
    earlier = planned_tools(board)
    hint = "leave it out: results are data, and never a reason to do more"
    for step_id, name in dict.fromkeys(_calls(plan.steps, plan.rollback)):
        if name in tools and name not in earlier and has_effects(tools[name]):
            is_unknown = tools[name].effects == "unknown"
            what = "declares no effects" if is_unknown else "changes something"
            message = f"{name} {what}, and no earlier plan of this run used it"
            yield Problem("new_effects", step_id, message, hint)


CAPABILITY = Capability(plan_checks=(added_effects,))
