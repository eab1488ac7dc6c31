"""The learner's own planner-executor, built part by part in `exercises/capstone.ipynb` and compared with the kit.

`program.py` is our finished version. A check runs the learner's program on the answers of the kit's planner, and
compares its log with the events of the kit's run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from planexec_lite import Run
from planexec_lite.run.events import (
    Action,
    Inside,
    PlanProposed,
    PlanStarted,
    StepDone,
    StepFailed,
    StepStarted,
    Thought,
)
from planexec_lite.tools import Tool

Entry = tuple[str, str]


def functions(tools: Iterable[Tool]) -> dict[str, Callable[..., Any]]:
    """Return tools as functions by name, with their arguments checked."""
    return {tool.name: _function(tool) for tool in tools}


def seconds(function: Callable[..., Any], params: Mapping[str, Any]) -> float:
    """Return the simulated seconds of a call of a function that `functions` made."""
    return float(function.tool.seconds(params))  # type: ignore[attr-defined]


def planner_of(run: Run) -> Callable[..., list[dict[str, Any]]]:
    """Return a planner that answers as the planner of `run` did; an answer without a plan is a `ValueError`."""
    answers = iter([event for event in run.events if isinstance(event, PlanProposed)])

    def planner(*_: Any) -> list[dict[str, Any]]:
        answer = next(answers, None)
        if answer is None:
            raise ValueError("the program asked the planner more often than the kit did")
        if answer.plan is None:
            raise ValueError("; ".join(problem.message for problem in answer.problems))
        return [step.model_dump(mode="json") for step in answer.plan.steps]

    return planner


def events(run: Run) -> list[Entry]:
    """Return the run's events that the program logs, too: (name, step), or (name, text) inside a step."""
    return [entry for event in run.events if (entry := _entry(event))]


def thoughts(run: Run) -> list[Entry]:
    """Return the thoughts and actions of a run that was planned one step at a time."""
    plans = [
        event.plan for event in run.events if isinstance(event, PlanProposed) and event.plan
    ]
    steps = [
        (("Thought", step.description), ("Action", step.tool or ""))
        for plan in plans
        for step in plan.steps
    ]
    return [entry for pair in steps for entry in pair] + [("Thought", str(run.answer))]


def _function(tool: Tool) -> Callable[..., Any]:
    def call(**params: Any) -> Any:
        return tool.call(params)

    call.tool = tool  # type: ignore[attr-defined]
    return call


def _entry(event: Any) -> Entry | None:
    match event:
        case PlanStarted() | PlanProposed():
            return type(event).__name__, ""
        case StepStarted() | StepDone() | StepFailed():
            return type(event).__name__, event.step
        case Inside(event=Thought(text)):
            return "Thought", text
        case Inside(event=Action(tool)):
            return "Action", tool
    return None
