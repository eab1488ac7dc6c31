"""Plan: the typed artifact that a planner writes and an executor reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from planexec_lite.plan import checks, graph, reading
from planexec_lite.plan.step import PlanContent, Step, canonical
from planexec_lite.tools import Effects, Toolbox, escaped


class Plan(PlanContent):
    """The result of a planner: a goal and the steps towards it.

    Args:
        goal: what the run should achieve.
        steps: in the order in which the planner wrote them; `depends_on` decides which step waits for which.
        rollback: calls that a rollback makes after the steps' undos. A call that refers to a result is made only if
            that step has a result; any other call only if a step that changes the world was done. No call is made
            twice.
        answer: a string that answers the goal and can refer to results; by default the result of the only final step.
        complete: False: the planner must be asked again when these steps are done.
        supersedes: ids of failed steps that this plan drops or replaces. After a failure, a plan without new steps must
            name the failed steps here, so that no failure is silently ignored.
    """

    @classmethod
    def parse(cls, source: Any) -> Plan:
        """Read a plan from JSON text, a dict, a list of steps, or a `Plan`.

        Accepts ``{"goal", "steps"}``, a bare list of steps, and ``{"tasks"}``. If the steps have neither ids nor
        dependencies, they are numbered, and each depends on the previous one. A Markdown fence around the JSON is
        removed; other text around it, and two fenced blocks, are errors. Raises `PlanError` with every problem found.
        `problems` checks whether the plan can run.
        """
        if isinstance(source, Plan):
            return source
        return reading.read(cls, source)

    @classmethod
    def received(cls, given: Any, giver: str) -> Plan:
        """Return a validated copy of a plan that `giver` passed in. Every plan from outside enters through this method.

        The copy is made only from the fields of `given`. The caller can change `given` later, build it without
        validation, or pass a subclass; only the copy is checked, shown and run.

        Raises `TypeError` if `given` is not a plan, and `PlanError` if its fields are invalid.
        """
        return reading.received(cls, given, giver)

    def changed(self, **fields: Any) -> Plan:
        """Return a plan like this one with some fields changed."""
        return Plan(**{**dict(self), **fields})

    def to_json(self, indent: int | None = 2) -> str:
        """Return the plan as canonical JSON. Equal plans give equal text, even if they were read from different forms."""
        data = {"goal": "", "steps": [], **canonical(self)}
        return json.dumps(data, indent=indent, ensure_ascii=False)

    @property
    def hash(self) -> str:
        """The identity that an approval refers to: the SHA-256 of the canonical JSON, as 64 hexadecimal digits.

        It is computed each time from the current fields.
        """
        text = self.to_json(indent=None)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    problems: ClassVar = checks.problems

    def waves(self) -> list[list[str]]:
        """Return the step ids level by level; a level can start when the levels before it are done."""
        return graph.levels(self.graph)

    def critical_path(
        self, durations: Mapping[str, float] | None = None
    ) -> tuple[list[str], float]:
        """Return the chain of steps that takes longest, as (step ids, length).

        `durations` maps step ids to seconds; without it every step counts as 1. No schedule is shorter than this.
        """
        return graph.longest_path(self.graph, durations)

    def durations(self, toolbox: Toolbox) -> dict[str, float]:
        """Return the seconds that each step's tool declares, by step id; 0 for a step that has no tool."""
        return {step.id: _seconds(step, toolbox) for step in self.steps}

    def effects(self, toolbox: Toolbox) -> dict[str, Effects]:
        """Return the effect of each step on the world, by step id: "none", "idempotent" (safe to repeat), "unknown"
        or "once".
        """
        by_tool = toolbox.effects
        return {step.id: step.effects_with(by_tool) for step in self.steps}

    def __str__(self) -> str:
        lines = [escaped(self.goal)] if self.goal else []
        width = max(map(len, self.graph), default=0)
        for step in self.steps:
            line = f"{step.id:>{width}}  {_short(str(step))}"
            if step.depends_on:
                line += f"  (after {', '.join(step.depends_on)})"
            lines.append(line)
        return "\n".join(lines)


def _seconds(step: Step, toolbox: Toolbox) -> float:
    if not step.tool:
        return 0.0
    tool = toolbox[step.tool]
    return tool.seconds(tool.bind(step.params))


def _short(text: str) -> str:
    if len(text) <= 90:
        return text
    return f"{text[:60]} … {text[-25:]}"
