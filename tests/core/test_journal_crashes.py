"""A process is killed at any instant, and another goes on from its journal: nothing finished is repeated, nothing is lost."""

from __future__ import annotations

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

import pytest

from planexec_lite import Journal, Run, Step
from planexec_lite.capabilities.once_calls import digest_of
from planexec_lite.events import Event, Inside, Reviewed, StepDone, StepInDoubt, StepStarted, UndoDone
from planexec_lite.workers.session import carry_out
from tests.core import crashing
from tests.core.shapes import check_fold

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are killed otherwise here"),
]


def killed(folder: Path, seed: int, lines: int, after: float = 0.0) -> list[Event]:
    """Kill a process, and those that it started, so many seconds after the world has got so many more lines.

    Returns what its journal holds then.
    """
    journal, world = folder / "runs.db", folder / "world.txt"
    world.touch()
    command = [sys.executable, "-m", "tests.core.crashing", str(journal), str(world), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        enough = crashing.count(world) + lines
        while crashing.count(world) < enough and process.poll() is None:
            time.sleep(0.0002)
        time.sleep(after)
        with suppress(ProcessLookupError):  # it may have come to its end before
            os.killpg(process.pid, signal.SIGKILL)
    kept = Journal(journal)
    return kept.load(1).events if journal.exists() and kept.list() else []


def gone_on_with(folder: Path, seed: int) -> Run:
    """The run as another process finishes it."""
    crashing.main(str(folder / "runs.db"), str(folder / "world.txt"), seed)
    return Journal(folder / "runs.db").load(1)


def undisturbed(folder: Path, seed: int) -> Run:
    """The same plan, never killed."""
    (folder / "undisturbed.txt").touch()
    world = crashing.World(str(folder / "undisturbed.txt"))
    with crashing.pool_of(seed) as pool:
        return crashing.carried_out(crashing.agent_of(seed, world, None, pool), world)


def names_of(step: Step) -> list[str]:
    """What the world's file calls the work of a step."""
    return [step.id] if step.tool else [f"{step.id}a", f"{step.id}b"]


def done_inside(folder: Path, recorded: list[Event]) -> set[str]:
    """What the world's file calls the work of steps of runs inside steps that are recorded as done, wherever that is."""
    told = [(one.step, one.event) for one in recorded if isinstance(one, Inside)]
    if not recorded:
        return set()
    kept = Journal(folder / "runs.db")
    uid = kept.load(1).uid
    for event in recorded:
        if isinstance(event, StepStarted) and event.inside:
            inside = kept.find(digest_of(uid, event.key, event.step, event.inside))
            told += [(event.step, one) for one in inside.events] if inside else []
    return {f"{step}{'ab'[int(event.step) - 1]}" for step, event in told if isinstance(event, StepDone)}


def in_doubt(events: list[Event], once: list[str]) -> list[str]:
    """The steps that were cut off in what may be done once, or in the run inside them."""
    steps = []
    for event in events:
        match event:
            case StepInDoubt(step=id) | Inside(step=id, event=StepInDoubt()):
                steps.append(id)
    return steps


def check(folder: Path, seed: int, instants: list[tuple[int, float]]) -> None:
    """Kill the run at each instant, finish it, and count what happened in the world."""
    recorded: list[Event] = []
    begun, inside = Counter[str](), set[str]()
    world = crashing.World(str(folder / "world.txt"))
    for instant in instants:
        before, recorded = recorded, killed(folder, seed, *instant)
        assert recorded[: len(before)] == before, "what was recorded is lost"
        begun, inside = Counter(world.lines()), done_inside(folder, recorded)
    run = gone_on_with(folder, seed)
    check_fold(run)
    done, steps, board = Counter(world.lines()), run.board.steps, run.board
    assert run.events[: len(recorded)] == recorded
    for event in recorded:
        if isinstance(event, StepDone):
            again = [name for name in names_of(steps[event.step]) if done[f"begin {name}"] != begun[f"begin {name}"]]
            assert not again, f"step {event.step} was repeated"
        if isinstance(event, UndoDone):
            assert done[f"end undo {event.step}"] == begun[f"end undo {event.step}"], f"undo {event.step} was repeated"
    assert not [name for name in inside if done[f"begin {name}"] != begun[f"begin {name}"]], (
        "a step inside was repeated"
    )
    once = [id for id in steps if not board.repeatable(steps[id])]
    assert all(done[f"end {names_of(steps[id])[0]}"] <= 1 for id in once), "what may be done once was done twice"
    resolved = Counter(
        event.step for event in run.events if (isinstance(event, Reviewed) and event.verdict in ("done", "not done"))
    )
    assert set(resolved) <= set(in_doubt(run.events, once))
    alone, policy = undisturbed(folder, seed), crashing.policy_of(seed)
    assert run.status == alone.status, (run.reason, alone.reason)
    # on a pool, what else is done before a failure stops the run hangs on the clock
    if seed % 2 == 0 or (policy.failure == "skip" and policy.replan == "never"):
        assert (run.results, board.state) == (alone.results, alone.board.state)
    assert all(done[f"end {id}"] >= 1 for id in run.results if steps[id].tool)


def an_instant(chance: Random) -> tuple[int, float]:
    """Some lines, and some thousandths of a second: a step takes three."""
    return chance.randint(0, 12), chance.uniform(0.0, 0.006)


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_run_goes_on_and_repeats_nothing(seed: int, tmp_path: Path) -> None:
    chance = Random(seed)
    check(tmp_path, seed, [an_instant(chance)])


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(4, 76))
def test_a_run_that_is_killed_three_times_comes_to_the_same_end(seed: int, tmp_path: Path) -> None:
    chance = Random(seed)
    check(tmp_path, seed, [an_instant(chance) for _ in range(3)])


def test_a_killed_process_leaves_a_step_in_flight(tmp_path: Path) -> None:
    hit = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        hit.append(Run(killed(folder, seed, lines=3)).board.in_flight)
    assert any(hit)


def late(sender: Connection, world: str, owner: int) -> None:
    """In a process of a pool whose owner has died meanwhile: a step is taken from the queue."""
    owns = parent_process()
    assert owns is not None
    owns.join()
    sender.send(carry_out(frozenset(), owner, None, crashing.World(world).pay, ("1",)))


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
    assert carry_out(frozenset(), os.getpid(), None, crashing.World(str(world)).pay, ("1",)).value == "1"
