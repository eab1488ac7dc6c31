"""Chosen calls (lesson 07): the calls that a step's executor chooses, which no plan names, wait for a person, each by itself.

`tools.approved` has the rule for each call. A step that pauses for a call starts again after the yes, and then exactly that call is
allowed. The calls that it made before the pause are not made again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planexec_lite.capabilities.doubt import StepInDoubt
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import WAIT, Answer, Board, Capability, Part, when_idle
from planexec_lite.core import events as e
from planexec_lite.meter import current
from planexec_lite.plan import Plan
from planexec_lite.references import MissingResultError, resolve
from planexec_lite.tools import ApprovedCalls, MadeCall, Toolbox

MOST_QUESTIONS = 20  # of each step


class Chosen(NamedTuple):
    """A step's calls: the call that waits for a person and why, the calls that are allowed, and those that were made."""

    waits: str
    why: str
    allowed: tuple[str, ...] = ()
    made: tuple[MadeCall, ...] = ()


@dataclass
class ChosenCalls(Part):
    """The steps that paused before a call, and how often each has asked."""

    steps: dict[str, Chosen] = field(default_factory=dict)
    questions: Counter[str] = field(default_factory=Counter)


def _paused(board: Board, event: e.StepPaused) -> None:
    if event.call:
        mine = board[ChosenCalls]
        mine.questions[event.step] += 1
        mine.steps[event.step] = Chosen(event.call, event.reason, made=event.made)


def _ended(board: Board, event: e.StepDone | e.StepFailed) -> None:
    board[ChosenCalls].steps.pop(event.step, None)


def _interrupted(board: Board, event: e.Requeued | StepInDoubt) -> None:
    mine, id = board[ChosenCalls], event.step or ""
    cancelled = isinstance(event, e.Requeued) and event.reason == "cancelled"
    if not cancelled and id in mine.steps:  # the call that a person allowed might have been made
        mine.steps[id] = mine.steps[id]._replace(allowed=())


def _reviewed(board: Board, event: e.Reviewed) -> None:
    mine, id = board[ChosenCalls], event.step or ""
    if event.verdict == "approve" and board.paused is not None and board.paused.about == "call" and id in mine.steps:
        mine.steps[id] = mine.steps[id]._replace(waits="", allowed=(mine.steps[id].waits,))


def _before_plan(board: Board, plan: Plan | None) -> None:
    if plan is not None:  # the calls of a kept step stay made; the permissions were for the plan before
        mine, kept = board[ChosenCalls], board.kept_by(plan)
        mine.steps = {id: one._replace(allowed=()) for id, one in mine.steps.items() if id in kept}


CAPABILITY = Capability(
    ChosenCalls,
    folds={
        e.StepPaused: _paused,
        e.StepDone: _ended,
        e.StepFailed: _ended,
        e.Requeued: _interrupted,
        StepInDoubt: _interrupted,
        e.Reviewed: _reviewed,
    },
    before_plan=_before_plan,
)


def ask_before_call(board: Board, policy: object, event: e.StepStarted, executor: Any) -> Answer:
    """Guard: pause before a step whose executor chose a call that needs the approval of a person."""
    mine = board[ChosenCalls]
    if event.step not in mine.steps:
        return event
    one = mine.steps[event.step]
    if mine.questions[event.step] > MOST_QUESTIONS:
        error = f"it asked a person about more than {MOST_QUESTIONS} calls: {one.why}"
        return e.StepBlocked(event.at, event.step, error, event.attempt, event.attempts, final=True)
    if not one.waits:
        return event
    return when_idle(board, e.Paused(board.now, "gate", event.step, why=one.why, about="call"), WAIT)


def context(agent: Any, run: Any, job: e.StepStarted) -> dict[str, Any]:
    """Return which calls the step is allowed to make; nothing if none of its calls needs an approval.

    A nested run of a reviewed run usually has no reviewer, and no person has seen its plan. Of its calls, only the call
    that the outer step names is approved, and only for one step.
    """
    meter, board, id = current.get(), run.board, job.step
    outer = meter.calls_log.approved if meter is not None and meter.calls_log is not None else None
    asks_models = getattr(agent.executor, "asks_models", True)
    approved_outside = outer.text if outer is not None and outer.asks and not board.has_reviewer else None
    if not asks_models and approved_outside is None:
        return {}
    step, text = board.steps[id], named_call(board, id, agent.executor.tools)
    tool, asks, chosen = step.tool, board.has_reviewer, board[ChosenCalls].steps.get(id, Chosen("", ""))
    if approved_outside is not None:
        same_tool = any(board.steps[other].tool == tool for other in board.attempt if other != id)
        approved = text == approved_outside and job.attempt == 1 and id not in board[WorkDone].latest and not same_tool
        tool, text, asks = (tool, text, True) if approved else (None, "", True)
    return {"approved": ApprovedCalls(tool, text, asks, chosen.allowed, chosen.made)}


def named_call(board: Board, id: str, tools: Toolbox) -> str:
    """The call that a step names, as `Tool.call_text` writes it; "" if it names none that can be made."""
    step = board.steps[id]
    if step.tool is None or step.tool not in tools:
        return ""
    try:
        return tools[step.tool].call_text(resolve(step.params, board.results))
    except MissingResultError:
        return ""
