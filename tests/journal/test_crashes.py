"""A process is killed at any instant, and another one resumes the run from the journal: no finished step is repeated or lost."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from multiprocessing import Pipe, get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
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
    Run,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite.capabilities.once_calls import digest_of
from planexec_lite.events import Event, Inside, Reviewed, StepDone, StepStarted, UndoDone
from planexec_lite.roles.executors import Executor
from planexec_lite.workers.session import Submission, carry_out
from tests.core.shapes import check_fold, step
from tests.journal import crashing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are killed otherwise here"),
]


def killed(folder: Path, seed: int, lines: int, after: float) -> list[Event]:
    """Kill a process, and those that it started, so many seconds after the world has got so many more lines.

    Returns what its journal holds then.
    """
    journal, world = folder / "runs.db", folder / "world.txt"
    world.touch()
    command = [sys.executable, "-m", "tests.journal.crashing", str(journal), str(world), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        enough = world.read_bytes().count(b"\n") + lines
        while world.read_bytes().count(b"\n") < enough and process.poll() is None:
            time.sleep(0.0002)
        time.sleep(after)
        with suppress(ProcessLookupError):  # it may have come to its end before
            os.killpg(process.pid, signal.SIGKILL)
    return Journal(journal).load(1).events if journal.exists() and Journal(journal).list() else []


def undisturbed(folder: Path, seed: int) -> Run:
    """The same plan, never killed."""
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
            inside = kept.find(digest_of(kept.load(1).uid, event.key, event.step, event.inside))
            told += [(event.step, one) for one in inside.events] if inside else []
    return {f"{step}{'ab'[int(event.step) - 1]}" for step, event in told if isinstance(event, StepDone)}


@pytest.mark.parametrize(
    ("seed", "kills"),
    [*((seed, 1) for seed in range(4)), *(pytest.param(seed, 3, marks=pytest.mark.weekly) for seed in range(4, 76))],
)
def test_a_killed_run_goes_on_and_repeats_nothing(seed: int, kills: int, tmp_path: Path) -> None:
    """Each kill comes after some lines and some thousandths of a second; a step takes three."""
    chance, world = Random(seed), crashing.World(tmp_path / "world.txt")
    recorded, begun, inside = list[Event](), Counter[str](), set[str]()
    for _ in range(kills):
        before = recorded
        recorded = killed(tmp_path, seed, chance.randint(0, 12), chance.uniform(0.0, 0.006))
        assert recorded[: len(before)] == before, "what was recorded is lost"
        begun, inside = Counter(world.lines()), done_inside(tmp_path, recorded)
    run = crashing.main(tmp_path / "runs.db", world.path, seed)
    check_fold(run)
    done, steps = Counter(world.lines()), run.board.steps
    assert run.events[: len(recorded)] == recorded
    finished = inside | {event.step for event in recorded if isinstance(event, StepDone) and steps[event.step].tool}
    finished |= {f"undo {event.step}" for event in recorded if isinstance(event, UndoDone)}
    assert [name for name in finished if done[f"begin {name}"] != begun[f"begin {name}"]] == [], "repeated"
    for id in (id for id in steps if not run.board.repeatable(steps[id])):
        assert done[f"end {id}" if steps[id].tool else f"end {id}a"] <= 1, "what may be done once was done twice"
    resolved = {event.step for event in run.events if isinstance(event, Reviewed) and event.verdict.endswith("done")}
    assert resolved <= {event.step for event in run.events if "StepInDoubt" in repr(event)}
    alone = undisturbed(tmp_path, seed)
    assert run.status == alone.status, (run.reason, alone.reason)
    if seed % 2 == 0 or seed % 5:  # on a pool, what else is done before a failure stops the run hangs on the clock
        assert (run.results, run.board.state) == (alone.results, alone.board.state)
    assert all(done[f"end {id}"] >= 1 for id in run.results if steps[id].tool)


def submitted_by(owner: int, world: Path) -> Submission:
    """A payment in the queue of a pool."""
    return Submission("1", frozenset(), owner, crashing.World(world).pay, ("1",))


def late(sender: Connection, world: str, owner: int) -> None:
    """In a process of a pool whose owner has died meanwhile: a step is taken from the queue."""
    owns = parent_process()
    assert owns is not None
    owns.join()
    sender.send(carry_out(submitted_by(owner, Path(world))))


def owning(sender: Connection, world: str) -> None:
    """Start such a process, and be killed."""
    get_context("spawn").Process(target=late, args=(sender, world, os.getpid())).start()
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_process_handed_over_is_not_begun_after_it(tmp_path: Path) -> None:
    world = tmp_path / "world.txt"
    world.touch()
    receiver, sender = Pipe(duplex=False)
    owner = get_context("spawn").Process(target=owning, args=(sender, str(world)))
    owner.start()
    sender.close()
    report = receiver.recv()
    assert report.error == "RuntimeError: not called: the process that submitted it is dead"
    assert world.read_text(encoding="utf-8") == ""
    owner.join()
    assert carry_out(submitted_by(os.getpid(), world)).value == "1"


# What a run waits for is decided in another process, from the journal alone


class World:
    """Each call is a line in a file; in its first process a payment cuts the power when it has been made."""

    def __init__(self, folder: Path, *, cut: bool = False) -> None:
        self.file, self.cut = folder / "world.txt", cut
        self.file.touch()
        self.tools = Toolbox([Tool(self.put, effects="idempotent"), Tool(self.pay, effects="once")])

    def put(self, what: str) -> str:
        """Put it there."""
        if what == "nowhere":
            raise RuntimeError("there is no such place")
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{what} ")
        return what

    def pay(self, what: str) -> str:
        """Pay for it."""
        self.put(what)
        if self.cut:
            os._exit(9)
        return what


A, B = step("1", "put", what="a"), step("2", "put", "1", what="b")
UNDO = {"undo": {"tool": "put", "params": {"what": "back"}, "gate": True}}
STEPS: dict[str, list[dict[str, Any]]] = {
    "approval": [A],
    "gate": [A, B | {"gate": True}],
    "undo": [A | UNDO, step("2", "put", "1", what="nowhere")],
    "doubt": [A, step("2", "pay", "1", what="b"), step("3", "put", "2", what="c")],
    "budget": [A, B],
    "inside": [{"id": "1", "description": "put a behind a gate"}],
}
YES = Decision("approve", "Ann")
ASKED: dict[str, tuple[str, Decision, str, str]] = {  # why it waits, the decision, the end, and what was done
    "approval": ("waits for approval", YES, "finished", "a"),
    "gate": ("waits for gate of step 2", YES, "finished", "a b"),
    "undo": ("waits before the undo of step 1", YES, "rolled back", "a back"),
    "doubt": ("waits for your answer: was step 2 done?", Decision("done", "Ann", result="b"), "finished", "a b c"),
    "budget": (
        "waits for more budget: 1 of 1 step used", Decision("approve", "Ann", budget=Budget(steps=1)), "finished", "a b",
    ),
    "inside": ("waits for gate of step 1: the run inside waits for gate of step 1", YES, "finished", "a"),
}  # fmt: skip


def carried_on(kind: str, folder: Path, what: str) -> Run:
    """Begin the run; or open it, and see what it waits for; or decide. The agent is the same in each process."""
    journal = Journal(folder / "runs.db")
    hands: Executor = ToolExecutor(World(folder, cut=what == "begin").tools)
    if kind == "inside":
        hands = PlannerExecutor(RulePlanner(lambda goal: [A | {"gate": True}]), hands)
    budget = Budget(steps=1) if kind == "budget" else None
    policy = Policy(rollback="failed" if kind == "undo" else "never", budget=budget)
    reviewer = AskPerson() if kind == "approval" else None
    agent = PlannerExecutor(RulePlanner(lambda goal: STEPS[kind]), hands, reviewer, policy=policy, journal=journal)
    decision = ASKED[kind][1] if what == "decide" else None
    return agent.run("go") if what == "begin" else agent.resume(journal.load(1), decision)


def elsewhere(kind: str, folder: Path, what: str) -> int:
    """Do it in another process."""
    return subprocess.run([sys.executable, "-m", "tests.journal.test_crashes", kind, str(folder), what]).returncode


@pytest.mark.parametrize("kind", ASKED)
def test_a_pause_is_decided_in_another_process_from_the_journal_alone(kind: str, tmp_path: Path) -> None:
    reason, _, status, done = ASKED[kind]
    if kind == "doubt":
        assert elsewhere(kind, tmp_path, "begin") == 9
    else:
        carried_on(kind, tmp_path, "begin")
    run = carried_on(kind, tmp_path, "open")
    assert (run.status, run.reason) == ("paused", reason)
    assert elsewhere(kind, tmp_path, "decide") == 0
    assert World(tmp_path).file.read_text(encoding="utf-8").split() == done.split()
    run = Journal(tmp_path / "runs.db").load(1)
    assert run.status == status
    assert [event for event in run.events if "Ann" in repr(event)], "who decided is written down"


if __name__ == "__main__":
    carried_on(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
