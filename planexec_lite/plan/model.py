"""Plan and Step: the typed artifact that a planner writes and an executor reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from planexec_lite import references
from planexec_lite.plan import checks, graph, reading
from planexec_lite.plan.problems import Problem
from planexec_lite.tools import Effects, Toolbox


def _params(value: Any) -> Any:
    """A lone ``input`` that is no object is kept under that name; `Tool.bind` gives it to the tool's only parameter."""
    return value if isinstance(value, Mapping) else {} if value is None else {"input": value}


def _short(text: str) -> str:
    return text if len(text) <= 90 else f"{text[:60]} … {text[-25:]}"


def _ids(value: Any) -> Any:
    """None means no dependency, and one id may stand without a list."""
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)


def _once(ids: tuple[str, ...]) -> tuple[str, ...]:
    """A repeated id counts once."""
    return ids if len(ids) < 2 else tuple(dict.fromkeys(ids))


def _tool(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in ("", "none") else value


def _written(value: Any) -> str:
    return str(references.whole(value) or repr(value))


_EFFECTS: tuple[Effects, ...] = ("none", "idempotent", "once")

Id = Annotated[str, Field(pattern=r"^[\w.-]+$")]
ToolName = Annotated[str | None, BeforeValidator(_tool)]
Params = Annotated[dict[str, JsonValue], BeforeValidator(_params)]


class _WordForWord(BaseModel):
    """Equal when it says the same word for word: 1, 1.0 and true are three arguments, though Python calls them equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _WordForWord) and super().__eq__(other) and _exactly(self) == _exactly(other)


def _exactly(one: Any) -> str:
    return json.dumps(one.params, sort_keys=True)


class Call(_WordForWord):
    """A call of a tool, as in `Step.undo` and `Plan.rollback`: the name of the tool and its arguments."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    tool: str = Field(validation_alias=AliasChoices("tool", "action"))
    params: Params = Field(default={}, validation_alias=AliasChoices("params", "input", "arguments"))

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(f'{name}={_written(value)}' for name, value in self.params.items())})"


class Step(_WordForWord):
    """One step of a plan.

    Args:
        id: unique in the plan: letters, digits, ``_``, ``.`` and ``-``; an integer becomes a string.
        description: what the step is for, in words.
        tool: the tool to call; None leaves the choice to the executor. Also read from ``action``.
        params: the tool's arguments by name; a text may refer to results, ``{step_1_result}``. Also ``input``.
        depends_on: ids of the steps that must be done first.
        success_criteria: how to tell from the result that the step did what it should. Also read from ``criteria``.
        timeout: seconds after which the step counts as failed; None: no limit.
        retries: how often a failed step is tried again.
        gate: ask a person right before this step.
        effects: "none", "idempotent" or "once"; a step may be more careful than its tool, never less. None: as the tool.
        undo: the call that takes this step's effect back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False)

    id: Id
    description: str = Field(default="", validation_alias=AliasChoices("description", "task"))
    tool: ToolName = Field(default=None, validation_alias=AliasChoices("tool", "action"))
    params: Params = Field(default={}, validation_alias=AliasChoices("params", "input", "arguments"))
    depends_on: Annotated[tuple[Id, ...], BeforeValidator(_ids), AfterValidator(_once)] = ()
    success_criteria: str | None = Field(default=None, validation_alias=AliasChoices("success_criteria", "criteria"))
    timeout: float | None = Field(default=None, gt=0)
    retries: int = Field(default=0, ge=0)
    gate: bool = False
    effects: Effects | None = None
    undo: Call | None = None

    def effects_with(self, by_tool: Mapping[str, Effects]) -> Effects:
        """What the step does to the world: the worse of what it says itself and what its tool does.

        `by_tool` gives the effects of tools by name; one that is not in it has none. A step that leaves the choice of
        the tool to its executor may do the worst that any of them does.
        """
        tools = by_tool.values() if self.tool is None else (by_tool.get(self.tool, "none"),)
        return max((*tools, self.effects or "none"), key=_EFFECTS.index)

    def __str__(self) -> str:
        return str(Call.model_construct(tool=self.tool, params=self.params)) if self.tool else self.description


class Plan(BaseModel):
    """What a planner hands over: a goal and the steps towards it.

    Args:
        goal: what is to be reached.
        steps: in the order in which the planner wrote them; `depends_on` says what really waits for what.
        rollback: calls to make when the run is rolled back.
        answer: a text that answers the goal and may refer to results; by default the result of the only step that
            nothing depends on.
        complete: False says that the planner wants to be asked again when these steps are done.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: str = ""
    steps: tuple[Step, ...] = ()
    rollback: tuple[Call, ...] = ()
    answer: str | None = None
    complete: bool = True

    @classmethod
    def parse(cls, source: Any) -> Plan:
        """Read a plan from JSON text, bytes, a dict, a list of steps, or a Plan.

        Reads ``{"goal", "steps"}``, a bare list of steps, and ``{"tasks"}``; steps that have neither ids nor
        dependencies are numbered, and each waits for the one before it. Raises `PlanError` with every problem found.
        Whether the plan can run is another question: `problems` answers it.
        """
        return source if isinstance(source, Plan) else reading.read(cls, source)

    def changed(self, **fields: Any) -> Plan:
        """Return a plan like this one with some fields changed."""
        return Plan(**{name: fields.get(name, getattr(self, name)) for name in Plan.model_fields})

    def to_json(self, indent: int | None = 2) -> str:
        """The plan as canonical JSON: the same plan gives the same text, in whatever shape it was read."""
        return json.dumps(reading.canonical(self), indent=indent, ensure_ascii=False)

    @cached_property
    def hash(self) -> str:
        """What an approval belongs to: the SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
        return hashlib.sha256(self.to_json(indent=None).encode(errors="surrogatepass")).hexdigest()

    @cached_property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """The ids that each step waits for, by step id; steps with the same id are taken together."""
        waits_for: dict[str, tuple[str, ...]] = {}
        for step in self.steps:
            waits_for[step.id] = waits_for.get(step.id, ()) + step.depends_on
        return waits_for

    def problems(
        self, toolbox: Toolbox | None = None, done: Collection[str] = (), max_steps: int | None = None
    ) -> list[Problem]:
        """Return everything that makes the plan unfit to run, [] when it is fit.

        Args:
            toolbox: the tools that steps may call; None: tools and arguments are not checked.
            done: ids of steps that were done before this plan, and may be waited for.
            max_steps: the most steps that the plan may have.
        """
        return checks.problems(self, toolbox, done, max_steps)

    def waves(self) -> list[list[str]]:
        """The step ids level by level; a level can start when the levels before it are done."""
        return graph.levels(self.graph)

    def critical_path(self, durations: Mapping[str, float] | None = None) -> tuple[list[str], float]:
        """The chain of steps that takes longest, as (step ids, length).

        `durations` maps step ids to seconds; without it every step counts as 1. No schedule is shorter than this.
        """
        return graph.longest_path(self.graph, durations)

    def durations(self, toolbox: Toolbox) -> dict[str, float]:
        """The seconds that each step's tool declares for it, by step id; 0 for a step without a tool."""
        calls = ((step.id, step.tool, step.params) for step in self.steps)
        return {id: toolbox[tool].seconds(toolbox[tool].bind(params)) if tool else 0.0 for id, tool, params in calls}

    def effects(self, toolbox: Toolbox) -> dict[str, Effects]:
        """What each step does to the world, by step id: "none", "idempotent" (a repeat does no harm) or "once"."""
        by_tool = toolbox.effects
        return {step.id: step.effects_with(by_tool) for step in self.steps}

    def __str__(self) -> str:
        width = max((len(step.id) for step in self.steps), default=0)
        lines = [
            f"{step.id:>{width}}  {_short(str(step))}"
            + (f"  (after {', '.join(step.depends_on)})" if step.depends_on else "")
            for step in self.steps
        ]
        return "\n".join([self.goal, *lines] if self.goal else lines)
