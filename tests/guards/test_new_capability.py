"""A capability from outside: one new file, its lines in `assembly.py`, and nothing else."""

import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from tests.guards.books import ROOT

CAPABILITY = '''"""Spacing: between two starts of a step with the same tool pass at least some seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import NonNegativeFloat

from planexec_lite.core import LATER, Board, Capability, Choice, Moves, Part, Work, only_with
from planexec_lite.core import events as e
from planexec_lite.frozen import frozen


@dataclass(frozen=True)
class Settings:
    spacing: NonNegativeFloat | None = None


@frozen
class SpacingStarted(e.Job):
    step: str
    seconds: float


@frozen
class SpacingEnded(e.Outcome):
    step: str
    seconds: float


class Latest(Part):
    start: dict[str | None, float] = {}  # noqa: RUF012


def _started(board: Board, event: e.StepStarted) -> None:
    board[Latest].start[board.steps[event.step].tool] = event.at


@only_with("spacing")
def keep_apart(board: Board, policy: Settings, event: e.StepStarted, executor: Any) -> Choice:
    if any(isinstance(job, SpacingStarted) for job in board.in_flight.values()):
        return LATER
    latest = board[Latest].start.get(board.steps[event.step].tool)
    left = 0.0 if latest is None else latest + policy.spacing - board.now
    return event if left <= 0 else SpacingStarted(event.at, event.step, left)


CAPABILITY = Capability(
    Latest,
    moves={kind: Moves("wait", {"waiting": "waiting"}) for kind in (SpacingStarted, SpacingEnded)},
    folds={e.StepStarted: _started},
    work={SpacingStarted: Work.waiting(lambda at, job, seconds: SpacingEnded(at, job.step, seconds))},
)
'''
PROGRAM = """
from planexec_lite import Journal, Plan, Policy, Simulated, Toolbox, ToolExecutor, execute, tool

@tool(effects="none", latency=1.0)
def look(place: str) -> str:
    return place

steps = [{"id": place, "tool": "look", "params": {"place": place}} for place in "abc"]
plan = Plan.parse({"goal": "look around", "steps": steps})
run = execute(plan, ToolExecutor(Toolbox([look])), workers=Simulated(3), policy=Policy(spacing=5.0), journal=Journal("runs"))
print(run.status, [(e.step, e.at) for e in run.events if type(e).__name__ == "StepStarted"])
print(Journal("runs").load(run.id).events == run.events)
try:
    Policy(spacing=-1)
except ValueError as problem:
    print(str(problem).splitlines()[1])
"""
UNION = "    | retries.BackoffEnded\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    copytree(ROOT / "planexec_lite", tmp_path / "planexec_lite", ignore=ignore_patterns("__pycache__"))
    (tmp_path / "planexec_lite" / "capabilities" / "spacing.py").write_text(CAPABILITY, encoding="utf-8")
    return tmp_path


def assemble(package: Path, union: str) -> None:
    """Put the capability into its places in `assembly.py`."""
    path = package / "planexec_lite" / "assembly.py"
    text = path.read_text(encoding="utf-8")
    for old, new in (
        ("\n    stepping,\n", "\n    spacing,\n    stepping,\n"),
        ("        stepping,\n", "        stepping,\n        spacing,\n"),
        (
            "    (StepStarted, retries.allow_retries),\n",
            "    (StepStarted, spacing.keep_apart),\n    (StepStarted, retries.allow_retries),\n",
        ),
        ("class Policy(\n", "class Policy(\n    spacing.Settings,\n"),
        (UNION, UNION + union),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def run(package: Path, program: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], cwd=package, capture_output=True, text=True, check=False)


def test_a_capability_is_one_file_and_its_lines_in_assembly(package: Path) -> None:
    assemble(package, "    | spacing.SpacingStarted\n    | spacing.SpacingEnded\n")
    done = run(package)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "finished [('a', 0.0), ('b', 5.0), ('c', 10.0)]",
        "True",
        "spacing",
    ]


def test_an_event_that_is_not_in_the_union_is_named_at_once(package: Path) -> None:
    assemble(package, "    | spacing.SpacingStarted\n")
    assert re.search(r"TypeError: .*one side lacks \['SpacingEnded'\]", run(package).stderr)
