"""The kit's own shapes: ``{"goal", "steps"}``, a list of steps, ``{"tasks"}``. See `Plan.parse`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planexec_lab.formats.shapes import load
from planexec_lab.formats.steps import with_gates
from planexec_lite.plan import Plan

_MARKS = {"description", "task", "tool", "action", "params", "depends_on"}


def recognises(data: Any) -> bool:
    """Is this an object with steps, or a list of texts or steps?"""
    if isinstance(data, Mapping):
        return not data.keys().isdisjoint({"steps", "tasks", "plan"})
    return isinstance(data, list) and bool(data) and all(map(_is_step, data))


def read(data: Any) -> Plan:
    """Read a plan in one of the kit's own shapes."""
    return Plan.parse(with_gates(load(data) if isinstance(data, str) else data))


def write(plan: Plan) -> str:
    """Write the canonical JSON."""
    return plan.to_json()


def _is_step(item: Any) -> bool:
    if isinstance(item, Mapping):
        return not item.keys().isdisjoint(_MARKS) and item.keys().isdisjoint({"dep", "args"})
    return isinstance(item, str)
