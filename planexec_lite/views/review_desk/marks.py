"""What a reviewer must be told about a step: which problem belongs to which field, what is dangerous, what was changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from planexec_lite.executors import chooses_calls
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.tools import Effects, Tool, Toolbox
from planexec_lite.views.drawing.visible import call, visible
from planexec_lite.views.drawing.wording import count, listed, seconds
from planexec_lite.views.plan_diff import of_plans, of_steps
from planexec_lite.views.review_desk import fields
from planexec_lite.views.review_desk.draft import SIDES, Draft, Row

Risk = Literal["destructive", "once", "unknown", "open"]
ORDER: tuple[Effects, ...] = ("none", "idempotent", "unknown", "once")
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
    placed: dict[int | None, dict[str, list[Problem]]] = {}
    at = {row.key: _arguments(draft, row) for row in draft.rows}
    for problem in draft.problems:
        key = draft.key_of(problem.step) if problem.step is not None else None
        name = "" if key is None else _field(problem, draft.row(key), at[key])
        placed.setdefault(key, {}).setdefault(name, []).append(problem)
    return placed


def effects(row: Row, toolbox: Toolbox) -> Effects:
    """Return what a step does to the world: the worse of what it says itself and what its tool does.

    An unknown tool may do the worst, and so may any of the toolbox where the executor chooses.
    """
    own, tool = row.step["effects"], row.step["tool"]
    known = [one.effects for one in _tools(row, toolbox)]
    if not known and tool is not None:
        return "once"
    return max(*known, own if own in ORDER else "none", "none", key=ORDER.index)


def risk(row: Row, toolbox: Toolbox) -> Risk | None:
    """Return how a step weighs that nothing takes back.

    None: it changes nothing, or has an undo that changes something, or its tool is declared to add only and may be repeated.
    "destructive": its tool is declared to delete or overwrite. "once": a repeat would do harm. "unknown": its effects are
    not declared. "open": all the others.
    """
    done, tools = effects(row, toolbox), _tools(row, toolbox)
    if done == "none" or idle(row) or _undone(row, toolbox):
        return None
    if any(one.destructive for one in tools):
        return "destructive"
    if done == "once":
        return "once"
    if done == "unknown":
        return "unknown"
    return None if tools and all(one.destructive is False for one in tools) else "open"


def chosen(row: Row, draft: Draft) -> bool:
    """Whether a model chooses the calls of a step, as far as the desk knows the executor."""
    return draft.executor is not None and chooses_calls(draft.executor, Step.model_construct(**row.step))


def risks(draft: Draft) -> dict[Risk, list[Row]]:
    """Return the steps that nothing takes back, the gravest first."""
    by_risk: dict[Risk, list[Row]] = {name: [] for name in get_args(Risk)}
    for row in draft.rows:
        if name := risk(row, draft.toolbox):
            by_risk[name].append(row)
    return {name: rows for name, rows in by_risk.items() if rows}


def bounds(row: Row) -> list[str]:
    """Return in words what else changes what happens at a step: its time limit, its retries, what it waits for, its gate."""
    one = row.step
    limits = [f"given up after {seconds(one['timeout'])}"] if one["timeout"] else []
    limits += [f"tried again up to {count(one['retries'], 'time')}"] if one["retries"] else []
    limits += ["runs even if what it waits for fails"] if one["run_anyway"] else []
    return limits + (["asks before it starts"] if one["gate"] else [])


def idle(row: Row) -> bool:
    """Whether a step says neither what to do nor with which tool, as one that was added just now."""
    return row.step["tool"] is None and not row.step["description"].strip()


def changes(before: Plan, after: Plan) -> list[str]:
    """Return in words what was changed from one plan to the other: what became of the steps, the order, then the rest."""
    one, other = ({step.id: step for step in plan.steps} for plan in (before, after))
    sentences = [
        f"Step {visible(id)} removed: {visible(step.description or step)}"
        for id, step in one.items()
        if id not in other
    ]
    for id, step in other.items():
        if id not in one:
            waits = f", after {listed(map(visible, step.depends_on))}" if step.depends_on else ""
            what = [visible(step.description)] * bool(step.description.strip())
            what += [call(step.tool, step.params)] * bool(step.tool)
            sentences.append(f"Step {visible(id)} added{waits}" + (f": {', '.join(what)}" if what else ""))
        else:
            differences = of_steps(one[id], step)
            sentences += [
                f"Step {visible(id)}, {NAMES.get(name, name)}: {old} → {new}" for name, old, new in differences
            ]
    kept, now = ([id for id in plan if id in one and id in other] for plan in (one, other))
    if kept != now:
        sentences.append(f"Order: {', '.join(map(visible, other))}")
    return sentences + [f"The plan's {name}: {old} → {new}" for name, old, new in of_plans(before, after)]


def _tools(row: Row, toolbox: Toolbox) -> list[Tool]:
    """The tools that the step may call, as far as they are known."""
    tool = row.step["tool"]
    return list(toolbox) if tool is None else [toolbox[tool]] if tool in toolbox else []


def _undone(row: Row, toolbox: Toolbox) -> bool:
    """Whether the step has an undo that may take something back; a call that changes nothing takes nothing back."""
    tool = row.call("undo")["tool"]
    return tool in toolbox and toolbox[tool].effects != "none"


def _arguments(draft: Draft, row: Row) -> Mapping[str, str]:
    """The place of every fault in the arguments, by the message that a plan's check gives it."""
    place_by_message: dict[str, str] = {}
    for side in SIDES:
        call = row.call(side)
        if call["tool"] in draft.toolbox:
            for fault in draft.toolbox[call["tool"]].faults(call["params"]):
                place_by_message.setdefault(f"{call['tool']}: {fault.message}", fields.label(fault.parameter, side))
    return place_by_message


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
