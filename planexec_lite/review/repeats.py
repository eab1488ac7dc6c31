"""Repeats: whether a step that may be done once would do again what was done before, under another id or in other words.

Calls are compared as their tool receives them: references resolved, defaults filled in; what Python calls equal is
alike. Steps of one plan that make the same call are what that plan says; what counts is a call of an earlier plan.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.board import Board
from planexec_lite.board.once_calls import Spent
from planexec_lite.events import Event, Paused, StepHeld, StepStarted
from planexec_lite.plan import Step
from planexec_lite.references import MissingResultError, find, resolve
from planexec_lite.tools import Toolbox
from planexec_lite.tools.plain_data import text_of as json_text


def call_of(step: Step, board: Board, tools: Toolbox) -> Any:
    """Return what `step` does, equal for equal calls; None while a result that it uses is missing.

    A step that leaves the choice of the tool to its executor is taken by its task and by what it is given.
    """
    results = board.results
    if not results.keys() >= _needs(step):
        return None
    try:
        params = resolve(step.params, results)
        if step.tool is None:
            call: Any = [step.description, params, [results[id] for id in step.depends_on]]
        else:
            tool = tools[step.tool]
            call = [step.tool, tool.with_defaults(tool.arguments(params))]
    except Exception:  # the call can't be made: a validator of the tool may raise anything
        return None
    return call


def text_of(step: Step, board: Board, tools: Toolbox) -> str:
    """Return the call of `step` as text, the same for equal calls, whatever the step is called.

    A step without a tool is told by its words and by what it is given.
    """
    try:
        params = resolve(step.params, board.results)
    except MissingResultError:
        params = dict(step.params)
    if step.tool is not None and step.tool in tools:
        return tools[step.tool].call_text(params)
    return json_text([step.tool, step.description, params, [board.results.get(id) for id in step.depends_on]])


def repeated(step: Step, plan: int, board: Board, tools: Toolbox) -> Spent | None:
    """Return the latest call that `step` would make again in plan number `plan`, None if there is none.

    It was done, or it was given up and nobody knows, or it came to its end and its result did not count. What counts is
    what was said of the call when it was made: a later plan can't say that a repeat does no harm.
    """
    before = board.once.before(step, plan, board.table)
    before = [one for one in reversed(before) if one.step.tool == step.tool]
    call = call_of(step, board, tools) if before else None
    if call is None:
        return None
    text = text_of(step, board, tools)
    return next(
        (one for one in before if call_of(one.step, board, tools) == call or text_of(one.step, board, tools) == text),
        None,
    )


def held(event: Event, board: Board, tools: Toolbox) -> Event:
    """Return `event`; but where it starts, or asks for, a step that would repeat what may be done once, what holds it.

    A repeat that a reviewer could see when approving the plan was approved; one that came out of later results was not.
    """
    if not isinstance(event, StepStarted | Paused) or event.step is None or board.rollback.begun:
        return event
    if event.step in board.opened or event.step in board.approvals.held or event.step in board.cut_off:
        return event
    step = board.steps[event.step]
    approvals = board.approvals
    other = repeated(step, board.table.plans, board, tools)
    if other is None or (other.approvals < approvals.given and approvals.seen >= _needs(step)):
        return event
    return StepHeld(event.at, step.id, f"step {other.step.id} has made the same call before, and it may be done once")


def _needs(step: Step) -> set[str]:
    """The steps whose results decide what `step` does."""
    return set(step.depends_on) if step.tool is None else {named.step for named in find(step.params)}
