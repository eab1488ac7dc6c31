"""A run's jobs, derived from its events: subject, inner events and outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planexec_lab.spans.span import Span
from planexec_lite.plan import Step
from planexec_lite.run import events as e
from planexec_lite.tools.references import resolve

Key = tuple[str, str | None]


class Told(NamedTuple):
    """An event, what its spans are called, and when it happened on the clock of the outermost run."""

    path: str
    at: float
    event: Any


@dataclass(slots=True, eq=False)
class Job:
    """A job, from its …Started event on.

    Attributes:
        step: its step in the plan at the job's start.
        tool: the tool that it calls; None: no tool.
        params: the arguments of that call, with resolved references.
        inside: the events inside it.
        actions: a model's calls in it, by their place in `inside`.
        outcome: its outcome; None while it is in flight.
    """

    asked: Told
    step: Step | None = None
    tool: str | None = None
    params: Any = None
    inside: list[Told] = field(default_factory=list)
    actions: dict[int, Span] = field(default_factory=dict)
    outcome: Told | None = None


class Steps:
    """The steps of all plans so far, and the results: what a step is called with is known when it starts."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self.results: dict[str, Any] = {}

    def learn(self, event: Any) -> None:
        """Something happened."""
        match event:
            case e.PlanProposed(plan=plan) | e.Reviewed(plan=plan) if plan is not None:
                self.steps.update({step.id: step for step in plan.steps})
            case e.StepProposed(step=step):
                self.steps[step.id] = step
            case e.Judged(changed=step) if step is not None:
                self.steps[step.id] = step
            case e.StepDone(step=id, result=result):
                self.results[id] = result

    def job(self, asked: Told, content: bool) -> Job:
        """The job that begins with this event."""
        event = asked.event
        step = self.steps.get(event.step) if isinstance(event, e.StepStarted | e.JudgeStarted) else None
        call = event.call if isinstance(event, e.UndoStarted) else step if isinstance(event, e.StepStarted) else None
        job = Job(asked, step, call.tool if call is not None else None)
        if call is not None and job.tool is not None and content:
            job.params = self._resolved(call.params)
        return job

    def _resolved(self, params: Mapping[str, Any]) -> Any:
        """Arguments with what their references stand for; as the plan has them where a result is not there."""
        try:
            return resolve(params, self.results)
        except (LookupError, ValueError, TypeError):
            return params


def ended_by(event: Any, flying: Mapping[Key, Job]) -> Key | None:
    """The job of an outcome. An interrupted or cancelled job is identified by its step."""
    step = getattr(event, "step", None)
    vague = isinstance(event, e.Requeued | e.StepInDoubt)
    kinds = ("undo", "judge", "backoff", "step", "plan") if vague else (what(event),)
    return next(((kind, step) for kind in kinds if (kind, step) in flying), None)


def what(event: Any) -> str:
    """The kind of work, by the first word of the event's type: planning, a step, judging, backoff or undo."""
    kind = type(event).__name__.lower()
    return next((job for job in ("plan", "judge", "backoff", "undo") if kind.startswith(job)), "step")


def name_of(event: Any) -> str:
    """The name of a job's span."""
    again = f", try {event.attempt}" if isinstance(event, e.StepStarted) and event.attempt > 1 else ""
    return f"{what(event)} {getattr(event, 'step', '')}{again}"
