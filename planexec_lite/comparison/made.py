"""What was really called in a run, read off its events alone, whoever decided it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from planexec_lite import events as e
from planexec_lite.loop.run import Run


class Made(NamedTuple):
    """A call of a tool: when it began and ended, and whether it was said before why it would be made."""

    tool: str
    began: float
    ended: float
    announced: bool


def made(run: Run) -> Iterator[Made]:
    """Give each call that came to an end: of steps, of a rollback, and of an agent inside a step."""
    began: dict[str, float] = {}
    calls: dict[str, tuple[str, bool]] = {}
    reasoned: set[str] = set()  # the steps inside which a thought was the last that was heard
    for event in run.events:
        match event:
            case e.PlanProposed(plan=plan) if plan is not None:
                calls |= {step.id: (step.tool, bool(step.description)) for step in plan.steps if step.tool}
            case e.UndoStarted(at=at, step=id, call=call):
                began[id], calls[id] = at, (call.tool, True)
            case e.StepStarted(at=at, step=id):
                began[id] = at
            case e.StepDone(at=at, step=id) | e.StepFailed(at=at, step=id) | e.UndoDone(at=at, step=id) if id in calls:
                yield Made(calls[id][0], began[id], at, calls[id][1])
            case e.Inside(step=id, event=e.Thought()):
                reasoned.add(id)
            case e.Inside(at=at, step=id, event=e.Action(tool=tool)):
                began[f"{id} inside"], calls[f"{id} inside"] = at, (tool, id in reasoned)
            case e.Inside(at=at, step=id, event=e.Observation()) if f"{id} inside" in calls:
                tool, announced = calls.pop(f"{id} inside")
                reasoned.discard(id)
                yield Made(tool, began[f"{id} inside"], at, announced)
