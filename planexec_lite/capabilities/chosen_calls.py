"""Chosen calls (lesson 07): the calls that a step's executor chooses, which no plan names, wait for a person one by one.

The rule that is applied to each call is in `tools.approved`. A step that pauses for a call starts again after the yes, and
then exactly that call may run; calls that it made before it paused are not made again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planexec_lite.capabilities.doubt import StepInDoubt
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.core import WAIT, Answer, Board, Capability, Event, Part, when_idle
from planexec_lite.core.events import (
    Job,
    Paused,
    Requeued,
    Reviewed,
    StepBlocked,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.meter import current
from planexec_lite.plan import Plan
from planexec_lite.references import MissingResultError, resolve
from planexec_lite.tools import ApprovedCalls, MadeCall, Toolbox

MOST_QUESTIONS = 20  # that one step may ask


class Chosen(NamedTuple):
    """The calls of a step: the one that waits for a person and why, those allowed, those made."""

    waits: str
    why: str
    allowed: tuple[str, ...] = ()
    made: tuple[MadeCall, ...] = ()


@dataclass
class ChosenCalls(Part):
    """The steps that paused before a call, and how often each has asked."""

    steps: dict[str, Chosen] = field(default_factory=dict)
    questions: Counter[str] = field(default_factory=Counter)


def _paused(board: Board, event: StepPaused) -> None:
    if event.call:
        mine = board[ChosenCalls]
        mine.questions[event.step] += 1
        mine.steps[event.step] = Chosen(event.call, event.reason, made=event.made)


def _ended(board: Board, event: StepDone | StepFailed) -> None:
    board[ChosenCalls].steps.pop(event.step, None)


def _interrupted(board: Board, event: Requeued | StepInDoubt) -> None:
    mine, id = board[ChosenCalls], event.step or ""
    cancelled = isinstance(event, Requeued) and event.reason == "cancelled"
    if not cancelled and id in mine.steps:  # the call that a person allowed may have been made
        mine.steps[id] = mine.steps[id]._replace(allowed=())


def _reviewed(board: Board, event: Reviewed) -> None:
    mine, id = board[ChosenCalls], event.step or ""
    if event.verdict == "approve" and board.paused is not None and board.paused.about == "call" and id in mine.steps:
        mine.steps[id] = mine.steps[id]._replace(waits="", allowed=(mine.steps[id].waits,))


def _before_plan(board: Board, plan: Plan | None) -> None:
    if plan is not None:  # what a kept step has made stays made; what a person allowed was for the plan before
        mine = board[ChosenCalls]
        kept = {step.id for step in plan.steps if board.steps.get(step.id) == step}
        mine.steps = {id: one._replace(allowed=()) for id, one in mine.steps.items() if id in kept}


CAPABILITY = Capability(
    ChosenCalls,
    folds={
        StepPaused: _paused,
        StepDone: _ended,
        StepFailed: _ended,
        Requeued: _interrupted,
        StepInDoubt: _interrupted,
        Reviewed: _reviewed,
    },
    before_plan=_before_plan,
)


def ask_before_call(board: Board, policy: object, event: Event, executor: Any) -> Answer:
    """Guard: pause before a step whose executor chose a call that needs a person's yes."""
    mine = board[ChosenCalls]
    if not mine.steps or not isinstance(event, StepStarted) or event.step not in mine.steps:
        return event
    one = mine.steps[event.step]
    if mine.questions[event.step] > MOST_QUESTIONS:
        error = f"it asked a person about more than {MOST_QUESTIONS} calls: {one.why}"
        return StepBlocked(event.at, event.step, error, event.attempt, event.attempts, final=True)
    if not one.waits:
        return event
    return when_idle(board, Paused(board.now, "gate", event.step, why=one.why, about="call"), WAIT)


def context(agent: Any, run: Any, job: Job) -> dict[str, Any]:
    """Return what a step may call; nothing if each call is one that a person has approved, or need not approve.

    A run inside a step of a reviewed run usually has no reviewer of its own. Nobody has seen its plan, so of its calls only
    the one that the step around it names is approved, and that one for one step.
    """
    if not isinstance(job, StepStarted):
        return {}
    meter, board, id = current.get(), run.board, job.step
    around = meter.calls_log.approved if meter is not None and meter.calls_log is not None else None
    asks_models = getattr(agent.executor, "asks_models", True)
    if around is None and not asks_models:
        return {}
    step, text = board.steps[id], named_call(board, id, agent.executor.tools)
    chosen = board[ChosenCalls].steps.get(id)
    extra = (chosen.allowed, chosen.made) if chosen else ()
    if around is not None and around.asks and not board.has_reviewer:
        same_tool = [other for other in board.attempt if other != id and board.steps[other].tool == step.tool]
        first = job.attempt == 1 and id not in board[Rollback].latest and not same_tool
        approved = first and text == around.text
        return {"approved": ApprovedCalls(step.tool if approved else None, text if approved else "", True, *extra)}
    if not asks_models:
        return {}
    return {"approved": ApprovedCalls(step.tool, text, board.has_reviewer, *extra)}


def named_call(board: Board, id: str, tools: Toolbox) -> str:
    """The call that a step names, as `Tool.call_text` writes it; "" if it names none that can be made."""
    step = board.steps[id]
    if step.tool is None or step.tool not in tools:
        return ""
    try:
        return tools[step.tool].call_text(resolve(step.params, board.results))
    except MissingResultError:
        return ""
