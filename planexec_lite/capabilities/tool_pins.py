"""The check that the tools have not changed since a run began, made before the run continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board
from planexec_lite.plan import Call, Plan
from planexec_lite.tools import Effects, Toolbox


def check_tools(board: Board, tools: Toolbox, effects: Mapping[str, Effects]) -> None:
    """Raise `ValueError` if tools that the run still needs have changed since it began.

    The check covers the tools of the unfinished steps, the tools that a rollback calls, and all tools if a planner or a
    model can still choose among them. For a run that has ended, it covers only the rollback's tools.

    Args:
        effects: the current effects of the tools, by name.
    """
    started, now = board.started, tools.pins
    if started.pins == now and started.effects == effects:
        return
    others = {tool for tool, pin in started.pins.items() if now.get(tool) != pin}
    changes = [*_changed_undos(board, others)]
    if board.ended is None:
        changes = [
            *_changed_tools(board, tools, effects, others),
            *_changed_choices(board, tools, effects, others),
            *changes,
        ]
    if changes:
        raise ValueError(
            f"the tools have changed since this run began: {'; '.join(dict.fromkeys(changes))}. Resume it with the tools that "
            "it began with, or start a new run"
        )


def _changed_tools(
    board: Board, tools: Toolbox, effects: Mapping[str, Effects], others: set[str]
) -> Iterator[str]:
    """Yield what has changed about the tools of the unfinished steps and of their undos."""
    before = board.started.effects
    for step_id in board.unfinished:
        step, changes = board.steps[step_id], list[str]()
        for call in (step, step.undo):
            if call is None or call.tool is None:
                continue
            was, now = before.get(call.tool, "none"), effects.get(call.tool, "none")
            if was != now:
                changes.append(f'the effects of {call.tool} were "{was}", and are "{now}"')
            elif call.tool in others:
                changes.append(f"{call.tool} is not the tool that the plan was made with")
        if changes:  # its dependencies were checked when the plan was received
            problems = Plan(steps=(step,)).problems(tools, done=board.steps.keys() - {step_id})
            changes = [*(problem.message for problem in problems), *changes]
        yield from (f"step {step_id}: {change}" for change in changes)


def _changed_choices(
    board: Board, tools: Toolbox, effects: Mapping[str, Effects], others: set[str]
) -> Iterator[str]:
    """Yield the changed or new tools among those that a later plan, or a step's model or agent, could choose."""
    by_model = board.started.models_in_steps
    if not board.has_planner and not any(
        step_id in board.model_chooses or (by_model and board.steps[step_id].tool is None)
        for step_id in board.unfinished
    ):
        return
    pins = board.started.pins
    for tool in tools:
        if tool.name not in pins and effects.get(tool.name, "none") != "none":
            yield f"{tool.name} is new, and has effects"
        elif tool.name in others:
            yield f"{tool.name} is not the tool that the run began with"


def _changed_undos(board: Board, others: set[str]) -> Iterator[str]:
    """Yield the changed tools among those that a rollback calls."""
    mine = board[WorkDone]
    for one in mine.pieces.values():
        if one.undo is None:
            continue
        undo = Call.model_validate_json(one.undo)
        if undo.tool in others:
            yield f"step {one.step.id}: {undo.tool}, its undo, is not the tool that the plan was made with"
    for call in mine.listed_calls:
        if call.tool in others:
            yield f"the rollback: {call.tool} is not the tool that the plan was made with"
