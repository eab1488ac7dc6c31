"""Executors carry out steps and never decide what comes next. These functions ask one what it declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from planexec_lite.plan import Step
from planexec_lite.tools import Effects, Toolbox, worst


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
