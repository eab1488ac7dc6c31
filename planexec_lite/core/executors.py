"""Executors carry out steps and never decide what comes next. The tool executor calls the step's tool, without a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from planexec_lite.meter import job_meter, made_once
from planexec_lite.plan import Step
from planexec_lite.plan.data import as_data
from planexec_lite.tools import Effects, Toolbox, ToolError, references, worst


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
    ask = getattr(executor, "most_model_calls", None)
    return None if ask is None else ask(step)


def effects_of_any(tools: Toolbox) -> dict[str, Effects]:
    """The effects of steps if their executor can call any of `tools`."""
    most = worst(tools.effects.values())
    return dict.fromkeys(tools.names, most) if most != "none" else {}


class ToolExecutor:
    """Resolves the references in a step's parameters and calls its tool.

    A step without a tool is a note: its result is its parameter `input`, or its description.
    """

    asks_models = False

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools

    def most_model_calls(self, _step: Step) -> int:
        """Return 0: no step asks a model."""
        return 0

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the result of the step's tool. Raises `ToolError` for wrong arguments, before the tool is called."""
        params = references.resolve(step.params, inputs)
        if step.tool is None:
            return params.get("input", step.description)
        return self.tools[step.tool].call(params)


def perform(executor: Executor, step: Step, inputs: Mapping[str, Any]) -> Any:
    """Let `executor` carry out `step`, and return the result as plain data. Raises `ToolError` for a result that is not data."""
    try:
        value = executor.execute(step, inputs)
    except BaseException as error:
        if step.effects == "once" and not _came_first(error):
            made_once()
        raise
    if step.effects == "once":
        made_once()
    return as_data(value, step.id, step.tool)


def _came_first(error: BaseException) -> bool:
    """Whether the error was raised before any tool was called: by wrong arguments, or by a result that is missing."""
    return job_meter().tool is None and isinstance(
        error, ToolError | references.MissingResultError
    )
