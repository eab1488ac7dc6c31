"""Which steps of a plan are done before which: what several checks ask."""

from __future__ import annotations

from collections.abc import Iterable

from planexec_lite import Plan


def behind(plan: Plan, id: str) -> set[str]:
    """The ids of all steps of the plan that are done before this one, directly or through others."""
    found: set[str] = set()
    to_visit = list(plan.graph[id])
    while to_visit:
        other = to_visit.pop()
        if other in plan.graph and other not in found:
            found.add(other)
            to_visit += plan.graph[other]
    return found


def unguarded(plan: Plan, tool: str, before: Iterable[str]) -> list[str]:
    """The tools that should be done before each step with `tool` and are not; all of them where there is no such step."""
    tools = {step.id: step.tool for step in plan.steps}
    done = [{tools[id] for id in behind(plan, step.id)} for step in plan.steps if step.tool == tool]
    return [name for name in before if not done or any(name not in names for names in done)]
