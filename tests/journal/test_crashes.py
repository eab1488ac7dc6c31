"""A process is killed at any instant, and the run is resumed from the journal: no finished step is repeated or lost."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planexec_lite import AskPerson, Budget, Decision, Journal, PlannerExecutor, Run, Tool, Toolbox
from planexec_lite.capabilities.once_calls import digest_of
from planexec_lite.run.events import Event, Inside, Reviewed, StepDone, StepStarted, UndoDone
from tests.core.agents import agent_for
from tests.core.shapes import check_fold, step
from tests.journal import crashing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are killed otherwise here"),
]


def killed(folder: Path, seed: int, lines: int, after: float) -> list[Event]:
    """Kill a process and its children some seconds after some lines in the world's file; return the recorded events."""
    journal, world = folder / "runs.db", folder / "world.txt"
    world.touch()
    command = [sys.executable, "-m", "tests.journal.crashing", str(journal), str(world), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout.readline() == "ready\n"
        enough = world.read_bytes().count(b"\n") + lines
        while world.read_bytes().count(b"\n") < enough and process.poll() is None:
            time.sleep(0.0002)
        time.sleep(after)
        with suppress(ProcessLookupError):  # it might have ended before
            os.killpg(process.pid, signal.SIGKILL)
    return Journal(journal).load(1).events if journal.exists() and Journal(journal).list() else []


def undisturbed(folder: Path, seed: int) -> Run:
    world = crashing.World(folder / "undisturbed.txt")
    world.path.touch()
    with crashing.pool_of(seed) as pool:
        return crashing.carried_out(crashing.agent_of(seed, world, None, pool), world)


def done_inside(folder: Path, recorded: list[Event]) -> set[str]:
    """The names in the world's file of the steps of nested runs that are recorded as done."""
    told = [(one.step, one.event) for one in recorded if isinstance(one, Inside)]
    kept = Journal(folder / "runs.db")
    for event in recorded:
        if isinstance(event, StepStarted) and event.inside:
            inside = kept.find(digest_of(kept.load(1).uid, (event.call, event.number), event.step, event.inside))
            told += [(event.step, one) for one in inside.events] if inside else []
    return {f"{step}{'ab'[int(event.step) - 1]}" for step, event in told if isinstance(event, StepDone)}


@pytest.mark.parametrize(
    ("seed", "kills"),
    [*((seed, 1) for seed in range(4)), *(pytest.param(seed, 3, marks=pytest.mark.weekly) for seed in range(4, 76))],
)
def test_a_killed_run_continues_and_repeats_no_step(seed: int, kills: int, tmp_path: Path) -> None:
    """Each kill comes after some lines and some milliseconds; a step takes three."""
    chance, world = Random(seed), crashing.World(tmp_path / "world.txt")
    recorded, begun, inside = list[Event](), Counter[str](), set[str]()
    for _ in range(kills):
        before = recorded
        recorded = killed(tmp_path, seed, chance.randint(0, 12), chance.uniform(0.0, 0.006))
        assert recorded[: len(before)] == before, "recorded events are lost"
        begun, inside = Counter(world.lines()), done_inside(tmp_path, recorded)
    run = crashing.main(tmp_path / "runs.db", world.path, seed)
    check_fold(run)
    done, steps = Counter(world.lines()), run.board.steps
    assert run.events[: len(recorded)] == recorded
    finished = inside | {event.step for event in recorded if isinstance(event, StepDone) and steps[event.step].tool}
    finished |= {f"undo {event.step}" for event in recorded if isinstance(event, UndoDone)}
    assert [name for name in finished if done[f"begin {name}"] != begun[f"begin {name}"]] == [], "repeated"
    for id in (id for id in steps if not run.board.repeatable(steps[id])):
        assert done[f"end {id}" if steps[id].tool else f"end {id}a"] <= 1, "an at-most-once call was repeated"
    resolved = {event.step for event in run.events if isinstance(event, Reviewed) and event.verdict.endswith("done")}
    assert resolved <= {event.step for event in run.events if "StepInDoubt" in repr(event)}
    alone = undisturbed(tmp_path, seed)
    # a step that was interrupted, and failed when it was repeated, might have been done the first time
    assert run.status.removeprefix("partly ") == alone.status, (run.reason, alone.reason)
    if seed % 2 == 0 or seed % 5:  # on a pool, other steps might end before a failure stops the run
        assert (run.results, run.board.state) == (alone.results, alone.board.state)
    assert all(done[f"end {id}"] >= 1 for id in run.results if steps[id].tool)


A, B = step("1", "put", what="a"), step("2", "put", "1", what="b")
UNDO = {"undo": {"tool": "put", "params": {"what": "back"}, "gate": True}}
YES = Decision("approve", "Ann")
PAUSES: dict[str, tuple[list[Any], dict[str, Any], str, Decision, str]] = {  # steps, settings, reason, decision, calls
    "approval": ([A], {"reviewer": AskPerson()}, "waits for approval", YES, "a"),
    "gate": ([A, B | {"gate": True}], {}, "waits for the gate of step 2", YES, "a b"),
    "undo": (
        [A | UNDO, step("2", "put", "1", what="nowhere")], {"rollback": "failed"}, "waits for a yes to the undo of step 1", YES,
        "a back",
    ),
    "doubt": (
        [A, step("2", "pay", "1", what="b"), step("3", "put", "2", what="c")], {},
        "waits for your answer: was step 2 done?", Decision("done", "Ann", result="b"), "a b c",
    ),
    "budget": (
        [A, B], {"budget": Budget(steps=1)}, "waits for more budget: 1 of 1 step used",
        Decision("approve", "Ann", budget=Budget(steps=1)), "a b",
    ),
    "inside": (
        [step("1", None, description="put a")], {},
        "waits for the gate of step 1 inside step 1", YES, "a",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", PAUSES)
def test_a_pause_is_decided_from_the_journal_alone(kind: str, tmp_path: Path) -> None:
    steps, settings, reason, decision, calls = PAUSES[kind]
    made: list[str] = []

    def put(what: str) -> str:
        if what == "nowhere":
            raise RuntimeError("there is no such place")
        made.append(what)
        return what

    def pay(what: str) -> str:
        """Pay for it; the call is interrupted after that."""
        put(what)
        raise KeyboardInterrupt

    def agent() -> PlannerExecutor:
        tools = Toolbox([Tool(put, effects="idempotent"), Tool(pay, effects="once")])
        executor = agent_for(tools, [A | {"gate": True}]) if kind == "inside" else tools
        return agent_for(executor, steps, journal=Journal(tmp_path / "runs.db"), **settings)

    def kept() -> Run:
        return Journal(tmp_path / "runs.db").load(1)

    with suppress(KeyboardInterrupt):
        agent().run("go")
    run = agent().resume(kept())
    assert (run.status, run.reason) == ("paused", reason)
    agent().resume(kept(), decision)
    assert (kept().status, made) == ("rolled back" if kind == "undo" else "finished", calls.split())
    assert [event for event in kept().events if "Ann" in repr(event)], "the decision names the person"
