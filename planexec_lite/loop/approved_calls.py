"""What the calls of a step may be, where its executor or a run inside it chooses them: see `tools.approved`."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.executors import Executor, asks_models
from planexec_lite.meter import current
from planexec_lite.references import MissingResultError, resolve
from planexec_lite.tools import ApprovedCalls, Toolbox


def approved_calls(board: Board, id: str, executor: Executor) -> ApprovedCalls | None:
    """Return what a step that starts may call; None where each call is one that a person has approved, or need not.

    A run inside a step of a reviewed run has no reviewer of its own as a rule. Nobody has seen its plan, so of its calls only
    the one that the step around it names is approved, and that one for one step.
    """
    meter = current.get()
    around = meter.calls_log.approved if meter is not None and meter.calls_log is not None else None
    step, text = board.steps[id], named_call(board, id, executor.tools)
    chosen = board.approvals.chosen.get(id)
    extra = (chosen.allowed, chosen.made) if chosen else ()
    if around is not None and around.asks and not board.has_reviewer:
        same_tool = [other for other in board.table.attempt if other != id and board.steps[other].tool == step.tool]
        first = board.table.attempt[id][0] == 1 and id not in board.rollback.latest and not same_tool
        approved = first and text == around.text
        return ApprovedCalls(step.tool if approved else None, text if approved else "", True, *extra)
    if not asks_models(executor):
        return None
    return ApprovedCalls(step.tool, text, board.has_reviewer, *extra)


def named_call(board: Board, id: str, tools: Toolbox) -> str:
    """The call that a step names, as `Tool.call_text` writes it; "" where it names none that can be made."""
    step = board.steps[id]
    if step.tool is None or step.tool not in tools:
        return ""
    try:
        return tools[step.tool].call_text(resolve(step.params, board.results))
    except MissingResultError:
        return ""
