"""What came of whole runs, counted in their events: valid plans, steps that called a tool, verdicts, goals reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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

VERDICTS = ("accept", "retry", "modify", "replan", "none")


@dataclass(slots=True)
class Question:
    """A plan that a model was asked for: whether it was the first, how often it was repaired, and whether it valid."""

    first: bool
    repairs: int = 0
    valid: bool = False


@dataclass(slots=True)
class Attempt:
    """A step that was carried out once: the calls that gave a result, and the verdict about it; "" where none was asked for."""

    step: str
    calls: list[Action] = field(default_factory=list)
    verdict: str = ""


def questions(events: Iterable[Event]) -> list[Question]:
    """Return the plans that a model was asked for in a run."""
    asked: list[Question] = []
    for event in events:
        if isinstance(event, PlanStarted):
            if event.reason == "repair":
                asked[-1].repairs += 1
            else:
                asked.append(Question(event.reason == "first"))
        elif isinstance(event, PlanProposed):
            if event.calls:
                asked[-1].valid = event.plan is not None and not event.problems
            else:  # no model was asked: the plan was given
                asked.pop()
    return asked


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
        valid: how many of these could run, by the repairs that each had needed.
        steps: how often a step was carried out.
        called: in how many of these a tool was called and gave a result.
        verdicts: the judge's, by their word; "none" where its answer was no verdict.
        unearned: how many steps it accepted in which no tool had given a result.
        tool_f1: of the calls that gave a result, held against the task's plan; the mean of the runs.
        reached: in how many runs the goal is reached, looked up in the world.
    """

    runs: int
    plans: int
    valid: dict[int, int]
    steps: int
    called: int
    verdicts: dict[str, int]
    unearned: int
    tool_f1: float
    reached: int


def account(heard: Iterable[ReplayedRun]) -> Account:
    """Count some runs. Raises `ValueError` for none."""
    runs = list(heard)
    if not runs:
        raise ValueError("there is no run to count")
    asked = [question for one in runs for question in questions(one.run.events)]
    tried = [attempt for one in runs for attempt in attempts(one.run.events)]
    verdicts = Counter(attempt.verdict for attempt in tried)
    return Account(
        len(runs),
        len(asked),
        dict(sorted(Counter(question.repairs for question in asked if question.valid).items())),
        len(tried),
        sum(bool(attempt.calls) for attempt in tried),
        {verdict: verdicts[verdict] for verdict in VERDICTS},
        sum(attempt.verdict == "accept" and not attempt.calls for attempt in tried),
        sum(map(tool_f1, runs)) / len(runs),
        sum(one.reached for one in runs),
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


def summary(accounts: Mapping[str, Account]) -> str:
    """Return accounts side by side, as lines of aligned text."""

    def line(name: str, cell: Any) -> list[str]:
        return [name, *map(cell, accounts.values())]

    def of(part: int, whole: int) -> str:
        return f"{part} of {whole}" if whole else "none"

    rows = [
        ["", *accounts],
        line("runs", lambda one: str(one.runs)),
        line("valid plans of the model", lambda one: of(sum(one.valid.values()), one.plans)),
        line("  after a repair", lambda one: of(sum(n for repairs, n in one.valid.items() if repairs), one.plans)),
        line("steps in which a tool gave a result", lambda one: of(one.called, one.steps)),
        line("verdicts: accepted", lambda one: of(one.verdicts["accept"], sum(one.verdicts.values()))),
        line("  and no tool had given a result", lambda one: of(one.unearned, one.verdicts["accept"])),
        line("tool F1 of these calls", lambda one: f"{one.tool_f1:.2f}"),
        line("goal reached", lambda one: of(one.reached, one.runs)),
    ]
    return "\n".join(aligned(rows))
