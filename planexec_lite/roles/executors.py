"""The tool executor: resolves references and calls a tool. And what every executor has to keep to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from planexec_lite import references
from planexec_lite.meter import made_once
from planexec_lite.plan import Step
from planexec_lite.plan.data import as_data
from planexec_lite.tools import Effects, Toolbox, worst


class Executor(Protocol):
    """Carries out a step. `tools` is what it has, so that a planner can be told and a plan checked.

    What it is given is its own: `inputs` are copies, and changing them changes no result. What it returns must be data
    (what JSON can hold): a lock or an open file is rejected, since it can't be written down, copied or sent. One whose steps
    never ask a model may say so, ``asks_models = False``: then they go on when a budget has no model calls left.
    """

    @property
    def tools(self) -> Toolbox:
        """The tools that it has."""

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the result of `step`; `inputs` holds the results of the steps it waits for. May raise anything."""


def effects_of(executor: Executor) -> dict[str, Effects]:
    """What a step does to the world at worst, by the name of its tool, where it does anything.

    It is what the tool does, unless the executor has `effects` of its own: one that may call other tools than the step's.
    """
    return getattr(executor, "effects", None) or executor.tools.effects


def asks_models(executor: Executor) -> bool:
    """Whether a step may call a model, as far as the executor says (`asks_models`); one that says nothing may."""
    return bool(getattr(executor, "asks_models", True))


def chooses_calls(executor: Executor, step: Step) -> bool:
    """Whether a model chooses the calls of `step`, as far as the executor says (`chooses_calls`)."""
    answer = getattr(executor, "chooses_calls", False)
    return bool(answer(step) if callable(answer) else answer)


def agent_inside(executor: Executor, step: Step) -> Any:
    """The agent that carries out `step` as a run of its own, as far as the executor says (`agent_inside`); else None."""
    ask = getattr(executor, "agent_inside", None)
    return None if ask is None else ask(step)


def effects_of_any(tools: Toolbox) -> dict[str, Effects]:
    """The effects of steps whose executor may call any of `tools`, whichever they name."""
    most = worst(tools.effects.values())
    return dict.fromkeys(tools.names, most) if most != "none" else {}


class ToolExecutor:
    """Resolves the references in a step's parameters and calls its tool: no model, no decision.

    A step without a tool is noted: its result is its `input` or its description.
    """

    asks_models = False

    def most_model_calls(self, step: Step) -> int:
        """None: no step asks a model."""
        return 0

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return what the step's tool returns. Raises `ToolError` for wrong arguments, before the tool is called."""
        params = references.resolve(step.params, inputs)
        if step.tool is None:
            return params.get("input", step.description)
        return self.tools[step.tool].call(params)


def perform(executor: Executor, step: Step, inputs: Mapping[str, Any]) -> Any:
    """Let `executor` carry out `step` and return the result as plain data; raise `ToolError` if it is none."""
    value = executor.execute(step, inputs)
    if step.effects == "once":
        made_once()
    return as_data(value, step)
