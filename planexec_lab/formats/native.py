"""The kit's own shapes: ``{"goal", "steps"}``, a list of steps, ``{"tasks"}``. See `Plan.parse`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planexec_lab.formats.places import Path
from planexec_lab.formats.shapes import ItemError, load
from planexec_lite.plan import Plan, PlanError

_MARKS = {"description", "task", "tool", "action", "params", "depends_on"}


def recognises(data: Any) -> bool:
    """Is this an object with steps, or a list of texts or steps?"""
    if isinstance(data, Mapping):
        return not data.keys().isdisjoint({"steps", "tasks", "plan"})
    return isinstance(data, list) and bool(data) and all(map(_is_step, data))


def read(data: Any) -> Plan:
    """Read a plan in one of the kit's own shapes."""
    data = load(data) if isinstance(data, str) else data
    try:
        return Plan.parse(data)
    except PlanError as error:
        paths = _paths(data)
        raise ItemError(error.problems, [paths.get(problem.step or "", ()) for problem in error.problems]) from None


def write(plan: Plan) -> str:
    """Write the canonical JSON."""
    return plan.to_json()


def _paths(data: Any) -> dict[str, Path]:
    """The way to each step by what a problem calls it: its id; ``#2``, by its place; or the number that it was given."""
    lists = [key for key in ("steps", "tasks", "plan") if key in data] if isinstance(data, Mapping) else []
    steps = data[lists[0]] if lists else data
    steps = steps if isinstance(steps, list) else []
    given = [one.get("id") if isinstance(one, Mapping) else None for one in steps]
    numbered = all(id is None for id in given)
    paths: dict[str, Path] = {}
    for place, id in enumerate(given):
        named = str(id) if isinstance(id, str | int) else f"{'' if numbered else '#'}{place + 1}"
        paths.setdefault(named, (*lists, place))
    return paths


def _is_step(item: Any) -> bool:
    if isinstance(item, Mapping):
        return not item.keys().isdisjoint(_MARKS) and item.keys().isdisjoint({"dep", "args"})
    return isinstance(item, str)
