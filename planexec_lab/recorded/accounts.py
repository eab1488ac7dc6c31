"""Outcomes of whole runs, counted from their events: valid plans, steps with tool calls, verdicts, goals reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from planexec_lab.grade import grade
from planexec_lab.recorded.whole_runs import ReplayedRun
from planexec_lab.scoreboard import row, tasks
from planexec_lab.views.drawing.text_fitting import aligned
from planexec_lite.plan import Plan
from planexec_lite.run.events import Action, Event, Inside, Judged, Observation, PlanProposed, PlanStarted, StepStarted


def counted(events: Iterable[Event]) -> tuple[Counter[str], list[Action]]:
    """Count a run's events, and return the calls that gave a result.

    The counts: "plans" requested from a model, first plans and replans; "valid" plans, and "repaired" plans among them;
    "steps", one for each execution; "called", executions in which a tool gave a result; "verdicts", and each verdict by its name
    ("no verdict" for an unusable answer); "unearned", accepted steps in which no tool had given a result.
    """
    counts: Counter[str] = Counter()
    calls: list[Action] = []
    repairs = 0
    latest: dict[str, Action] = {}
    worked: set[str] = set()
    for event in events:
        match event:
            case PlanStarted(reason="repair"):
                repairs += 1
            case PlanStarted():
                repairs = 0
                counts["plans"] += 1
            case PlanProposed(calls=()):  # no model was asked: the plan was given
                counts["plans"] -= 1
            case PlanProposed(plan=Plan(), problems=()):
                counts["valid"] += 1
                counts["repaired"] += repairs > 0
            case StepStarted(step=step):
                counts["steps"] += 1
                worked.discard(step)
            case Inside(step=step, event=Action() as action):
                latest[step] = action
            case Inside(step=step, event=Observation(error=False)):
                counts["called"] += step not in worked
                worked.add(step)
                calls.append(latest[step])
            case Judged(error=str()):
                counts.update(("verdicts", "no verdict"))
            case Judged(step=step, verdict=verdict):
                counts.update(("verdicts", verdict))
                counts["unearned"] += verdict == "accept" and step not in worked
    return counts, calls


@dataclass(frozen=True, slots=True)
class Account:
    """Some runs, counted.

    Args:
        runs: how many.
        counts: added up, as `counted` gives them.
        tool_f1: of the calls that gave a result, held against the task's plan (`grade`); the mean of the runs.
        reached: in how many runs the goal is reached, looked up in the world.
    """

    runs: int
    counts: Counter[str]
    tool_f1: float
    reached: int


def account(heard: Iterable[ReplayedRun]) -> Account:
    """Count some runs. Raises `ValueError` for none."""
    runs = list(heard)
    if not runs:
        raise ValueError("there is no run to count")
    counts: Counter[str] = Counter()
    for one in runs:
        counts += counted(one.run.events)[0]
    return Account(len(runs), counts, fmean(map(tool_f1, runs)), sum(one.reached for one in runs))


def tool_f1(heard: ReplayedRun) -> float:
    """Return how well the calls of a run that gave a result agree with the calls of the task's plan (`grade`)."""
    steps = [{"id": str(n), "tool": action.tool} for n, action in enumerate(counted(heard.run.events)[1], 1)]
    return grade(Plan.parse(steps) if steps else None, heard.task.plan).tool_f1


def scripted(world: str) -> ReplayedRun:
    """Return the run of the same planner and executor on the scripted model, which knows the way; it has no judge."""
    one = row("replan on failure", world)
    return ReplayedRun(tasks()[world], one.run, one.reached)


def _of(part: str, whole: str) -> Callable[[Account], str]:
    return lambda one: f"{one.counts[part]} of {one.counts[whole]}" if one.counts[whole] else "none"


LINES: dict[str, Callable[[Account], str]] = {
    "runs": lambda one: str(one.runs),
    "valid plans of the model": _of("valid", "plans"),
    "  after a repair": _of("repaired", "plans"),
    "steps in which a tool gave a result": _of("called", "steps"),
    "verdicts: accepted": _of("accept", "verdicts"),
    "  and no tool had given a result": _of("unearned", "accept"),
    "tool F1 of these calls": lambda one: f"{one.tool_f1:.2f}",
    "goal reached": lambda one: f"{one.reached} of {one.runs}",
}


def summary(accounts: Mapping[str, Account]) -> str:
    """Return accounts side by side, as lines of aligned text."""
    rows = [[name, *map(line, accounts.values())] for name, line in LINES.items()]
    return "\n".join(aligned([["", *accounts], *rows]))
