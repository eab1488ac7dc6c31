"""Plan: the typed artifact that a planner writes and an executor reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from planexec_lite.plan import checks, graph, reading
from planexec_lite.plan.reading import Problem
from planexec_lite.plan.step import Call, Id, Step, ids
from planexec_lite.tools import Effects, Toolbox


class Plan(BaseModel):
    """The result of a planner: a goal and the steps towards it.

    Args:
        goal: what is to be reached.
        steps: in the order in which the planner wrote them; `depends_on` decides which step waits for which.
        rollback: calls to make when the run is rolled back, after the steps' undo. One that refers to a result is made only
            if its step gave one; another, if anything was done that changes the world. None is made twice.
        answer: a text that answers the goal and can refer to results; by default the result of the only step that
            nothing depends on.
        complete: False: the planner must be asked again when these steps are done.
        supersedes: ids of steps that failed, and that this plan gives up or does otherwise. A plan that brings no new step
            after a failure must name the failed steps here: what became of them is not left open.
    """

    # A step inside a plan is validated under the plan's settings where its own validator is not built yet.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    goal: str = ""
    steps: tuple[Step, ...] = ()
    rollback: tuple[Call, ...] = ()
    answer: str | None = None
    complete: bool = True
    supersedes: Annotated[tuple[Id, ...], BeforeValidator(ids)] = ()

    @classmethod
    def parse(cls, source: Any) -> Plan:
        """Read a plan from JSON text, bytes, a dict, a list of steps, or a Plan.

        Reads ``{"goal", "steps"}``, a bare list of steps, and ``{"tasks"}``; steps that have neither ids nor
        dependencies are numbered, and each waits for the one before it. A Markdown fence around JSON text is taken
        off; words before or after the JSON, and two fenced blocks, are rejected. Raises `PlanError` with every problem found.
        Whether the plan can run is another question: `problems` answers it.
        """
        return source if isinstance(source, Plan) else reading.read(cls, source)

    @classmethod
    def received(cls, given: Any, giver: str) -> Plan:
        """Return a copy of the plan that `giver` hands in: the one door for plans that others made.

        The copy is made of the fields of `given` only, and validated. The caller can change `given` later, build it without
        validation, or pass a subclass; the copy is checked, shown and carried out. Raises `TypeError` when `given` is no
        plan, and `PlanError` when its fields are invalid.
        """
        return reading.received(cls, given, giver)

    def changed(self, **fields: Any) -> Plan:
        """Return a plan like this one with some fields changed."""
        return Plan(**{name: fields.get(name, getattr(self, name)) for name in Plan.model_fields})

    def to_json(self, indent: int | None = 2) -> str:
        """The plan as canonical JSON: the same plan gives the same text, from any shape that it was read from."""
        return json.dumps(reading.canonical(self), indent=indent, ensure_ascii=False)

    @property
    def hash(self) -> str:
        """The identity that an approval refers to: the SHA-256 of the canonical JSON, as 64 hexadecimal digits.

        It is computed each time from the current fields.
        """
        return hashlib.sha256(self.to_json(indent=None).encode(errors="surrogatepass")).hexdigest()

    @property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """The ids that each step waits for, by step id; steps with the same id are taken together."""
        waits_for: dict[str, tuple[str, ...]] = {}
        for step in self.steps:
            waits_for[step.id] = waits_for.get(step.id, ()) + tuple(step.depends_on)
        return waits_for

    def problems(
        self, toolbox: Toolbox | None = None, done: Collection[str] = (), max_steps: int | None = None
    ) -> list[Problem]:
        """Return everything that makes the plan invalid, [] when it is valid.

        Args:
            toolbox: the tools that steps can call; None: tools and arguments are not checked.
            done: ids of steps that were done before this plan; steps can depend on them.
            max_steps: the maximum number of steps in the plan.
        """
        return checks.problems(self, toolbox, done, max_steps)

    def without_undo(self, toolbox: Toolbox) -> list[Problem]:
        """Return a problem for each step that changes the world, and that nothing takes back and no gate asks about.

        Its effect is undone by its `undo`, or by a call of `rollback` that refers to its result. `Policy.require_undo` makes
        these problems of the plan.
        """
        return checks.without_undo(self, toolbox)

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


def _short(text: str) -> str:
    return text if len(text) <= 90 else f"{text[:60]} … {text[-25:]}"
