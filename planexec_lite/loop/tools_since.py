"""Whether the tools are still those that a run began with: looked at before anybody goes on with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planexec_lite.board import Board
from planexec_lite.plan import Plan
from planexec_lite.tools import Effects, Toolbox


def check_tools(board: Board, tools: Toolbox, effects: Mapping[str, Effects]) -> None:
    """Raise `ValueError`, which names every step that is not done and can't be carried out with the tools as they are now.

    `effects` is what the tools do to the world now; the board knows what they did when the run began.
    """
    if board.ended is None and (changes := [*_changes(board, tools, effects)]):
        raise ValueError(
            f"the tools have changed since this run began: {'; '.join(changes)}. Resume it with the tools that it began with, "
            "or start a new run"
        )


def _changes(board: Board, tools: Toolbox, effects: Mapping[str, Effects]) -> Iterator[str]:
    before = board.once.effects
    for id in board.unfinished:
        step = board.steps[id]
        # what it waits for was checked when the plan came in
        for problem in Plan(steps=(step,)).problems(tools, done=board.steps.keys() - {id}):
            yield f"step {id}: {problem.message}"
        for call in (step, step.undo):
            if call is None or call.tool is None or before.get(call.tool, "none") == effects.get(call.tool, "none"):
                continue
            was, now = before.get(call.tool, "none"), effects.get(call.tool, "none")
            yield f'step {id}: the effects of {call.tool} were "{was}", and are "{now}"'
