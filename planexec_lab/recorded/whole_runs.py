"""Whole runs of the kit on a real model: all its answers in order, for offline replay.

A gzipped file of JSON lines: first the `Setting`, then one `RecordedRun` on each line. A replay carries the run out again:
real tools in a fresh world, and the model's answers from the recording.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from planexec_lab.recorded.roles import agent
from planexec_lab.recorded.transcript import RecordedAnswer, read_lines, replay
from planexec_lab.scoreboard import Task, tasks
from planexec_lite.run import Run


@dataclass(frozen=True, slots=True)
class Setting:
    """The origin of the runs: model, SHA-256 of its file, packages with versions, date of the first run, temperature,
    most tokens of an answer by role, context window in tokens, and SHA-256 of the chat template.
    """

    model: str
    sha256: str
    packages: dict[str, str]
    date: str
    temperature: float
    max_tokens: dict[str, int]
    context: int
    template: str


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run: its task, whether its first plan was given, its number, and what the model said."""

    task: str
    given: bool
    number: int
    turns: tuple[RecordedAnswer, ...]


@dataclass(frozen=True, slots=True)
class WholeRuns:
    """A recording of runs, read from a file by `load_runs`."""

    setting: Setting
    runs: tuple[RecordedRun, ...]

    def of(self, *, given: bool) -> tuple[RecordedRun, ...]:
        """Return the runs that began with a given plan, or with none."""
        return tuple(run for run in self.runs if run.given == given)


class ReplayedRun(NamedTuple):
    """A run that was carried out: its task, and whether the goal is reached, looked up in its world."""

    task: Task
    run: Run
    reached: bool


def replayed(recorded: RecordedRun) -> ReplayedRun:
    """Carry out a recorded run again, with real tools and the model's recorded words.

    Raises `ValueError` where the kit asks otherwise than it did then: the runs must be recorded again.
    """
    task, llm = tasks()[recorded.task], replay(recorded.turns)
    world = task.world()
    with llm.client(max_retries=0) as client:
        run = agent(client, task, world.tools, given=recorded.given).run(task.goal)
    asked = [digest(call.request["messages"]) for call in llm.calls if call.request]
    if asked != [turn.asked for turn in recorded.turns]:
        raise ValueError(
            f"{recorded.task}, run {recorded.number}: the kit asks other questions than those that were recorded; "
            "record again, as planexec_lab/recorded/README.md says"
        )
    return ReplayedRun(task, run, run.status == "finished" and task.reached(world, run))


def digest(messages: Any) -> str:
    """Return a short digest of a conversation, independent of the server's call ids."""
    text = json.dumps(messages, sort_keys=True, ensure_ascii=False)
    calls = (call for message in messages for call in message.get("tool_calls") or ())
    for place, call in enumerate(calls):
        text = text.replace(json.dumps(call["id"]), f'"call {place}"')
    return sha256(text.encode()).hexdigest()[:12]


def load_runs(path: Path | str) -> WholeRuns:
    """Read a recording of runs. Raises `ValueError`, with the line, for a line that can't be read."""
    lines = [value for _, value in read_lines(path, {"setting": Setting, "run": _run})]
    return WholeRuns(lines[0], tuple(lines[1:]))


def _run(task: str, given: bool, number: int, turns: list[Any]) -> RecordedRun:
    answers = [RecordedAnswer(**{**turn, "calls": tuple(map(tuple, turn["calls"]))}) for turn in turns]
    return RecordedRun(task, given, number, tuple(answers))
