"""Call and Step: one line of a plan, typed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from planexec_lite import references
from planexec_lite.plan.data import fixed
from planexec_lite.tools import Effects, worst


def _params(value: Any) -> Any:
    """A lone ``input`` that is no object is kept under that name; `Tool.bind` gives it to the tool's only parameter."""
    _names(value)
    return value if isinstance(value, Mapping) else {} if value is None else {"input": value}


def _names(value: Any) -> None:
    """Raise `ValueError` where two names of an object are one when they are written down, as 1 and "1" are."""
    if isinstance(value, Mapping):
        if len({str(name) for name in value}) < len(value):  # of 1 and "1" only the last would be kept
            raise ValueError(
                f"names of an object are texts, and two of these are the same: {', '.join(map(repr, value))}"
            )
        for part in value.values():
            _names(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _names(part)


def ids(value: Any) -> Any:
    """Return the ids as a list: None means no dependency, and a single id needs no list."""
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)


def _once(ids: tuple[str, ...]) -> tuple[str, ...]:
    """A repeated id counts once."""
    return ids if len(ids) < 2 else tuple(dict.fromkeys(ids))


def _tool(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in ("", "none") else value


def _written(value: Any) -> str:
    return str(references.whole(value) or repr(value))


Id = Annotated[
    str, Field(pattern=r"^[\w.-]+$")
]  # a plan with other letters than ASCII can be shown, not run: see `checks`
ToolName = Annotated[str | None, BeforeValidator(_tool)]
Params = Annotated[dict[str, JsonValue], BeforeValidator(_params), AfterValidator(fixed)]
_NONE: dict[str, JsonValue] = fixed({})


def _no_params() -> dict[str, JsonValue]:
    return _NONE


class _WordForWord(BaseModel):
    """Equal when the JSON text is equal: 1, 1.0 and true are three arguments, though Python calls them equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _WordForWord) and super().__eq__(other) and _exactly(self) == _exactly(other)


def _exactly(one: Any) -> str:
    return json.dumps(one.params, sort_keys=True)


class Call(_WordForWord):
    """A call of a tool, as in `Step.undo` and `Plan.rollback`: the name of the tool and its arguments.

    `gate`: ask a person right before it is called in a rollback.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    tool: str = Field(validation_alias=AliasChoices("tool", "action"))
    params: Params = Field(default_factory=_no_params, validation_alias=AliasChoices("params", "input", "arguments"))
    gate: bool = False

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(f'{name}={_written(value)}' for name, value in self.params.items())})"


class Step(_WordForWord):
    """One step of a plan.

    Args:
        id: unique in the plan: ASCII letters, digits, ``_``, ``.`` and ``-``; an integer becomes a string.
        description: what the step is for, in words.
        tool: the tool to call; None leaves the choice to the executor. Also read from ``action``.
        params: the tool's arguments by name; a text can refer to results, ``{step_1_result}``. Also ``input``.
        depends_on: ids of the steps that must be done first, or have ended: see `run_anyway`.
        success_criteria: how to tell from the result that the step did what it should. Also read from ``criteria``.
        timeout: seconds after which the step counts as failed; None: no limit.
        retries: how often a failed step is tried again, at most ten times.
        gate: ask a person right before this step.
        run_anyway: start when the steps that it depends on have ended, done or failed for good or skipped. It gets the
            results of the completed steps; a reference to any other result is an error.
        effects: "none", "idempotent" or "once"; a step can declare a worse effect than its tool, never a
            better one. None: the effect of the tool.
        undo: the call that undoes this step; it can refer to the results of the step and of its dependencies. A rollback makes
            the call once if the step has a result, even if a judge rejected that result; if an at-most-once step ran again, it
            makes the call for each result. The step's gate does not cover the undo, which has its own gate (see `Call`). The
            undo of a nested run replaces the undos inside; without it the inner steps are undone one by one.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False, defer_build=True
    )

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
        """Return the effect of the step: the worse of its own declaration and its tool's effect.

        `by_tool` gives the effects of tools by name; one that is not in it has none. A step that leaves the choice of
        the tool to its executor has the worst effect of all tools.
        """
        tools = by_tool.values() if self.tool is None else (by_tool.get(self.tool, "none"),)
        return worst((*tools, self.effects or "none"))

    def __str__(self) -> str:
        return str(Call.model_construct(tool=self.tool, params=self.params)) if self.tool else self.description
