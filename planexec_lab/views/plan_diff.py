"""The difference between two plans, step by step: what was kept, planned again, changed, added and dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import WHOLE, Row, table
from planexec_lab.views.drawing.theme import CHANGES
from planexec_lab.views.drawing.visible import call, literal, visible, written
from planexec_lab.views.drawing.wording import count, listed
from planexec_lite.assembly import Board
from planexec_lite.plan import Call, Plan, Step
from planexec_lite.run import Run
from planexec_lite.run import events as e

NOTHING = "nothing"
HEAD = ("step", "change", "what", "how")
FIELDS = {"depends_on": "waits for", "success_criteria": "criterion"}  # where a field is called otherwise than in code


def diff(before: Plan | Run, after: Plan | None = None, done: Collection[str] = ()) -> Figure:
    """Show the changes from the plan `before` to the plan `after`, in full.

    Args:
        before: a plan; or, without `after`, a run, whose last replan is shown. A run without a replan kept every step.
        after: the plan that replaces `before`. It need not repeat done steps.
        done: ids of the steps that were done before `after` was written. They are kept; unchanged steps outside `done`
            are planned again. Without `done` they count as kept too.

    Raises `ValueError` for a plan without a second plan.
    """
    if isinstance(before, Run):
        before, after, done = _last_replan(before)
    elif after is None:
        raise ValueError("there is nothing to compare the plan with; give the plan after it, or a run")
    one, other = ({step.id: step for step in plan.steps} for plan in (before, after))
    changes = {id: _change(id, one, other, done) for id in _order(one, other)}
    rows = [
        Row([id, "", _what(other.get(id) or one[id]), _how(id, one, other, done)], CHANGES[change])
        for id, change in changes.items()
    ]
    gone = [id for id, change in changes.items() if change == "dropped"]
    sentences = [f"Dropped: {listed(gone)} will not be carried out."] if gone else []
    sentences += [f"The plan's {name}: {old} → {new}." for name, old, new in of_plans(before, after)]
    return table(_finding(list(changes.values())), HEAD, rows, " ".join(sentences), lines=WHOLE)


def _last_replan(run: Run) -> tuple[Plan, Plan, tuple[str, ...]]:
    """The merged plan before and after the last plan that took the place of another, and what was done by then."""
    board, last_replan = Board(), None
    for event in run.events:
        fit = isinstance(event, e.PlanProposed) and event.plan is not None and not event.problems
        before = board.plan if fit and board.proposal is not None else None
        board.apply(event)
        if before is not None:
            last_replan = before, board.plan, board.done
    return last_replan or (board.plan, board.plan, board.done)


def _order(one: dict[str, Step], other: dict[str, Step]) -> list[str]:
    """The ids of the plan after, and those that are gone behind the step that they followed."""
    order = list(other)
    previous: str | None = None
    for id in one:
        if id not in other:
            order.insert(order.index(previous) + 1 if previous is not None else 0, id)
        previous = id
    return order


def _change(id: str, one: dict[str, Step], other: dict[str, Step], done: Collection[str]) -> str:
    if id in done:
        return "kept"
    if id not in one or id not in other:
        return "dropped" if id in one else "added"
    if one[id] != other[id]:
        return "changed"
    return "again" if done else "kept"


def _what(step: Step) -> str:
    return visible(step.description) or call(step.tool, step.params)


def _how(id: str, one: dict[str, Step], other: dict[str, Step], done: Collection[str]) -> str:
    """Why a step was kept, which of its fields differ and how, and what an added one calls."""
    if id in done:
        return "done"
    if id not in one:
        step = other[id]
        return call(step.tool, step.params) if step.tool and step.description else ""
    if id not in other:
        return ""
    return "; ".join(f"{FIELDS.get(name, name)} {old} → {new}" for name, old, new in of_steps(one[id], other[id]))


def _finding(changes: list[str]) -> str:
    counts: list[str] = []
    for change in ("added", "changed", "again", "dropped", "kept"):
        if number := changes.count(change):
            counts.append(f"{number if counts else count(number, 'step')} {CHANGES[change].word}")
    if set(changes) <= {"kept"}:
        return f"Nothing changed: {counts[0]}" if counts else "Two plans without steps"
    return ", ".join(counts)


class Difference(NamedTuple):
    """One change: the name of a field of the step or plan, or of an argument, with the old and the new value."""

    name: str
    old: str
    new: str


def of_steps(before: Step, after: Step) -> Iterator[Difference]:
    """Yield the differences of two steps; arguments are compared singly if both steps use the same tool."""
    for name in Step.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if name == "params" and before.tool == after.tool:
            for argument in dict.fromkeys([*old, *new]):
                was, now = _given(old, argument), _given(new, argument)
                if was != now:
                    yield Difference(visible(argument), was, now)
        elif old != new or _value(old) != _value(new):  # 1 and True are equal, and do not read the same
            yield Difference(name, _value(old), _value(new))


def of_plans(before: Plan, after: Plan) -> Iterator[Difference]:
    """Yield the differences of two plans apart from their steps: goal, rollback list, answer and whether the plan is complete."""
    for name in Plan.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if name != "steps" and old != new:
            yield Difference(name, _value(old), _value(new))


def _given(params: Mapping[str, Any], name: str) -> str:
    return written(params[name]) if name in params else NOTHING


def _value(field: Any) -> str:
    if isinstance(field, Call):
        return call(field.tool, field.params)
    if isinstance(field, tuple):
        return ", ".join(map(_value, field)) or NOTHING
    if isinstance(field, Mapping):
        return ", ".join(f"{visible(name)}={literal(value)}" for name, value in field.items()) or NOTHING
    if isinstance(field, bool):
        return "yes" if field else "no"
    return NOTHING if field is None or field == "" else visible(field)
