"""What a timeline shows, without drawing it: from the events of a run to bars in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planexec_lite import events as e
from planexec_lite.run import Run


class Bar(NamedTuple):
    """A piece of work: a try of a step or, where `step` is None, a planner at work; from `start` to `end`, in seconds."""

    step: str | None
    start: float
    end: float
    state: str
    attempt: int = 1


def bars(run: Run) -> list[Bar]:
    """Return what was worked on, in the order in which it was started; what is still in flight lasts until now."""
    found: list[Bar] = []
    open_at: dict[str | None, int] = {}
    for event in run.events:
        match event:
            case e.PlanStarted():
                open_at[None] = len(found)
                found.append(Bar(None, event.at, run.board.now, "running"))
            case e.StepStarted():
                open_at[event.step] = len(found)
                found.append(Bar(event.step, event.at, run.board.now, "running", event.attempt))
            case e.PlanProposed() | e.PlanFailed() | e.StepDone() | e.StepFailed():
                step = None if isinstance(event, e.PlanProposed | e.PlanFailed) else event.step
                if step in open_at:
                    number = open_at.pop(step)
                    start = max(round(event.at - event.seconds, 9), 0.0)
                    found[number] = found[number]._replace(start=start, end=event.at, state=_state(event))
    return found


def lanes(found: Sequence[Bar]) -> list[list[Bar]]:
    """Share the bars out: each goes to the first lane that is free when it starts."""
    shared: list[list[Bar]] = []
    for bar in sorted(found, key=lambda bar: bar.start):
        free = next((lane for lane in shared if lane[-1].end <= bar.start + 1e-9), None)
        if free is None:
            shared.append(free := [])
        free.append(bar)
    return shared


def durations(run: Run) -> dict[str, float]:
    """Return the seconds of work that each step of a run took, all its tries together: what `graph` takes."""
    taken: dict[str, float] = {}
    for bar in bars(run):
        if bar.step is not None:
            taken[bar.step] = round(taken.get(bar.step, 0.0) + bar.end - bar.start, 9)
    return taken


def _state(event: e.Outcome) -> str:
    refused = isinstance(event, e.PlanProposed) and (event.problems or event.plan is None)
    return "refused" if refused else "failed" if isinstance(event, e.StepFailed | e.PlanFailed) else "done"
