"""Repairs without a guess: a tool name with a typing mistake, a dependency that a reference shows.

Small models make these two faults most often. A repair is a suggestion, described step by step, and the user of the plan decides.
An ambiguous fault is left for `Plan.problems` to report.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from planexec_lite.plan import Plan, Step
from planexec_lite.tools import Toolbox, references

_NEAR = 0.75  # as difflib measures it: 1 is the same
_CLEARLY = 0.1  # how much nearer than any other name


@dataclass(frozen=True, slots=True)
class Repair:
    """One change: the `code` of the problem that it fixes, the id of the `step` (None: the rollback), and a description."""

    code: str
    step: str | None
    message: str

    def __str__(self) -> str:
        return f"{'plan' if self.step is None else f'step {self.step}'}: {self.message}"


def repaired(plan: Plan, toolbox: Toolbox) -> tuple[Plan, list[Repair]]:
    """Suggest repairs: return the repaired `plan` and the repairs; without repairs, the same plan and [].

    - An unknown tool gets the nearest name, if no other name is about as near.
    - A step that uses a result gets the dependency, if the id is unique and no cycle arises.

    `Plan.problems` reports the remaining faults.
    """
    repairs: list[Repair] = []
    missing = _missing(plan)

    def renamed(call: Any, step: str | None) -> Any:
        """A step or another call, with the nearest name of a tool."""
        if (name := _nearest(call.tool, toolbox)) is None:
            return call
        message = f"there is no tool {call.tool!r}; it calls {name!r}, the nearest name"
        repairs.append(Repair("unknown_tool", step, message))
        return call.model_copy(update={"tool": name})

    steps = []
    for step in plan.steps:
        changed = renamed(step, step.id)
        changes: dict[str, object] = {} if step.undo is None else {"undo": renamed(step.undo, step.id)}
        if added := missing.get(step.id):
            changes["depends_on"] = (*step.depends_on, *added)
            for id in added:
                uses = next(one for one in _references(step) if one.step == id)
                repairs.append(Repair("indirect_reference", step.id, f"it uses {uses}, so it waits for step {id}"))
        steps.append(changed.model_copy(update=changes))
    rollback = tuple(renamed(call, None) for call in plan.rollback)
    return (plan.changed(steps=tuple(steps), rollback=rollback) if repairs else plan), repairs


def _nearest(tool: str | None, toolbox: Toolbox) -> str | None:
    """The intended tool; None if the name is right or ambiguous."""
    if tool is None or tool in toolbox:
        return None
    wanted = tool.lower()
    near = sorted((difflib.SequenceMatcher(None, wanted, name.lower()).ratio(), name) for name in toolbox.names)[-2:]
    if not near or near[-1][0] < _NEAR or (len(near) == 2 and near[1][0] - near[0][0] < _CLEARLY):
        return None
    return near[-1][1]


def _missing(plan: Plan) -> dict[str, list[str]]:
    """The ids that each step uses and does not wait for, by its id, without those that would close a cycle."""
    times = Counter(step.id for step in plan.steps)
    missing = {
        step.id: [
            id
            for id in dict.fromkeys(reference.step for reference in _references(step))
            if times[id] == 1 and id != step.id and id not in step.depends_on
        ]
        for step in plan.steps
        if times[step.id] == 1
    }
    added = {step.id: (*step.depends_on, *missing.get(step.id, [])) for step in plan.steps}
    waiting = tuple(step.model_copy(update={"depends_on": added[step.id]}) for step in plan.steps)
    runs = {id for wave in plan.changed(steps=waiting).waves() for id in wave}
    # a step in no wave is on a cycle or behind a cycle; an arrow between two such steps might close it
    return {id: [other for other in ids if id in runs or other in runs] for id, ids in missing.items()}


def _references(step: Step) -> Iterable[references.Reference]:
    return references.find([dict(step.params), dict(step.undo.params) if step.undo is not None else {}])
