"""Whatever a run waits for: another process opens it from the journal alone, sees what is asked, decides, and it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import (
    AskPerson,
    Budget,
    Decision,
    Journal,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite.roles.executors import Executor
from tests.core.shapes import step

pytestmark = pytest.mark.slow


class World:
    """What is done is a line in a file; in its first process a payment cuts the power when it has been made."""

    def __init__(self, folder: Path, *, cut: bool) -> None:
        self.file, self.cut = folder / "world.txt", cut
        self.file.touch()
        effects = {"effects": "idempotent"}
        tools = [Tool(self.put, **effects), Tool(self.pay, effects="once"), Tool(self.fetch, **effects)]  # type: ignore[arg-type]
        self.tools = Toolbox(tools)

    def _write(self, line: str) -> str:
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        return line

    def put(self, what: str) -> str:
        """Put it there."""
        if what == "nowhere":
            raise RuntimeError("there is no such place")
        return self._write(f"put {what}")

    def fetch(self, what: str) -> str:
        """Fetch it back."""
        return self._write(f"fetch {what}")

    def pay(self, what: str) -> str:
        """Pay for it."""
        self._write(f"pay {what}")
        if self.cut:
            os._exit(9)
        return f"pay {what}"


UNDO = {"undo": {"tool": "fetch", "params": {"what": "a"}, "gate": True}}
STEPS: dict[str, list[dict[str, Any]]] = {
    "approval": [step("1", "put", what="a")],
    "gate": [step("1", "put", what="a"), step("2", "put", "1", what="b", gate=True)],
    "undo": [step("1", "put", what="a") | UNDO, step("2", "put", "1", what="nowhere")],
    "doubt": [step("1", "put", what="a"), step("2", "pay", "1", what="b"), step("3", "put", "2", what="c")],
    "budget": [step("1", "put", what="a"), step("2", "put", "1", what="b")],
    "inside": [{"id": "1", "description": "put a behind a gate"}],
}
ASKS = {
    "approval": "waits for approval",
    "gate": "waits for gate of step 2",
    "undo": "waits before the undo of step 1",
    "doubt": "waits to be told whether step 2 was done",
    "budget": "waits for more budget: 1 of 1 step used",
    "inside": "waits for gate of step 1: the run inside waits for gate of step 1",
}
YES: dict[str, Decision] = dict.fromkeys(ASKS, Decision("approve", "Ann")) | {
    "doubt": Decision("done", "Ann", result="pay b"),
    "budget": Decision("approve", "Ann", budget=Budget(steps=1)),
}
ENDS: dict[str, tuple[str, list[str]]] = {
    "approval": ("finished", ["put a"]),
    "gate": ("finished", ["put a", "put b"]),
    "undo": ("rolled back", ["put a", "fetch a"]),
    "doubt": ("finished", ["put a", "pay b", "put c"]),
    "budget": ("finished", ["put a", "put b"]),
    "inside": ("finished", ["put a"]),
}


def agent_of(kind: str, world: World, journal: Journal) -> PlannerExecutor:
    """The same agent in each process; nothing but the journal goes from one to the next."""
    hands: Executor = ToolExecutor(world.tools)
    if kind == "inside":
        hands = PlannerExecutor(RulePlanner(lambda goal: [step("1", "put", what="a", gate=True)]), hands)
    policy = Policy(
        rollback="failed" if kind == "undo" else "never",
        budget=Budget(steps=1) if kind == "budget" else None,
    )
    reviewer = AskPerson() if kind == "approval" else None
    return PlannerExecutor(RulePlanner(lambda goal: STEPS[kind]), hands, reviewer, policy=policy, journal=journal)


def main(kind: str, folder: Path, what: str) -> None:
    """Begin the run; or open it, and say what it waits for; or decide."""
    journal = Journal(folder / "runs.db")
    agent = agent_of(kind, World(folder, cut=what == "begin"), journal)
    if what == "begin":
        run = agent.run("go")
    elif what == "open":  # who died in the middle of it has left it interrupted
        run = agent.resume(journal.load(1))
    else:
        run = agent.resume(journal.load(1), YES[kind])
    print(json.dumps([run.status, run.reason]))


def told(kind: str, folder: Path, what: str) -> Any:
    command = [sys.executable, "-m", "tests.core.test_pauses_elsewhere", kind, str(folder), what]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 or (kind, what, done.returncode) == ("doubt", "begin", 9), done.stderr
    return json.loads(done.stdout or "null")


@pytest.mark.parametrize("kind", ASKS)
def test_a_pause_is_decided_in_another_process_from_the_journal_alone(kind: str, tmp_path: Path) -> None:
    told(kind, tmp_path, "begin")
    assert told(kind, tmp_path, "open") == ["paused", ASKS[kind]]
    assert told(kind, tmp_path, "decide")[0] == ENDS[kind][0]
    assert World(tmp_path, cut=False).file.read_text(encoding="utf-8").splitlines() == ENDS[kind][1]
    run = Journal(tmp_path / "runs.db").load(1)
    assert run.status == ENDS[kind][0]
    assert [event for event in run.events if "Ann" in repr(event)], "who decided is written down"


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
