"""Plan: the typed artifact that a planner writes and an executor reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ValidationError

from planexec_lite.plan import checks, graph
from planexec_lite.plan.data import read_json
from planexec_lite.plan.reading import SHAPE, PlanError, Problem, as_object, problem_of, unfenced
from planexec_lite.plan.step import PlanContent, canonical
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
        text = ""
        try:
            if isinstance(source, str):
                text = source
                source = read_json(unfenced(source.removeprefix("\ufeff")))
            else:
                json.dumps(source, ensure_ascii=False, default=str).encode()
            data = as_object(source)
            return cls.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
            raise PlanError((problem_of(detail, data) for detail in details), text) from None
        except PlanError as error:
            error.text = text
            raise
        except (ValueError, TypeError, RecursionError) as error:
            hint = f"answer with the JSON alone, no text before or after it; {SHAPE}"
            problem = Problem("not_json", None, f"this is not JSON: {error}", hint)
            raise PlanError([problem], text) from None

    @classmethod
    def received(cls, given: Any, giver: str) -> Plan:
        """Return a validated copy of a plan that `giver` passed in. Every plan from outside enters through this method.

        The copy is made only from the fields of `given`. The caller can change `given` later, build it without
        validation, or pass a subclass; only the copy is checked, shown and run.

        Raises `TypeError` if `given` is not a plan, and `PlanError` if its fields are invalid.
        """
        if not isinstance(given, Plan):
            raise TypeError(
                f"{giver} gave a {type(given).__name__} instead of a Plan; Plan.parse reads one"
            )
        try:
            text = cls.__pydantic_serializer__.to_json(
                given, exclude_defaults=True, warnings=False
            )
        except (ValueError, TypeError, RecursionError) as error:
            message = f"{giver} gave a plan that JSON can't represent: {error}"
            raise PlanError([Problem("not_json", None, message)]) from None
        try:
            return cls.model_validate_json(text)
        except ValueError:
            return cls.parse(text.decode())  # which says what is wrong

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
        seconds = dict.fromkeys(self.graph, 0.0)
        for step in self.steps:
            if step.tool:
                tool = toolbox[step.tool]
                seconds[step.id] = tool.seconds(tool.bind(step.params))
        return seconds

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
            text = str(step)
            if len(text) > 90:
                text = f"{text[:60]} … {text[-25:]}"
            line = f"{step.id:>{width}}  {text}"
            if step.depends_on:
                line += f"  (after {', '.join(step.depends_on)})"
            lines.append(line)
        return "\n".join(lines)
