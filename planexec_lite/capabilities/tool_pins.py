"""The check that the tools have not changed since a run began, made before the run continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board
from planexec_lite.plan import Call, Plan
from planexec_lite.tools import Effects, Toolbox


def check_tools(board: Board, tools: Toolbox, effects: Mapping[str, Effects], *, rollback: bool = False) -> None:
    """Raise `ValueError` if tools that the run still needs have changed since it began.

    The check covers the tools of the unfinished steps, the tools that a rollback calls, and all tools if a planner or a
    model can still choose among them. For a run that has ended, it covers only the rollback's tools, and only with
    `rollback`.

    Args:
        effects: the current effects of the tools, by name.
    """
    changes: list[str] = []
    if board.ended is None:
        changes += _changed_tools(board, tools, effects)
        changes += _changed_choices(board, tools, effects)
    if board.ended is None or rollback:
        changes += _changed_undos(board, tools)
    if changes:
        raise ValueError(
            f"the tools have changed since this run began: {'; '.join(dict.fromkeys(changes))}. Resume it with the tools that "
            "it began with, or start a new run"
        )


def _changed_tools(board: Board, tools: Toolbox, effects: Mapping[str, Effects]) -> Iterator[str]:
    before = board.started.effects
    for id in board.unfinished:
        step = board.steps[id]
        # its dependencies were checked when the plan was received
        for problem in Plan(steps=(step,)).problems(tools, done=board.steps.keys() - {id}):
            yield f"step {id}: {problem.message}"
        for call in (step, step.undo):
            if call is None or call.tool is None:
                continue
            was, now = before.get(call.tool, "none"), effects.get(call.tool, "none")
            if was != now:
                yield f'step {id}: the effects of {call.tool} were "{was}", and are "{now}"'
            elif _is_another(call.tool, board, tools):
                yield f"step {id}: {call.tool} is not the tool that the plan was made with"


def _changed_choices(board: Board, tools: Toolbox, effects: Mapping[str, Effects]) -> Iterator[str]:
    """Yield the changed or new tools among those that a later plan, or a step's model or agent, could choose."""
    left = [board.steps[id] for id in board.unfinished]
    chosen = any(step.id in board.model_chooses for step in left)
    by_model = board.started.models_in_steps and any(step.tool is None for step in left)
    if not (board.has_planner or chosen or by_model):
        return
    pins = board.started.pins
    named = {call.tool for step in left for call in (step, step.undo) if call}
    for tool in tools:
        if tool.name not in pins and effects.get(tool.name, "none") != "none":
            yield f"{tool.name} is new, and has effects"
        elif tool.name not in named and _is_another(tool.name, board, tools):
            yield f"{tool.name} is not the tool that the run began with"


def _changed_undos(board: Board, tools: Toolbox) -> Iterator[str]:
    """Yield the changed tools among those that a rollback calls."""
    mine = board[WorkDone]
    for one in mine.completed.values():
        undo = None if one.undo is None else Call.model_validate_json(one.undo)
        if undo is not None and _is_another(undo.tool, board, tools):
            yield f"step {one.step.id}: {undo.tool}, its undo, is not the tool that the plan was made with"
    for call in mine.listed_calls:
        if _is_another(call.tool, board, tools):
            yield f"the rollback: {call.tool} is not the tool that the plan was made with"


def _is_another(tool: str, board: Board, tools: Toolbox) -> bool:
    pins = board.started.pins
    return tool in pins and tools.pins.get(tool) != pins[tool]
