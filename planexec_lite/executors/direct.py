"""The tool executor: resolves references and calls a tool. And what every executor has to keep to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_jsonable_python

from planexec_lite import references
from planexec_lite.meter import made_once
from planexec_lite.plan import Step
from planexec_lite.plan.data import fixed
from planexec_lite.tools import Effects, Toolbox, ToolError, worst


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


_NUMBERS = (bool, int, float)
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)


def as_data(value: Any, step: Step) -> Any:
    """Return the result of `step` as what JSON can hold, in lists and objects that nobody can change.

    Models and dataclasses become objects, tuples lists, sets sorted lists.
    """
    if value is None or (type(value) is str and value.isascii()) or (type(value) in _NUMBERS and abs(value) < 2**63):
        return value
    try:
        if isinstance(value, int | float):
            data = json.loads(
                json.dumps(value, allow_nan=False)
            )  # of a class of its own, or beyond what is written fast
        else:
            data = to_jsonable_python(_ordered(_ANYTHING.dump_python(value)))
            json.dumps(data, ensure_ascii=False, allow_nan=False).encode()  # a text may hold what no file can
        return fixed(data)
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        cause = str(error).splitlines()[0]
        who = f"step {step.id}" if step.tool is None else f"step {step.id}: {step.tool}"
        kind = type(value).__name__
        raise ToolError(
            f"{who} returned a value of type {kind}, which JSON can't hold ({cause}); return data"
        ) from None


def _ordered(value: Any) -> Any:
    """Sort the sets at any depth: their own order changes from process to process."""
    if isinstance(value, set | frozenset):
        parts = [_ordered(part) for part in value]
        try:
            return sorted(parts)
        except TypeError:
            return sorted(parts, key=repr)
    if isinstance(value, Mapping):
        if any(type(key) is not str for key in value) and len(to_jsonable_python(dict.fromkeys(value))) < len(value):
            raise ValueError("two of its names are the same when they are written down")
        return {key: _ordered(part) for key, part in value.items()}
    return list(map(_ordered, value)) if isinstance(value, list | tuple) else value
