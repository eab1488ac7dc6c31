"""The part of the release that every program shares: the plan's shape, the tools, the person, and the log that the suite reads.

A program is started as `release.py WORLD STATE`. WORLD is the folder of the deploy world. STATE is a folder for checkpoints
and for the log.
"""

import json
import os
import sys
import time
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel

from planexec_lab.worlds.deploy import GOAL, World
from planexec_lab.worlds.folder import FolderWorld

SCALE = float(os.environ.get("SCALE", "0.008"))  # real seconds for one second of the world
MODEL = "gpt-4.1"
URL = os.environ.get("OPENAI_BASE_URL", "")
KEY = os.environ.get("OPENAI_API_KEY", "none")
BUDGET = int(os.environ.get("BUDGET", "0")) or None  # model calls for the whole run
STATE = Path(sys.argv[2]) if len(sys.argv) > 2 else Path()
GOAL_LINE = f"Goal: {GOAL}"
_lock = Lock()


class Param(BaseModel):
    """One argument of a tool; strict schemas have no free-form objects."""

    name: str
    value: str


class Step(BaseModel):
    """One step: the tool to call, and the steps whose results it needs."""

    id: str
    tool: str
    params: list[Param]
    depends_on: list[str]


class Plan(BaseModel):
    """The steps of a plan."""

    steps: list[Step]


class Shop(World):
    """The deploy world in a folder that exists already."""

    def __init__(self, folder: str) -> None:
        FolderWorld.__init__(self, folder)


shop = Shop(sys.argv[1]) if len(sys.argv) > 1 else None
_tools = "\n".join(f"- {name}: {(getattr(World, name).__doc__ or '').strip().splitlines()[0]}" for name in World.TOOLS)
INSTRUCTIONS = f"Role: planner\nYou write the plan, and an executor runs it. Its tools:\n{_tools}"


def log(**event: Any) -> None:
    """Append one event to the log."""
    with _lock, (STATE / "log.jsonl").open("a") as file:
        file.write(json.dumps({"at": time.time(), **event}) + "\n")


def call(tool: str, **params: str) -> str:
    """Call a tool of the shop, log its start and end, and return its result as text."""
    log(event="start", tool=tool)
    _wait_to_be_killed(f"{tool}:before")
    time.sleep(World.TOOLS[tool][0] * SCALE)
    try:
        result = getattr(shop, tool)(**params)
    except Exception as error:
        log(event="error", tool=tool, error=str(error))
        raise
    _wait_to_be_killed(f"{tool}:after")
    log(event="end", tool=tool)
    return json.dumps(result)


def run_step(step: Step) -> str:
    """Run one step and return "tool: result". A tool's exception is raised again."""
    return f"{step.tool}: {call(step.tool, **{param.name: param.value for param in step.params})}"


def attempt(step: Step) -> tuple[bool, str]:
    """Run one step; return whether it worked, and its result or its error."""
    try:
        return True, run_step(step)
    except Exception as error:
        return False, f"{step.tool} failed: {error}"


def question(results: dict[str, str] | None = None) -> str:
    """Return the planner's question: the goal, and the results so far if the plan failed."""
    if not results:
        return GOAL_LINE
    record = "\n".join(f"- step {id}: {result}" for id, result in results.items())
    return f"{GOAL_LINE}\nSo far:\n{record}\nPlan the remaining steps."


def ask(subject: Any) -> Any:
    """Show `subject` to the person at the terminal and return the answer. Without a person the process ends."""
    print("ASK", json.dumps(subject), flush=True)
    if not (line := sys.stdin.readline()):
        raise SystemExit(3)
    return json.loads(line)


def say(*words: Any) -> None:
    """Print one line at once."""
    print(*words, flush=True)


def _wait_to_be_killed(place: str) -> None:
    if os.environ.get("HOLD") == place:
        log(event="held", tool=place)
        time.sleep(60)
