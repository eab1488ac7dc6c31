"""The marks on a step for its reviewer: the problems of each field, the dangers, the changes."""

from __future__ import annotations

from typing import Literal

from planexec_lab.views.drawing.visible import call, visible
from planexec_lab.views.drawing.wording import count, listed, seconds
from planexec_lab.views.plan_diff import of_plans, of_steps
from planexec_lab.views.review_desk import fields
from planexec_lab.views.review_desk.draft import Draft, Row
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Effects, Tool, Toolbox

Risk = Literal["destructive", "once", "unknown", "open"]  # the gravest first
ORDER: tuple[Effects, ...] = ("none", "idempotent", "unknown", "once")
NAMES = {"depends_on": "waits for", "success_criteria": "done when"}
PLACES = {
    "unknown_dependency": "waits for", "self_dependency": "waits for", "cycle": "waits for",
    "indirect_reference": "waits for", "unknown_tool": "tool", "idle_step": "tool",
}  # fmt: skip


def place(draft: Draft, row: Row, problem: Problem) -> str:
    """Return the label of the field of a step that a problem of the step belongs to; "" where it belongs to none."""
    tool = row.step["tool"]
    for fault in draft.toolbox[tool].faults(row.step["params"]) if tool in draft.toolbox else ():
        if problem.message == f"{tool}: {fault.message}":
            return fields.label(fault.parameter)
    if problem.code == "unknown_tool" and repr(tool) not in problem.message:  # of its undo
        return ""
    if problem.code == "wrong_field":
        name = problem.message.split("'")[1].split(".")[0]
        return NAMES.get(name, name)
    return PLACES.get(problem.code, "")


def effects(row: Row, toolbox: Toolbox) -> Effects:
    """Return what a step does to the world: the worse of what it says itself and what its tool does.

    An unknown tool counts as the worst, and so does the toolbox if the executor chooses the calls.
    """
    own, tool = row.step["effects"], row.step["tool"]
    known = [one.effects for one in _tools(row, toolbox)]
    if not known and tool is not None:
        return "once"
    return max(*known, own or "none", "none", key=ORDER.index)


def risk(row: Row, toolbox: Toolbox) -> Risk | None:
    """Return how grave a step without an undo is.

    None: it changes nothing, or it has an undo that changes something, or its tool is declared to only add and is repeatable.
    "destructive": its tool is declared to delete or overwrite. "once": a repeat would do harm. "unknown": its effects are
    not declared. "open": all other steps.
    """
    done, tools, undo = effects(row, toolbox), _tools(row, toolbox), row.step["undo"]
    undone = undo is not None and undo["tool"] in toolbox and toolbox[undo["tool"]].effects != "none"
    if done == "none" or row.idle or undone:
        return None
    if any(one.destructive for one in tools):
        return "destructive"
    if done in ("once", "unknown"):
        return done
    return None if tools and all(one.destructive is False for one in tools) else "open"


def edit(draft: Draft, row: Row) -> str:
    """Return ``added`` or ``changed``, if the reviewer did that to the step."""
    came = next((step for step in draft.received.steps if step.id == row.id), None)
    if came is None:
        return "added"
    return "changed" if repr(came.model_dump()) != repr(dict(row.step)) else ""


def chosen(row: Row, draft: Draft) -> bool:
    """Whether a model chooses a step's calls."""
    return (draft.models and row.step["tool"] is None) or row.id in draft.model_chooses


def bounds(row: Row) -> list[str]:
    """Describe a step's other settings: its timeout, retries, dependencies and gate."""
    one = row.step
    limits = [f"times out after {seconds(one['timeout'])}"] if one["timeout"] else []
    limits += [f"tried again up to {count(one['retries'], 'time')}"] if one["retries"] else []
    limits += ["runs even if what it waits for fails"] if one["run_anyway"] else []
    return limits + (["asks before it starts"] if one["gate"] else [])


def changes(before: Plan, after: Plan) -> list[str]:
    """Describe the changes from one plan to the other: first the steps, then the rest."""
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
    """The known tools that the step can call."""
    tool = row.step["tool"]
    return list(toolbox) if tool is None else [toolbox[tool]] if tool in toolbox else []
