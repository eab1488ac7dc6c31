"""A process is killed at any instant, and another goes on from its journal: nothing finished is repeated, nothing is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from planexec_lite import Journal, Run
from planexec_lite.events import DoubtResolved, Event, Interrupted, StepDone, UndoDone
from tests.core import crashing
from tests.core.shapes import check_fold

pytestmark = pytest.mark.slow


def killed(folder: Path, seed: int, lines: int, after: float = 0.0) -> list[Event]:
    """Kill a process so many seconds after the world has got so many more lines, and return what its journal holds then."""
    journal, world = folder / "runs.db", folder / "world.txt"
    world.touch()
    command = [sys.executable, "-m", "tests.core.crashing", str(journal), str(world), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        enough = crashing.count(world) + lines
        while crashing.count(world) < enough and process.poll() is None:
            time.sleep(0.0002)
        time.sleep(after)
        process.kill()
    kept = Journal(journal)
    return kept.load(1).events if journal.exists() and kept.list() else []


def gone_on_with(folder: Path, seed: int) -> Run:
    """The run as another process finishes it."""
    crashing.main(str(folder / "runs.db"), str(folder / "world.txt"), seed)
    return Journal(folder / "runs.db").load(1)


def undisturbed(folder: Path, seed: int) -> Run:
    """The same plan, never killed."""
    world = folder / "undisturbed.txt"
    world.touch()
    with ThreadPoolExecutor(4) as threads:
        return crashing.agent_of(seed, crashing.World(str(world)), None, threads).run("do it")


def check(folder: Path, seed: int, instants: list[tuple[int, float]]) -> None:
    """Kill the run at each instant, finish it, and count what happened in the world."""
    recorded: list[Event] = []
    begun: Counter[str] = Counter()
    world = crashing.World(str(folder / "world.txt"))
    for instant in instants:
        before, recorded = recorded, killed(folder, seed, *instant)
        assert recorded[: len(before)] == before, "what was recorded is lost"
        begun = Counter(world.lines())
    run = gone_on_with(folder, seed)
    check_fold(run)
    done = Counter(world.lines())
    assert run.events[: len(recorded)] == recorded
    for event in recorded:
        if isinstance(event, StepDone):
            assert done[f"begin {event.step}"] == begun[f"begin {event.step}"], f"step {event.step} was repeated"
        if isinstance(event, UndoDone):
            assert done[f"end undo {event.step}"] == begun[f"end undo {event.step}"], f"undo {event.step} was repeated"
    board, alone = run.board, undisturbed(folder, seed)
    once = [id for id in board.steps if not board.repeatable(id)]
    assert all(done[f"end {id}"] <= 1 for id in once), "what may be done once was done twice"
    doubted = [event.step for event in run.events if isinstance(event, Interrupted) and event.step in once]
    assert doubted == [event.step for event in run.events if isinstance(event, DoubtResolved)]
    assert run.status == alone.status, (run.reason, alone.reason)
    policy = crashing.policy_of(seed)
    if policy.failure == "skip" and policy.replan == "never":  # what else is done before a failure hangs on the clock
        assert (run.results, board.state) == (alone.results, alone.board.state)
    assert all(done[f"end {id}"] >= 1 for id in run.results if board.steps[id].tool)


def an_instant(chance: Random) -> tuple[int, float]:
    """Some lines, and some thousandths of a second: a step takes three."""
    return chance.randint(0, 12), chance.uniform(0.0, 0.006)


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_run_goes_on_and_repeats_nothing(seed: int, tmp_path: Path) -> None:
    chance = Random(seed)
    check(tmp_path, seed, [an_instant(chance)])


@pytest.mark.wide
@pytest.mark.parametrize("seed", range(4, 72))
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
