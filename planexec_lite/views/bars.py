"""What a timeline shows, without drawing it: from the events of a run to bars in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planexec_lite import events as e
from planexec_lite.run import Run

REASONS = {
    "first": "planning", "repair": "repair", "horizon": "planning on", "failure": "replanning after a failure",
    "news": "replanning after news", "step": "replanning after a step", "stall": "replanning after a stall",
}  # fmt: skip
JUDGING = "judging"
BY_VERDICT = "failed by verdict"


class Bar(NamedTuple):
    """A piece of work from `start` to `end`, in seconds.

    It is a try of a step; or, where `what` says so, the evaluator that judges the step, or, where `step` is None, the
    planner, and why it was asked.
    """

    step: str | None
    start: float
    end: float
    state: str
    attempt: int = 1
    what: str = ""


def bars(run: Run) -> list[Bar]:
    """Return what was worked on, in the order in which it was started; what is still in flight lasts until now.

    A step that was taken back before it had begun was not worked on.
    """
    found: list[Bar] = []
    last: dict[tuple[str | None, bool], int] = {}
    taken_back: set[int] = set()
    for event in run.events:
        step = getattr(event, "step", None)
        judging = isinstance(event, e.JudgeStarted | e.Judged | e.JudgeFailed)
        match event:
            case e.PlanStarted():
                last[None, False] = len(found)
                found.append(Bar(None, event.at, run.board.now, "running", what=REASONS.get(event.reason, "planning")))
            case e.StepStarted():
                last[step, False] = len(found)
                found.append(Bar(step, event.at, run.board.now, "running", event.attempt))
            case e.JudgeStarted():
                last[step, True] = len(found)
                found.append(Bar(step, event.at, run.board.now, "running", what=JUDGING))
            case e.StepCancelled():
                taken_back.add(last[event.step, False])
            case e.PlanProposed() | e.PlanFailed() | e.StepDone() | e.StepFailed() | e.Judged() | e.JudgeFailed():
                if (number := last.get((step, judging))) is not None and found[number].state == "running":
                    start = max(round(event.at - event.seconds, 9), 0.0)
                    found[number] = found[number]._replace(start=start, end=event.at, state=_state(event))
                if isinstance(event, e.Judged) and event.verdict != "accept" and (step, False) in last:
                    number = last[step, False]
                    found[number] = found[number]._replace(state=BY_VERDICT)
    return [bar for number, bar in enumerate(found) if number not in taken_back]


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
        if bar.step is not None and not bar.what:
            taken[bar.step] = round(taken.get(bar.step, 0.0) + bar.end - bar.start, 9)
    return taken


def _state(event: e.Outcome) -> str:
    if isinstance(event, e.Judged):
        return "accepted" if event.verdict == "accept" else event.verdict
    refused = isinstance(event, e.PlanProposed) and (event.problems or event.plan is None)
    failed = isinstance(event, e.StepFailed | e.PlanFailed | e.JudgeFailed)
    return "refused" if refused else "failed" if failed else "done"
