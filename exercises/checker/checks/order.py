"""Find out which steps of a plan are certain to be done before another step."""

from __future__ import annotations

from collections.abc import Iterable

from planexec_lite import Plan


def behind(plan: Plan, id: str) -> set[str]:
    """Return the ids of all steps that step `id` depends on, directly or through other steps."""
    found: set[str] = set()
    to_visit = list(plan.graph[id])
    while to_visit:
        other = to_visit.pop()
        if other in plan.graph and other not in found:
            found.add(other)
            to_visit += plan.graph[other]
    return found


def unguarded(plan: Plan, tool: str, before: Iterable[str]) -> list[str]:
    """Return the tools from `before` that a step with `tool` does not depend on; all of `before` if no step uses `tool`."""
    tools = {step.id: step.tool for step in plan.steps}
    done = [{tools[id] for id in behind(plan, step.id)} for step in plan.steps if step.tool == tool]
    return [name for name in before if not done or any(name not in names for names in done)]
