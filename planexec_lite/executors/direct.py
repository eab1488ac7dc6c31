"""The tool executor: resolves references and calls a tool. And what every executor has to keep to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_jsonable_python

from planexec_lite import references
from planexec_lite.plan import Step
from planexec_lite.tools import Toolbox, ToolError


class Executor(Protocol):
    """Carries out a step. `tools` is what it has, so that a planner can be told and a plan checked."""

    tools: Toolbox

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the result of `step`; `inputs` holds the results of the steps it waits for. May raise anything."""


class ToolExecutor:
    """Resolves the references in a step's parameters and calls its tool: no model, no decision.

    A step without a tool is noted: its result is its `input` or its description.
    """

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
    return as_data(executor.execute(step, inputs), step)


_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)


def as_data(value: Any, step: Step) -> Any:
    """Return the result of `step` as what JSON can hold: models and dataclasses become objects, tuples lists, sets sorted lists."""
    if value is None or isinstance(value, str) or (isinstance(value, (int, float)) and abs(value) < 2**63):
        return value
    try:
        data = value if isinstance(value, int | float) else to_jsonable_python(_ordered(_ANYTHING.dump_python(value)))
        json.dumps(data, allow_nan=False)
        return data
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        said = str(error).splitlines()[0]
        raise ToolError(
            f"step {step.id} returned a {type(value).__name__}, which JSON can't hold ({said}); return data"
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
        return {key: _ordered(part) for key, part in value.items()}
    return list(map(_ordered, value)) if isinstance(value, list | tuple) else value
