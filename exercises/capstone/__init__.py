"""The learner's own planner-executor: one small file that grows by a few lines in each lesson.

`lesson_01.py` to `lesson_10.py` are the file as it stands after each lesson. A learner who writes it keeps it as `mini.py`
beside the lessons; where there is none, a lesson goes on with ours. `change` shows what a lesson adds, and `hold` compares
what happened in a run of it with the events of a run of the kit.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from planexec_lite import Run
from planexec_lite.events import (
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

HERE = Path(__file__).parent
Entry = tuple[str, str]


def source(lesson: str) -> str:
    """Our file as it stands after a lesson, such as "03"."""
    return (HERE / f"lesson_{lesson}.py").read_text(encoding="utf-8")


def change(lesson: str) -> None:
    """Print what a lesson changes in the file: lines that come (+) and go (-), with the names they stand under."""
    before = f"{int(lesson) - 1:02}"
    old = source(before).splitlines() if (HERE / f"lesson_{before}.py").is_file() else []
    print(*_changes(old, source(lesson).splitlines()), sep="\n")


def load(lesson: str) -> ModuleType:
    """The learner's `mini.py` of this folder; ours of that lesson where there is none, or nothing is to be read."""
    mine = Path.cwd() / "mini.py"
    kept = os.environ.get("PLANEXEC_PROGRESS") != ""
    path = mine if kept and mine.is_file() else HERE / f"lesson_{lesson}.py"
    spec = importlib.util.spec_from_file_location("mini", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} can't be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions(tools: Iterable[Tool]) -> dict[str, Callable[..., Any]]:
    """The tools as functions by name, with their arguments checked; `seconds` knows how long a call of one takes."""
    return {tool.name: _function(tool) for tool in tools}


def seconds(function: Callable[..., Any], params: Mapping[str, Any]) -> float:
    """The seconds that a call takes in simulation, of a function that `functions` made."""
    return float(function.tool.seconds(params))  # type: ignore[attr-defined]


def planner_of(run: Run) -> Callable[..., list[dict[str, Any]]]:
    """A planner that gives what the planner of `run` gave, answer by answer; what was no plan is a `ValueError`."""
    answers = iter([event for event in run.events if isinstance(event, PlanProposed)])

    def planner(*_: Any) -> list[dict[str, Any]]:
        answer = next(answers, None)
        if answer is None:
            raise ValueError("the kit's planner was not asked so often")
        if answer.plan is None:
            raise ValueError("; ".join(problem.message for problem in answer.problems))
        return [step.model_dump(mode="json") for step in answer.plan.steps]

    return planner


def events(run: Run) -> list[Entry]:
    """What the file writes down too, of the events of a run: (name, step), or (name, words) inside a step."""
    return [entry for event in run.events if (entry := _entry(event))]


def thoughts(run: Run) -> list[Entry]:
    """The thoughts and actions of a run that was planned one step at a time: its steps' descriptions and tools."""
    plans = [
        event.plan
        for event in run.events
        if isinstance(event, PlanProposed) and event.plan
    ]
    steps = [
        (("Thought", step.description), ("Action", step.tool or ""))
        for plan in plans
        for step in plan.steps
    ]
    return [entry for pair in steps for entry in pair] + [("Thought", str(run.answer))]


def hold(log: list[Entry], ours: list[Entry]) -> None:
    """Print whether the entries of `log` are `ours`, those of the kit's run, or else the first one that differs."""
    theirs = [tuple(entry) for entry in log]
    for number, (mine, kit) in enumerate(zip(theirs, ours, strict=False), 1):
        if mine != kit:
            print(f"event {number}: yours is {_told(mine)}, the kit's is {_told(kit)}")
            return
    if len(ours) != len(theirs):
        print(
            f"yours has {len(theirs)} events, the kit's {len(ours)}; the first {min(len(ours), len(theirs))} agree"
        )
        return
    print(f"{len(ours)} events, the same as the kit's")


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


def _told(entry: tuple[Any, ...]) -> str:
    return " ".join(str(part) for part in entry if part != "")


def _rows(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    """Every row with its sign: " " where it stays. (What `difflib.ndiff` says differs from one Python to the next.)"""
    for kind, a, b, c, d in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            yield from ((" ", row) for row in old[a:b])
        else:
            yield from (("-", row) for row in old[a:b])
            yield from (("+", row) for row in new[c:d])


def _changes(old: list[str], new: list[str]) -> list[str]:
    shown: list[str] = []
    inside = ""
    for sign, row in _rows(old, new):
        if row.startswith(("def ", "class ")):
            inside = f"  {row}"
        if sign in "+-" and row:
            if row.startswith(" ") and inside:
                shown.append(inside)
            shown.append(f"{sign} {row}")
            inside = ""
    return shown
