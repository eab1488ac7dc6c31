"""The check that the tools have not changed since a run began, made before the run continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board
from planexec_lite.plan import Plan
from planexec_lite.tools import Effects, Toolbox


def check_tools(board: Board, tools: Toolbox, effects: Mapping[str, Effects]) -> None:
    """Raise `ValueError` if tools that the run still needs have changed since it began.

    The check covers the tools of the unfinished steps, the tools that a rollback calls, and all tools if a planner or a
    model can still choose among them. For a run that has ended, it covers only the rollback's tools.

    Args:
        effects: the current effects of the tools, by name.
    """
    started = board.started
    if started.pins == tools.pins and started.effects == effects:
        return
    if changes := "; ".join(dict.fromkeys(_changes(board, tools, effects))):
        raise ValueError(
            f"the tools have changed since this run began: {changes}. Resume it with the tools that "
            "it began with, or start a new run"
        )


def _changes(board: Board, tools: Toolbox, effects: Mapping[str, Effects]) -> Iterator[str]:
    """Yield what has changed: the tools of the unfinished steps and their undos, those that can still be chosen, and those of a
    rollback.
    """
    started, now = board.started, tools.pins
    others = {tool for tool, pin in started.pins.items() if now.get(tool) != pin}
    # whether a planner, or the model or agent of an unfinished step, can still choose among all tools
    can_choose = board.has_planner and not board.ended
    for step_id in () if board.ended else board.unfinished:
        step, changes = board.steps[step_id], list[str]()
        if step_id in board.model_chooses or (step.tool is None and started.models_in_steps):
            can_choose = True
        for call in (step, step.undo):
            tool = "" if call is None else call.tool or ""
            before, after = started.effects.get(tool, "none"), effects.get(tool, "none")
            if before != after:
                changes.append(f'the effects of {tool} were "{before}", and are "{after}"')
            elif tool in others:
                changes.append(f"{tool} is not the tool that the plan was made with")
        if changes:  # its dependencies were checked when the plan was received
            problems = Plan(steps=(step,)).problems(tools, done=board.steps.keys() - {step_id})
            changes = [*(problem.message for problem in problems), *changes]
        yield from (f"step {step_id}: {change}" for change in changes)
    for one in tools if can_choose else ():
        if one.name in others:
            yield f"{one.name} is not the tool that the run began with"
        elif one.name not in started.pins and effects.get(one.name, "none") != "none":
            yield f"{one.name} is new, and has effects"
    work = board[WorkDone]
    undos = [(f"the undo of step {one.step.id}", one.call) for one in work.pieces.values() if one]
    undos += [("the rollback", call) for call in work.listed_calls]
    for where, undo in undos:
        if undo is not None and undo.tool in others:
            yield f"{where}: {undo.tool} is not the tool that the plan was made with"
