"""What a reviewer must be told about a step: which problem belongs to which field, what is dangerous, what was changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.tools import Effects, Toolbox
from planexec_lite.views.review_desk import fields
from planexec_lite.views.review_desk.draft import SIDES, Draft, Row
from planexec_lite.views.words import clean, listed, name_of, value

NAMES = {"depends_on": "waits for", "success_criteria": "done when"}
PLACES = {
    "unknown_dependency": "waits for", "self_dependency": "waits for", "cycle": "waits for",
    "indirect_reference": "waits for", "unknown_tool": "tool", "idle_step": "tool", "dangling_reference": "params",
}  # fmt: skip


def places(draft: Draft) -> dict[int | None, dict[str, list[Problem]]]:
    """Return the problems of a draft by the key of the row and the name of the field that they belong to.

    A field is called as its label says, see `fields.label`; what belongs to no field has the name
    ``""``, and what belongs to no step the key None. Every problem has exactly one place.
    """
    found: dict[int | None, dict[str, list[Problem]]] = {}
    at = {row.key: _arguments(draft, row) for row in draft.rows}
    for problem in draft.problems:
        key = draft.key_of(problem.step) if problem.step is not None else None
        name = "" if key is None else _field(problem, draft.row(key), at[key])
        found.setdefault(key, {}).setdefault(name, []).append(problem)
    return found


def effects(row: Row, toolbox: Toolbox) -> Effects:
    """Return what a step does to the world: as the step says, else as its tool does, else the worst of the toolbox."""
    own, tool = row.step["effects"], row.step["tool"]
    order: list[Effects] = ["none", "idempotent", "once"]
    if own in order:
        return order[order.index(own)]
    if tool in toolbox:
        return toolbox[tool].effects
    return max((one.effects for one in toolbox), key=order.index, default="once") if tool is None else "once"


def dangerous(row: Row, toolbox: Toolbox) -> bool:
    """Whether a step does what can neither be repeated nor taken back."""
    return effects(row, toolbox) == "once" and row.step["undo"] is None and not idle(row)


def idle(row: Row) -> bool:
    """Whether a step says neither what to do nor with which tool, as one that was added just now."""
    return row.step["tool"] is None and not row.step["description"].strip()


def changes(before: Plan, after: Plan) -> list[str]:
    """Return in words what was changed from one plan to the other: first what became of the steps, then the order."""
    one, other = ({step.id: step for step in plan.steps} for plan in (before, after))
    said = [f"Step {id} removed: {name_of(one[id])}" for id in one if id not in other]
    for id, step in other.items():
        if id not in one:
            waits = f", after {listed(step.depends_on)}" if step.depends_on else ""
            said.append(f"Step {id} added{waits}" + (f": {name}" if (name := name_of(step)) else ""))
        elif step != one[id]:
            said += [f"Step {id}, {difference}" for difference in _differences(one[id], step)]
    kept, now = ([id for id in plan if id in one and id in other] for plan in (one, other))
    if kept != now:
        said.append(f"Order: {', '.join(other)}")
    return said


def _arguments(draft: Draft, row: Row) -> Mapping[str, str]:
    """The place of every fault in the arguments, by the message that a plan's check gives it."""
    found: dict[str, str] = {}
    for side in SIDES:
        call = row.call(side)
        if call["tool"] in draft.toolbox:
            for fault in draft.toolbox[call["tool"]].faults(call["params"]):
                found.setdefault(f"{call['tool']}: {fault.message}", fields.label(fault.parameter, side))
    return found


def _field(problem: Problem, row: Row, arguments: Mapping[str, str]) -> str:
    if problem.message in arguments:
        return arguments[problem.message]
    if problem.code == "unknown_tool" and repr(row.step["tool"]) not in problem.message:
        return "undo"
    if problem.message.startswith("its undo"):
        return "undo"
    if problem.code == "wrong_field":
        name = problem.message.split("'")[1].split(".")[0]
        return NAMES.get(name, name)
    return PLACES.get(problem.code, "")


def _differences(before: Step, after: Step) -> list[str]:
    said = []
    for name in Step.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if name == "params" and before.tool == after.tool:
            arguments = [argument for argument in {**old, **new} if _given(old, argument) != _given(new, argument)]
            said += [f"{argument}: {_given(old, argument)} → {_given(new, argument)}" for argument in arguments]
        elif old != new:
            said.append(f"{NAMES.get(name, name)}: {_written(old)} → {_written(new)}")
    return said


def _given(params: Mapping[str, Any], name: str) -> str:
    return value(params[name]) if name in params else "nothing"


def _written(field: object) -> str:
    if isinstance(field, tuple):
        return ", ".join(field) or "nothing"
    return "nothing" if field in (None, "") else clean(field) if isinstance(field, str) else _plain(field)


def _plain(field: object) -> str:
    return value(field) if isinstance(field, bool | int | float | dict) else clean(field)
