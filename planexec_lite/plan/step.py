"""Call, Step and PlanContent: the typed parts of a plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
)

from planexec_lite.plan.data import fixed
from planexec_lite.tools import Effects, escaped, references, uninterrupted, worst


def _params(value: Any) -> Any:
    """Wrap a single argument that is not an object as ``{"input": …}``. `Tool.bind` passes it to the tool's only
    parameter.
    """
    if value is None:
        return {}
    return value if isinstance(value, Mapping) else {"input": value}


def _listed(value: Any) -> Any:
    """Return the ids as a list: None means no ids, and a single id needs no list."""
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def _once(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Drop repeated ids."""
    return tuple(dict.fromkeys(ids))


def _tool(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lower() in ("", "none"):
        return None
    return value


MAX_RETRIES = 10  # without a wait between them, more retries do not help
_NONE: dict[str, JsonValue] = fixed({})
# letters of other scripts can be shown but do not run: see `checks`
Id = Annotated[str, Field(pattern=r"^[\w.-]+$", coerce_numbers_to_str=True)]
Ids = Annotated[tuple[Id, ...], BeforeValidator(_listed), AfterValidator(_once)]
ToolName = Annotated[str | None, BeforeValidator(_tool)]
Params = Annotated[
    dict[str, JsonValue],
    BeforeValidator(_params),
    AfterValidator(fixed),
    Field(validation_alias=AliasChoices("params", "input", "arguments")),
]


class Frozen(BaseModel):
    """A part of a plan. It is closed, can't be changed, and its validators are built when the first one is used.

    Parts are equal if their canonical JSON is equal: 1, 1.0 and true are three different arguments, although Python
    calls them equal, and ids in another order mean the same.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,
    )

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build the validators, as pydantic does, but without an interruption."""
        with uninterrupted():
            return super().model_rebuild(**options)

    def __eq__(self, other: Any) -> bool:
        if type(self) is not type(other):
            return False
        return json.dumps(canonical(self)) == json.dumps(canonical(other))


def canonical(part: Frozen) -> dict[str, Any]:
    """Return a part as plain data without defaults: the fields in the order of its class, arguments in alphabetical
    order, and short ids first ("2" before "10").
    """
    fields: dict[str, Any] = _in_order(part.model_dump(mode="json", exclude_defaults=True), "")
    return fields


def _in_order(value: Any, field: str) -> Any:
    if isinstance(value, dict):
        if field in ("", "steps"):
            return {name: _in_order(part, name) for name, part in value.items()}
        names = sorted(value, key=lambda name: (name != "tool", name))
        return {name: _in_order(value[name], "params") for name in names}
    if not isinstance(value, list):
        return value
    if field in ("depends_on", "supersedes"):
        return sorted(value, key=lambda each: (len(each), each))
    return [_in_order(part, field) for part in value]


class Call(Frozen):
    """A tool call in `Step.undo` or `Plan.rollback`: the name of the tool and its arguments.

    `gate`: ask a person right before a rollback makes the call.
    """

    tool: str = Field(validation_alias=AliasChoices("tool", "action"))
    params: Params = _NONE
    gate: bool = False

    def __str__(self) -> str:
        return _call(self.tool, self.params)


class Step(Frozen):
    """A step of a plan.

    Args:
        id: unique in the plan: ASCII letters, digits, ``_``, ``.`` and ``-``; an integer becomes a string.
        description: the purpose of the step, in natural language. Also read from ``task``.
        tool: the tool to call; None leaves the choice to the executor. Also read from ``action``.
        params: the tool's arguments by name; a string can refer to results, ``{step_1_result}``. Also read from
            ``input`` and ``arguments``.
        depends_on: ids of the steps that must be done first, or have ended: see `run_anyway`.
        success_criteria: how to tell from the result that the step succeeded.
        timeout: seconds after which the step counts as failed; None: no limit.
        retries: how many times a failed step is tried again, at most ten.
        gate: ask a person right before this step.
        run_anyway: start when all dependencies have ended, even if some failed for good or were skipped. The step gets
            the results of the completed ones; a reference to any other result is an error.
        effects: "none", "idempotent", "unknown" or "once"; a step can declare a stronger effect than its tool, never a weaker one.
            None: the effect of the tool.
        undo: the call that undoes this step; it can refer to the results of the step and of its dependencies. A
            rollback makes the call once if the step has a result, even if an evaluator rejected that result; if an
            at-most-once step ran again, it makes the call for each result. The step's gate does not cover the undo,
            which has a separate gate (see `Call`). The undo of a step with a nested run replaces the undos inside;
            without it the inner steps are undone individually.
    """

    id: Id
    description: str = Field(default="", validation_alias=AliasChoices("description", "task"))
    tool: ToolName = Field(default=None, validation_alias=AliasChoices("tool", "action"))
    params: Params = _NONE
    depends_on: Ids = ()
    success_criteria: str | None = None
    timeout: float | None = Field(default=None, gt=0, strict=True)  # true is no number
    retries: int = Field(default=0, ge=0, le=MAX_RETRIES, strict=True)
    gate: bool = False
    run_anyway: bool = False
    effects: Effects | None = None
    undo: Call | None = None

    def effects_with(self, by_tool: Mapping[str, Effects]) -> Effects:
        """Return the step's effect: its own declaration or its tool's, the stronger of both.

        `by_tool` maps tool names to effects; a missing tool has none. A step that leaves the choice of the tool to its
        executor has the strongest effect of all tools.
        """
        of_tools = worst(by_tool.values()) if self.tool is None else by_tool.get(self.tool, "none")
        return of_tools if self.effects is None else worst((of_tools, self.effects))

    def __str__(self) -> str:
        if self.tool:
            return _call(self.tool, self.params)
        return escaped(self.description)


def _call(tool: str, params: Mapping[str, JsonValue]) -> str:
    """Return a call as it is written in Python, with references instead of their texts."""
    arguments = (
        f"{name}={references.whole(value) or repr(value)}" for name, value in params.items()
    )
    return escaped(f"{tool}({', '.join(arguments)})")


class PlanContent(Frozen):
    """What a planner writes; `Plan` describes the fields."""

    goal: str = ""
    steps: tuple[Step, ...] = ()
    rollback: tuple[Call, ...] = ()
    answer: str | None = None
    complete: bool = True
    supersedes: Ids = ()

    @property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """The ids that each step depends on, by step id. Steps with the same id are merged."""
        waits_for: dict[str, tuple[str, ...]] = {}
        for step in self.steps:
            waits_for[step.id] = waits_for.get(step.id, ()) + step.depends_on
        return waits_for
