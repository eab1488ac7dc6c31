"""The figures of a variation's run, counted from its events alone."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any

from planexec_lab.scoreboard.assumptions import dollars
from planexec_lite.meter import ModelCall, Usage
from planexec_lite.run import Run
from planexec_lite.run.events import (
    Event,
    Inside,
    Judged,
    PlanProposed,
    PlanStarted,
    Requeued,
    RunStarted,
    StepDone,
    StepFailed,
    StepStarted,
)

_ENDS = (StepDone, StepFailed, Requeued)
ROLES = ("planner", "executor", "evaluator")


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures from the events of a run.

    Args:
        seconds: from the start to the last event, on the run's clock.
        usage: calls and tokens of models, by role; the planner of a nested run counts as a planner.
        dollars: cost of the calls.
        horizon: number of steps of the longest valid plan, in the outer run.
        complete: whether the first valid plan was complete.
        reasons: number of requests to the planner, by reason, in the outer run.
        executors: executors of the outer run's steps: "tools", a model's name, or "a run" inside the step; most frequent first.
        workers: the most steps that ran at once, in the outer run.
    """

    seconds: float
    usage: dict[str, Usage]
    dollars: float
    horizon: int
    complete: bool
    reasons: dict[str, int]
    executors: tuple[str, ...]
    workers: int

    @property
    def calls(self) -> int:
        """Calls of models in all roles."""
        return sum(usage.calls for usage in self.usage.values())


def figures(*runs: Run) -> Figures:
    """Count what happened in a run, or in several together."""
    events = [event for run in runs for event in run.events]
    calls: dict[str, list[ModelCall]] = {role: [] for role in ROLES}
    for role, call in calls_in(events):
        calls[role].append(call)
    plans = [event.plan for event in events if isinstance(event, PlanProposed) and event.plan and not event.problems]
    return Figures(
        seconds=fsum(run.makespan for run in runs),
        usage={role: Usage.of(some) for role, some in calls.items() if some},
        dollars=dollars(call for some in calls.values() for call in some),
        horizon=max((len(plan.steps) for plan in plans), default=0),
        complete=bool(plans) and plans[0].complete,
        reasons=dict(Counter(event.reason for event in events if isinstance(event, PlanStarted))),
        executors=tuple(name for name, _ in Counter(_executors(events)).most_common()),
        workers=_at_once(events),
    )


def calls_in(events: Iterable[Any]) -> Iterator[tuple[str, ModelCall]]:
    """Every model call with its role. The calls of a nested run are counted there, and not again with the step."""
    inside: dict[str, list[Event]] = {}
    for event in events:
        if isinstance(event, Inside):
            inside.setdefault(event.step, []).append(event.event)
            continue
        role = "evaluator" if isinstance(event, Judged) else "executor"
        role = "planner" if isinstance(event, PlanProposed) else role
        within = inside.pop(event.step or "", []) if isinstance(event, _ENDS) else []
        if any(isinstance(one, RunStarted) for one in within):
            yield from calls_in(within)
        else:
            yield from ((role, call) for call in getattr(event, "calls", ()))


def _executors(events: Iterable[Any]) -> Iterator[str]:
    """The executor of each done step."""
    runs: set[str] = set()
    for event in events:
        match event:
            case Inside(step=id, event=RunStarted()):
                runs.add(id)
            case StepDone(step=id, calls=calls):
                yield "a run" if id in runs else calls[-1].model if calls else "tools"


def _at_once(events: Iterable[Any]) -> int:
    most = now = 0
    for event in events:
        now += isinstance(event, StepStarted) - isinstance(event, _ENDS)
        most = max(most, now)
    return most
