"""Stepping (lesson 01): a step that starts becomes a task for the executor, and the outcome of the task an event.

Executors carry out steps and never decide what comes next. The tool executor calls the step's tool, without a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from planexec_lite.capabilities import doubt
from planexec_lite.core import Capability, Event, Task, Work
from planexec_lite.core.events import StepDone, StepFailed, StepPaused, StepStarted
from planexec_lite.core.questions import ExactCall, Question
from planexec_lite.core.tasks import Finished, Late, TimedOut
from planexec_lite.meter import job_meter, made_once
from planexec_lite.plan import Step
from planexec_lite.plan.data import as_data, copied
from planexec_lite.tools import REPEATABLE, Effects, Toolbox, ToolError, references, worst


class Executor(Protocol):
    """Carries out steps. The planner's prompt lists its `tools`, and plans are checked against them.

    `inputs` are copies: an executor can change them, and no result changes. A result must be data that JSON can represent, since
    it is saved, copied and sent; a lock or an open file is rejected.

    An executor can have more attributes. `asks_models = False`: its steps never ask a model, so they start when a
    budget has no model calls left. `chooses_calls`: a model chooses the calls of a step (a bool, or a function of the step).
    `effects`: the effects of steps by tool, if steps can call other tools than their own. `most_model_calls(step)`: a bound.
    `agent_inside(step)`: the agent that carries out the step as a nested run.
    """

    @property
    def tools(self) -> Toolbox:
        """Its tools."""

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the result of `step`; `inputs` are the results of the steps that it depends on. Any error fails the step."""


class ToolExecutor:
    """Resolves the references in a step's parameters and calls its tool.

    A step without a tool is a note: its result is its parameter `input`, or its description.
    """

    asks_models = False

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the result of the step's tool. Raises `ToolError` for wrong arguments, before the tool is called."""
        params = references.resolve(step.params, inputs)
        if step.tool is None:
            return params.get("input", step.description)
        return self.tools[step.tool].call(params)


# What an executor declares


def effects_of(executor: Executor) -> dict[str, Effects]:
    """Return the strongest effects of steps by tool name, without tools that have no effects."""
    return getattr(executor, "effects", None) or executor.tools.effects


def asks_models(executor: Executor) -> bool:
    """Whether a step can call a model; True by default."""
    return bool(getattr(executor, "asks_models", True))


def chooses_calls(executor: Executor, step: Step) -> bool:
    """Whether a model chooses the calls of `step`; False by default."""
    answer = getattr(executor, "chooses_calls", False)
    return bool(answer(step) if callable(answer) else answer)


def agent_inside(executor: Executor, step: Step) -> Any:
    """The agent that carries out `step` as a nested run, or None."""
    ask = getattr(executor, "agent_inside", None)
    return None if ask is None else ask(step)


def most_model_calls(executor: Executor, step: Step) -> int | None:
    """How many model calls `step` can make at most; None: unknown."""
    if not asks_models(executor):
        return 0
    ask = getattr(executor, "most_model_calls", None)
    return None if ask is None else ask(step)


def might_choose(executor: Executor, step: Step) -> bool:
    """Whether `step` might make calls that the plan does not name: those that a model or a nested run chooses."""
    return most_model_calls(executor, step) != 0


def effects_of_any(tools: Toolbox) -> dict[str, Effects]:
    """The effects of steps if their executor can call any of `tools`."""
    most = worst(tools.effects.values())
    return dict.fromkeys(tools.names, most) if most != "none" else {}


# How a step is carried out


def perform(executor: Executor, step: Step, inputs: Mapping[str, Any]) -> Any:
    """Let `executor` carry out `step`, and return the result as plain data. Raises `ToolError` for a result that is not data."""
    came_first = False
    try:
        value = executor.execute(step, inputs)
    except (ToolError, references.MissingResultError):
        came_first = not job_meter().called  # by wrong arguments or a missing result
        raise
    finally:
        if step.effects == "once" and not came_first:
            made_once()
    return as_data(value, step.id, step.tool)


def _task(agent: Any, run: Any, job: StepStarted) -> Task:
    step, results = run.board.steps[job.step], run.board.results
    inputs = {
        step_id: copied(results[step_id]) for step_id in step.depends_on if step_id in results
    }
    return Task(
        job,
        perform,
        (agent.executor, step, inputs),
        step.timeout,
        until=agent.policy.deadline,
        repeatable=run.board.effects[job.step] in REPEATABLE,
    )


def _finished(job: StepStarted, message: Finished) -> list[Event]:
    report, at, step_id = message.report, message.at, job.step
    usage, left = (message.seconds, report.calls), (report.leaves, report.chosen)
    if (waits := report.waits) is not None:
        # about a call that the executor chose; the verdicts follow when the run asks
        call = ExactCall(waits.tool, dict(waits.params))
        question = Question("call", {}, waits.why, step_id, call=call)
        if waits.question is not None:
            question = waits.question.inside(step_id)
        return [StepPaused(at, step_id, question, *usage, report.once, waits.made, *left)]
    if report.error is None:
        return [StepDone(at, step_id, report.value, *usage, *left)]
    if report.lost and not message.task.repeatable:
        return [doubt.StepInDoubt(at, step_id, f"{report.error}; {doubt.UNKNOWN}")]
    # after an at-most-once call began, it is unknown how much of the step was done
    return [StepFailed(at, step_id, report.error, *usage, report.once, report.final, *left)]


def too_long(message: TimedOut) -> str:
    """Return why a task timed out."""
    task = message.task
    if task.timeout is not None and message.seconds >= task.timeout:
        return f"TimeoutError: took longer than its timeout of {task.timeout:g} s"
    return f"TimeoutError: still running at the run's deadline of {task.until:g} s"


def _timed_out(job: StepStarted, message: TimedOut) -> list[Event]:
    return [
        StepFailed(
            message.at,
            job.step,
            too_long(message),
            message.seconds,
            in_doubt=True,
            final=not message.task.repeatable,  # a retry could run beside this attempt
            leaves=bool(job.inside),
            chosen=None,
        )
    ]


def _late(job: StepStarted, message: Late) -> list[Event]:
    report = message.report
    if report.lost:
        return []  # it proves neither that the call was made nor that it was not
    late = (report.value, report.error, message.seconds, report.calls, report.chosen)
    return [doubt.StepLate(message.at, job.step, *late)]


CAPABILITY = Capability(
    work={StepStarted: Work(_task, _finished, _timed_out, _late, doubt.interrupted)}
)
