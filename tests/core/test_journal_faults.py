"""Disks that are full, files that are cut short, clocks that jump: a clear error, and what was committed can be read."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planexec_lite import (
    Backoff,
    Journal,
    JournalError,
    PlannerExecutor,
    Policy,
    Run,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.events import StepDone
from planexec_lite.plan import Plan
from tests.core.shapes import step
from tests.core.test_journal import carried_out

CHAIN = [step(str(n), "add", *([str(n - 1)] if n else []), a=n, b=1) for n in range(60)]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs.db")


# A disk that is full


def small_disk(folder: Path, kilobytes: int, code: str) -> subprocess.CompletedProcess[str]:
    """Run a program with `folder` as a disk of so many kilobytes, which goes with it."""
    mounted = f'mount -t tmpfs -o size={kilobytes}k none "$0" && exec "$@"'
    command = [
        "unshare",
        "-rm",
        "sh",
        "-c",
        mounted,
        str(folder),
        sys.executable,
        "-c",
        textwrap.dedent(code),
        str(folder),
    ]
    return subprocess.run(command, capture_output=True, text=True)


def has_small_disks(folder: Path) -> bool:
    return sys.platform == "linux" and shutil.which("unshare") is not None and not small_disk(folder, 64, "").returncode


@pytest.mark.slow
def test_a_small_disk_that_is_full_keeps_what_was_committed(tmp_path: Path) -> None:
    if not has_small_disks(tmp_path):
        pytest.skip("this user may mount nothing here")
    told = small_disk(
        tmp_path,
        500,
        """
        import sys
        from pathlib import Path
        from planexec_lite import Journal, JournalError
        from tests.core.shapes import step
        from tests.core.test_journal import agent, carried_out

        folder = Path(sys.argv[1])
        ballast, journal = folder / "ballast", Journal(folder / "runs.db")
        ballast.write_bytes(bytes(400_000))
        chain = [step(str(n), "add", *([str(n - 1)] if n else []), a=n, b=1) for n in range(300)]
        try:
            carried_out(journal, *chain)
        except JournalError as problem:
            print(problem)
            left = problem.run
        kept = journal.load(1).events
        print(20 < len(kept) <= len(left.events), kept == left.events[: len(kept)])
        ballast.unlink()
        run = agent().resume(journal.load(1))
        print(run.status, len(run.results), run.events[: len(kept)] == kept)
        """,
    )
    assert told.returncode == 0, told.stderr
    assert (
        "the journal runs.db can't be written: the disk is full, or fails; free some space and resume the run"
        in told.stdout
    )
    assert told.stdout.endswith("True True\nfinished 300 True\n")


# Files that are cut short


@pytest.mark.slow
def test_a_file_that_is_cut_short_gives_whole_events_or_an_error(journal: Journal) -> None:
    whole = [*carried_out(journal, *CHAIN).events]
    data, chance = journal.path.read_bytes(), Random(7)
    for cut in (0, 1, 15, 16, 17, 31, 32, 100, 4095, 4096, len(data) - 1, *chance.sample(range(len(data)), 30)):
        journal.path.write_bytes(data[:cut])
        with suppress(JournalError):
            assert journal.load(1).events == whole, cut
        assert journal.path.read_bytes() == data[:cut], cut


# A file that somebody else locks


def test_a_file_that_is_locked_in_the_middle_of_a_run_stops_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planexec_lite.sqlite_file.PATIENCE", 0.2)
    other: list[sqlite3.Connection] = []

    def look() -> None:
        """Lock the file once, as a tool that copies it may do."""
        if not other:
            other.append(sqlite3.connect(journal.path, isolation_level=None))
            other[0].execute("BEGIN IMMEDIATE")

    hands = ToolExecutor(Toolbox([Tool(look, effects="none")]))
    plan = Plan.parse([step("1", "look"), step("2", "look", "1"), step("3", "look", "2")])
    with pytest.raises(JournalError, match=r"another program has locked the journal runs.db for 0.2 s") as left:
        execute(plan, hands, journal=journal)
    run: Run = left.value.run  # type: ignore[attr-defined]
    kept = journal.load(1).events
    assert kept == run.events[: len(kept)]
    other[0].close()
    done = PlannerExecutor(None, hands).resume(run)  # in the process that has it, nothing is forgotten
    assert [event.step for event in done.events if isinstance(event, StepDone)] == ["1", "2", "3"]
    assert journal.load(1).events == done.events


# A clock that jumps


def test_a_clock_that_jumps_back_changes_no_time_and_no_lease(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The computer's clock is set back an hour each time that it is asked: in the first process and in the one after it."""
    clock = [time.time()]

    def jumps() -> float:
        clock[0] -= 3600
        return clock[0]

    monkeypatch.setattr(time, "time", jumps)
    monkeypatch.setattr(time, "time_ns", lambda: int(jumps() * 1e9))
    calls: list[int] = []

    def work(n: int) -> int:
        """Fail once, then be cut off once."""
        calls.append(n)
        time.time()
        if len(calls) == 2:
            raise RuntimeError("not yet")
        if len(calls) == 4:
            raise KeyboardInterrupt
        return n

    hands = ToolExecutor(Toolbox([Tool(work, effects="none")]))
    plan = Plan.parse([step(str(n), "work", *([str(n - 1)] if n else []), n=n) for n in range(4)])
    rules: Any = {"policy": Policy(retries=1, backoff=Backoff(first=0.001, longest=0.01), deadline=600)}
    with pytest.raises(KeyboardInterrupt):
        execute(plan, hands, journal=journal, **rules)
    assert journal.list()[0].status == "interrupted"
    run = PlannerExecutor(None, hands, **rules).resume(journal.load(1))
    assert (run.status, calls) == ("finished", [0, 1, 1, 2, 2, 3])
    times = [event.at for event in journal.load(1).events]
    assert times == sorted(times)
    assert 0 <= times[-1] < 600
