"""The difference between two plans, step by step: what was kept, planned again, changed, moved, added and removed.

A step is the same step if it has the same id and call; else the same call or words under another id: then it was moved;
else the same id and tool.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
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
    pairs = _pairs(before, after, done)
    changes = [_change(was, now, done) for was, now in pairs]
    rows, removed = [], []
    for (was, now), change in zip(pairs, changes, strict=True):
        step = now or was or Step(id="")
        how = _how(was, now, done)
        rows.append(Row([step.id, "", _what(step), "".join(part for part, _ in how)], CHANGES[change], how=how))
        if change == "removed":
            removed.append(step.id)
    sentences = [f"Removed: {listed(removed)} will not be carried out."] if removed else []
    sentences += [f"The plan's {name}: {old} → {new}." for name, old, new in of_plans(before, after)]
    return table(_finding(changes), HEAD, rows, " ".join(sentences), lines=WHOLE)


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


def _pairs(before: Plan, after: Plan, done: Collection[str]) -> list[tuple[Step | None, Step | None]]:
    """The steps of both plans, each with its other form: in the order of `after`, and removed ones behind the step before them."""
    origins = _origins(before, after, done)
    pairs: list[tuple[Step | None, Step | None]] = [(origins.get(step.id), step) for step in after.steps]
    place = -1
    for step in before.steps:
        found = next((number for number, (was, _) in enumerate(pairs) if was is step), None)
        place = place + 1 if found is None else found
        if found is None:
            pairs.insert(place, (step, None))
    return pairs


def _origins(before: Plan, after: Plan, done: Collection[str]) -> dict[str, Step]:
    """For each step of `after` the step of `before` that it is.

    A done step is only itself: a step that repeats its call is new.
    """
    left = {step.id: step for step in before.steps}
    origins = {id: left.pop(id) for id in after.graph if id in left and id in done}
    for alike in ALIKE:
        known: dict[tuple[str | None, ...], list[Step]] = {}
        for old in left.values():
            if old.id not in done:
                known.setdefault(alike(old), []).append(old)
        for step in after.steps:
            if step.id not in origins and (same := known.get(alike(step))):
                origins[step.id] = left.pop(same.pop(0).id)
    return origins


def _call(step: Step) -> tuple[str | None, ...]:
    """What a step is, whatever its id: its call, or its words where a model chooses the call."""
    return step.tool, repr(dict(step.params)) if step.tool else step.description


ALIKE: tuple[Callable[[Step], tuple[str | None, ...]], ...] = (  # the surest first
    lambda step: (step.id, *_call(step)),
    _call,
    lambda step: (step.id, step.tool),
    lambda step: (step.tool, step.description or step.id),
)


def _change(was: Step | None, now: Step | None, done: Collection[str]) -> str:
    if was is None:
        return "added"
    if was.id in done:
        return "kept"
    if now is None:
        return "removed"
    if was.id != now.id:
        return "moved"
    if was != now:
        return "changed"
    return "again" if done else "kept"


def _what(step: Step) -> str:
    return visible(step.description) or call(step.tool, step.params)


def _how(was: Step | None, now: Step | None, done: Collection[str]) -> list[tuple[str, bool]]:
    """Why a step was kept, which fields differ, one on each line, and what an added or removed step calls.

    In parts, each with whether it is struck out.
    """
    if was is not None and was.id in done:
        return [("done", False)]
    parts: list[tuple[str, bool]] = []
    if was is not None and now is not None:
        for name, old, new in of_steps(was, now):
            line = "\n" if parts else ""
            parts += [(f"{line}{FIELDS.get(name, name)} ", False), (old, old != NOTHING), (f" → {new}", False)]
        return parts
    step = now or was
    return [(call(step.tool, step.params), False)] if step is not None and step.tool and step.description else []


def _finding(changes: list[str]) -> str:
    counts: list[str] = []
    for change in ("removed", "added", "moved", "changed", "again", "kept"):
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
