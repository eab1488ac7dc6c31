"""Chosen calls (lesson 07): the calls that a step's executor chooses, which no plan names, wait for a person, each by itself.

`tools.approved` has the rule for each call. A step that pauses for a call starts again after the yes, and then exactly that call is
allowed. The calls that it made before the pause are not made again.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any, NamedTuple

from planexec_lite.capabilities.approval import ask_about_step
from planexec_lite.capabilities.doubt import StepInDoubt
from planexec_lite.capabilities.new_effects import forbids_new_effects, planned_tools
from planexec_lite.capabilities.once_calls import OnceCalls, known_calls
from planexec_lite.capabilities.stepping import asks_models
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board, Capability, Choice, Part
from planexec_lite.core.events import (
    Requeued,
    Reviewed,
    StepBlocked,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.core.questions import Question
from planexec_lite.meter import job_meter
from planexec_lite.plan import Plan
from planexec_lite.tools import ApprovedCalls, MadeCall, references
from planexec_lite.tools.approved import LANE

MOST_QUESTIONS = 20  # of each step


class Chosen(NamedTuple):
    """A step's calls: the question about the call that waits for a person, the calls that are allowed and that were made."""

    waits: Question | None
    allowed: tuple[str, ...] = ()
    made: tuple[MadeCall, ...] = ()


class ChosenCalls(Part):
    """The steps that paused before a call, and how often each has asked."""

    steps: dict[str, Chosen] = {}
    questions: Counter[str] = Counter()


def _paused(board: Board, event: StepPaused) -> None:
    if not event.question.path:
        mine = board[ChosenCalls]
        mine.questions[event.step] += 1
        mine.steps[event.step] = Chosen(event.question, made=event.made)


def _ended(board: Board, event: StepDone | StepFailed) -> None:
    board[ChosenCalls].steps.pop(event.step, None)


def _interrupted(board: Board, event: Requeued | StepInDoubt) -> None:
    mine, step_id = board[ChosenCalls], event.step or ""
    cancelled = isinstance(event, Requeued) and event.reason == "cancelled"
    if step_id in mine.steps and not cancelled:  # the call that a person allowed might be made
        mine.steps[step_id] = mine.steps[step_id]._replace(allowed=())


def _reviewed(board: Board, event: Reviewed) -> None:
    mine, question = board[ChosenCalls], board.asked
    if event.verdict == "approve" and question.kind == "call" and not question.path:
        step_id, allowed = question.step or "", (str(question.call),)
        mine.steps[step_id] = mine.steps[step_id]._replace(waits=None, allowed=allowed)


def _before_plan(board: Board, plan: Plan) -> None:
    # the calls of a kept step stay made; the permissions were for the plan before
    mine = board[ChosenCalls]
    kept = mine.steps.keys() & board.kept_by(plan)
    mine.steps = {step_id: mine.steps[step_id]._replace(allowed=()) for step_id in kept}


def ask_before_call(board: Board, _policy: object, event: StepStarted, _executor: Any) -> Choice:
    """Guard: pause before a step whose executor chose a call that needs the approval of a person."""
    mine = board[ChosenCalls]
    chosen = mine.steps.get(event.step)
    if chosen is None or chosen.waits is None:
        return event
    question = chosen.waits
    if mine.questions[event.step] > MOST_QUESTIONS:
        error = f"it asked a person about more than {MOST_QUESTIONS} calls: {question.call}"
        return StepBlocked(event.at, event.step, error, event.attempt, event.attempts, final=True)
    return ask_about_step(board, event.step, question.why, "call", question.call)


def context(agent: Any, run: Any, job: StepStarted) -> dict[str, Any]:
    """Return which calls the step is allowed to make; nothing if its executor chooses none.

    A nested run of a reviewed run usually has no reviewer, and no person has seen its plan. Of its calls, only the call
    that the outer step names is approved, and only for one step.
    """
    board, around = run.board, job_meter().context.approved
    # a person sees the plan around this run, and not those of this run
    seen_around = around is not None and around.asks and not board.has_reviewer
    if not (seen_around or asks_models(agent.executor)):
        return {}
    step, tools = board.steps[job.step], agent.executor.tools
    tool, named = step.tool, ""  # `named`: the call that the step names, if it can be made
    if tool is not None and tool in tools:
        with suppress(references.MissingResultError):
            named = tools[tool].call_text(references.resolve(step.params, board.results))
    if seen_around and (named != around.text or not _is_first(board, job)):
        tool, named = None, ""
    chosen = board[ChosenCalls].steps.get(step.id, Chosen(None))
    approved = ApprovedCalls(
        tool,
        named,
        board.has_reviewer or seen_around,
        chosen.allowed,
        chosen.made,
        planned_tools(board) if forbids_new_effects(board, agent.policy) else None,
        known_calls(board),
        run.key or run.uid,
        (job.lane or board[OnceCalls].outer.lane) * LANE,
    )
    return {"approved": approved}


def _is_first(board: Board, job: StepStarted) -> bool:
    """Whether no step of the run, and no earlier attempt of this step, could have called the step's tool."""
    tool = board.steps[job.step].tool
    others = (board.steps[step_id].tool for step_id in board.attempt if step_id != job.step)
    return job.attempt == 1 and job.step not in board[WorkDone].latest and tool not in others


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
    context={StepStarted: context},
)
