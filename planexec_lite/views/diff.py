"""The difference between two plans, step by step: what was kept, planned again, changed, added and dropped."""

from __future__ import annotations

from collections.abc import Collection

from planexec_lite import events as e
from planexec_lite.board import Board
from planexec_lite.plan import Plan, Step
from planexec_lite.run import Run
from planexec_lite.views.figure import Figure
from planexec_lite.views.sheet import Row, sheet
from planexec_lite.views.theme import CHANGES
from planexec_lite.views.words import clean, count, listed, name_of, value

HEAD = ("step", "change", "what", "how")
FIELDS = {"depends_on": "waits for", "success_criteria": "criterion"}  # where a field is called otherwise than in code


def diff(before: Plan | Run, after: Plan | None = None, done: Collection[str] = (), title: str | None = None) -> Figure:
    """Show what became of the steps of the plan `before` in the plan `after`.

    Args:
        before: a plan; or, without `after`, a run: then the plan before and after its last replanning; without any,
            everything was kept.
        after: the plan that takes its place. It need not repeat steps that are done.
        done: ids of the steps that were done before `after` was written. They are kept; other steps that `after`
            repeats as they were are planned again. Without it they are kept too.
        title: the finding; by default one is worded from the plans.

    Raises `ValueError` for a plan without a second one.
    """
    if isinstance(before, Run):
        before, after, done = _last_replan(before)
    elif after is None:
        raise ValueError("there is nothing to compare the plan with; give the plan after it, or a run")
    one, other = ({step.id: step for step in plan.steps} for plan in (before, after))
    changes = {id: _change(id, one, other, done) for id in _order(one, other)}
    rows = [
        Row([id, "", name_of(other.get(id) or one[id]), _how(id, one, other, done)], CHANGES[change])
        for id, change in changes.items()
    ]
    gone = [id for id, change in changes.items() if change == "dropped"]
    caption = f"Dropped: {listed(gone)} will not be carried out." if gone else ""
    return sheet(clean(title) if title is not None else _finding(list(changes.values())), HEAD, rows, caption)


def _last_replan(run: Run) -> tuple[Plan, Plan, tuple[str, ...]]:
    """The merged plan before and after the last plan that took the place of another, and what was done by then."""
    board, found = Board(), None
    for event in run.events:
        fit = isinstance(event, e.PlanProposed) and event.plan is not None and not event.problems
        before = board.plan if fit and board.proposal is not None else None
        board.apply(event)
        if before is not None:
            found = before, board.plan, board.done
    return found or (board.plan, board.plan, board.done)


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


def _how(id: str, one: dict[str, Step], other: dict[str, Step], done: Collection[str]) -> str:
    """Why a step was kept, or which of its fields differ, and how."""
    if id in done or id not in one or id not in other:
        return "done" if id in done else ""
    said = []
    for name in Step.model_fields:
        old, new = getattr(one[id], name), getattr(other[id], name)
        if old != new:
            said.append(f"{FIELDS.get(name, name)} {_written(old)} → {_written(new)}")
    return "; ".join(said)


def _written(field: object) -> str:
    if isinstance(field, tuple):
        return ", ".join(field) or "nothing"
    return "nothing" if field is None else clean(field) if isinstance(field, str) else value(field)


def _finding(changes: list[str]) -> str:
    said: list[str] = []
    for change in ("added", "changed", "again", "dropped", "kept"):
        if number := changes.count(change):
            said.append(f"{number if said else count(number, 'step')} {CHANGES[change].word}")
    if set(changes) <= {"kept"}:
        return f"Nothing changed: {said[0]}" if said else "Two plans without steps"
    return ", ".join(said)
