"""Call and Step: the typed parts of a plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from planexec_lite.plan.data import fixed
from planexec_lite.tools import Effects, escaped, references, uninterrupted, worst


def _params(value: Any) -> Any:
    """Wrap a single argument that is not an object as ``{"input": …}``. `Tool.bind` passes it to the tool's only
    parameter.
    """
    _names(value)
    return value if isinstance(value, (dict, Mapping)) else {} if value is None else {"input": value}


def _names(value: Any) -> None:
    """Raise `ValueError` if two keys of an object are the same in JSON, as 1 and "1" are."""
    if isinstance(value, (list, tuple)):
        parts: Iterable[Any] = value
    elif isinstance(value, (dict, Mapping)):
        if len(set(map(str, value))) < len(value):  # JSON would keep only the last of 1 and "1"
            raise ValueError(
                f"the keys of an object are strings in JSON, and two of these are the same: {', '.join(map(repr, value))}"
            )
        parts = value.values()
    else:
        return
    for part in parts:
        if type(part) is not str:
            _names(part)


def ids(value: Any) -> Any:
    """Return the ids as a list: None means no dependency, and a single id needs no list."""
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)


def _once(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Drop repeated ids."""
    return ids if len(ids) < 2 else tuple(dict.fromkeys(ids))


def _tool(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in ("", "none") else value


def _written(value: Any) -> str:
    return str(references.whole(value) or repr(value))


Id = Annotated[str, Field(pattern=r"^[\w.-]+$")]  # other letters than ASCII can be shown but do not run: see `checks`
ToolName = Annotated[str | None, BeforeValidator(_tool)]
Params = Annotated[dict[str, JsonValue], BeforeValidator(_params), AfterValidator(fixed)]
_NONE: dict[str, JsonValue] = fixed({})


def _no_params() -> dict[str, JsonValue]:
    return _NONE


class Frozen(BaseModel):
    """A model that can't be changed. It is closed, and its validators are built when the first one is used."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build the validators, as pydantic does, but without an interruption."""
        with uninterrupted():
            return super().model_rebuild(**options)


class _WordForWord(Frozen):
    """Equal if the JSON text is equal: 1, 1.0 and true are three different arguments, although Python calls them
    equal.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _WordForWord) and super().__eq__(other) and _exactly(self) == _exactly(other)


def _exactly(one: Any) -> str:
    return json.dumps(one.params, sort_keys=True)


class Call(_WordForWord):
    """A tool call in `Step.undo` or `Plan.rollback`: the name of the tool and its arguments.

    `gate`: ask a person right before a rollback makes the call.
    """

    tool: str = Field(validation_alias=AliasChoices("tool", "action"))
    params: Params = Field(default_factory=_no_params, validation_alias=AliasChoices("params", "input", "arguments"))
    gate: bool = False

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={_written(value)}" for name, value in self.params.items())
        return escaped(f"{self.tool}({arguments})")


class Step(_WordForWord):
    """A step of a plan.

    Args:
        id: unique in the plan: ASCII letters, digits, ``_``, ``.`` and ``-``; an integer becomes a string.
        description: the purpose of the step, in natural language.
        tool: the tool to call; None leaves the choice to the executor. Also read from ``action``.
        params: the tool's arguments by name; a string can refer to results, ``{step_1_result}``. Also read from
            ``input``.
        depends_on: ids of the steps that must be done first, or have ended: see `run_anyway`.
        success_criteria: how to tell from the result that the step succeeded. Also read from ``criteria``.
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

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: Id
    description: str = Field(default="", validation_alias=AliasChoices("description", "task"))
    tool: ToolName = Field(default=None, validation_alias=AliasChoices("tool", "action"))
    params: Params = Field(default_factory=_no_params, validation_alias=AliasChoices("params", "input", "arguments"))
    depends_on: Annotated[tuple[Id, ...], BeforeValidator(ids), AfterValidator(_once)] = ()
    success_criteria: str | None = Field(default=None, validation_alias=AliasChoices("success_criteria", "criteria"))
    timeout: float | None = Field(default=None, gt=0)
    retries: int = Field(default=0, ge=0)
    gate: bool = False
    run_anyway: bool = False
    effects: Effects | None = None
    undo: Call | None = None

    def effects_with(self, by_tool: Mapping[str, Effects]) -> Effects:
        """Return the step's effect: its own declaration or its tool's, the stronger of both.

        `by_tool` maps tool names to effects; a missing tool has none. A step that leaves the choice of the tool to its
        executor has the strongest effect of all tools.
        """
        tools = by_tool.values() if self.tool is None else (by_tool.get(self.tool, "none"),)
        return worst((*tools, self.effects or "none"))

    def __str__(self) -> str:
        return str(Call.model_construct(tool=self.tool, params=self.params)) if self.tool else escaped(self.description)
