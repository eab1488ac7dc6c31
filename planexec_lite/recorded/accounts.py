"""What came of whole runs, counted in their events: valid plans, steps that called a tool, verdicts, goals reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from planexec_lite.events import (
    Action,
    Event,
    Inside,
    Judged,
    JudgeFailed,
    Observation,
    PlanProposed,
    PlanStarted,
    StepStarted,
)
from planexec_lite.grade import grade
from planexec_lite.plan import Plan
from planexec_lite.recorded.whole_runs import ReplayedRun
from planexec_lite.scoreboard import row, tasks
from planexec_lite.views.drawing.text_fitting import aligned


@dataclass(slots=True)
class Attempt:
    """A step that was carried out once: the calls that gave a result, and the verdict about it; "" where none was asked for."""

    step: str
    calls: list[Action] = field(default_factory=list)
    verdict: str = ""


def questions(events: Iterable[Event]) -> list[int | None]:
    """Return how many repairs each plan needed that a model was asked for; None: it was never valid."""
    needed: list[int | None] = []
    repairs = 0
    for event in events:
        if isinstance(event, PlanStarted):
            repairs = repairs + 1 if event.reason == "repair" else 0
            if not repairs:
                needed.append(None)
        elif isinstance(event, PlanProposed):
            if not event.calls:  # no model was asked: the plan was given
                needed.pop()
            elif event.plan is not None and not event.problems:
                needed[-1] = repairs
    return needed


def attempts(events: Iterable[Event]) -> list[Attempt]:
    """Return the steps that were carried out in a run, each as often as it was, with the calls that gave a result."""
    made: list[Attempt] = []
    latest: dict[str, Attempt] = {}
    called: dict[str, Action] = {}
    for event in events:
        if isinstance(event, StepStarted):
            latest[event.step] = Attempt(event.step)
            made.append(latest[event.step])
        elif isinstance(event, Inside) and isinstance(event.event, Action):
            called[event.step] = event.event
        elif isinstance(event, Inside) and isinstance(event.event, Observation):
            action = called.pop(event.step, None)
            if action is not None and not event.event.error:
                latest[event.step].calls.append(action)
        elif isinstance(event, Judged):
            latest[event.step].verdict = event.verdict
        elif isinstance(event, JudgeFailed):
            latest[event.step].verdict = "none"
    return made


@dataclass(frozen=True, slots=True)
class Account:
    """Some runs, counted.

    Args:
        runs: how many.
        plans: how many plans a model was asked for first, or for the rest of a run.
        valid: how many of these could run.
        repaired: how many of the valid ones had to be repaired.
        steps: how often a step was carried out.
        called: in how many of these a tool was called and gave a result.
        verdicts: the judge's, by their word; "none" where its answer was no verdict.
        unearned: how many steps it accepted in which no tool had given a result.
        tool_f1: of the calls that gave a result, held against the task's plan; the mean of the runs.
        reached: in how many runs the goal is reached, looked up in the world.
    """

    runs: int
    plans: int
    valid: int
    repaired: int
    steps: int
    called: int
    verdicts: Counter[str]
    unearned: int
    tool_f1: float
    reached: int


def account(heard: Iterable[ReplayedRun]) -> Account:
    """Count some runs. Raises `ValueError` for none."""
    runs = list(heard)
    if not runs:
        raise ValueError("there is no run to count")
    needed = [repairs for one in runs for repairs in questions(one.run.events)]
    tried = [attempt for one in runs for attempt in attempts(one.run.events)]
    return Account(
        runs=len(runs),
        plans=len(needed),
        valid=sum(repairs is not None for repairs in needed),
        repaired=sum(bool(repairs) for repairs in needed),
        steps=len(tried),
        called=sum(bool(attempt.calls) for attempt in tried),
        verdicts=Counter(attempt.verdict for attempt in tried if attempt.verdict),
        unearned=sum(attempt.verdict == "accept" and not attempt.calls for attempt in tried),
        tool_f1=sum(map(tool_f1, runs)) / len(runs),
        reached=sum(one.reached for one in runs),
    )


def tool_f1(heard: ReplayedRun) -> float:
    """Return how well the calls of a run that gave a result agree with the calls of the task's plan (`grade`)."""
    calls = [action for attempt in attempts(heard.run.events) for action in attempt.calls]
    steps = [{"id": str(n), "tool": action.tool} for n, action in enumerate(calls, 1)]
    return grade(Plan.parse(steps) if steps else None, heard.task.plan).tool_f1


def scripted(world: str) -> ReplayedRun:
    """Return the run of the same planner and executor on the scripted model, which knows the way; it has no judge."""
    one = row("replan on failure", world)
    return ReplayedRun(tasks()[world], one.run, one.reached)


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "none"


LINES: dict[str, Callable[[Account], str]] = {
    "runs": lambda one: str(one.runs),
    "valid plans of the model": lambda one: _of(one.valid, one.plans),
    "  after a repair": lambda one: _of(one.repaired, one.plans),
    "steps in which a tool gave a result": lambda one: _of(one.called, one.steps),
    "verdicts: accepted": lambda one: _of(one.verdicts["accept"], one.verdicts.total()),
    "  and no tool had given a result": lambda one: _of(one.unearned, one.verdicts["accept"]),
    "tool F1 of these calls": lambda one: f"{one.tool_f1:.2f}",
    "goal reached": lambda one: _of(one.reached, one.runs),
}


def summary(accounts: Mapping[str, Account]) -> str:
    """Return accounts side by side, as lines of aligned text."""
    rows = [[name, *map(line, accounts.values())] for name, line in LINES.items()]
    return "\n".join(aligned([["", *accounts], *rows]))
