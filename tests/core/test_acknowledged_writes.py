"""No acknowledged write is lost, whatever else opens, copies or replaces the files of a journal or a prompt registry."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from planexec_lab.prompts import Registry
from planexec_lite import (
    Journal,
    JournalError,
    Plan,
    PlannerExecutor,
    RulePlanner,
    Run,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
    file_lock,
)
from planexec_lite.sqlite_file import is_leased, leases_of
from tests.core.shapes import step

posix = pytest.mark.skipif(os.name != "posix", reason="other systems have other locks and modes")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs.db")


def look() -> str:
    """Look."""
    return "seen"


def executor_of(*functions: Callable[[], object]) -> ToolExecutor:
    return ToolExecutor(Toolbox([Tool(function) for function in functions]))


def chain(*tools: str) -> Plan:
    return Plan.parse([step(str(n), tool, *([str(n - 1)] if n else [])) for n, tool in enumerate(tools)])


def gated() -> Plan:
    return Plan.parse([step("1", "look"), step("2", "look", "1") | {"gate": True}])


# Many writers

WRITERS = """
import json, shutil, sys, tempfile
from pathlib import Path
from threading import Event, Thread
from planexec_lite import Journal
from planexec_lab.prompts import Registry
from tests.core.test_acknowledged_writes import execute, executor_of, gated, look

kind, path, name, times, copies = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5] == "copies"
written, errors, over = [], [], Event()

def write(text):
    if kind == "registry":
        saved = Registry(path).save("p", text).text
        assert saved in {version.text for version in Registry(path).versions("p")}
        return saved
    journal = Journal(path)
    run = execute(gated(), executor_of(look), journal=journal)
    journal.tell(run.id, text)
    assert journal.inbox(run.id) == [text]
    assert run.id in {one.id for one in journal.list()}
    return journal.load(run.id).uid

def work(thread):
    for turn in range(times):
        try:
            written.append(write(f"{name} {thread} {turn}"))
        except Exception as problem:
            errors.append(repr(problem))

def copy():
    while not over.is_set():
        with tempfile.TemporaryDirectory() as there:
            for file in path.parent.glob(f"{path.name}*"):
                try:
                    shutil.copy(file, there)
                except OSError:
                    pass

threads = [Thread(target=work, args=(number,)) for number in range(3)]
copier = Thread(target=copy)
for thread in (*threads, *[copier] * copies):
    thread.start()
for thread in threads:
    thread.join()
over.set()
print(json.dumps([written, errors]))
"""


def together(kind: str, path: Path, times: int, copies: str) -> None:
    """Let three processes with three threads each write to a file, and check that all of it is there."""
    command = [sys.executable, "-c", WRITERS, kind, str(path)]
    processes = [
        subprocess.Popen([*command, name, str(times), copies], stdout=subprocess.PIPE, text=True) for name in "abc"
    ]
    told = [json.loads(process.communicate()[0]) for process in processes]
    assert [errors for _, errors in told] == [[], [], []]
    acknowledged = {one for written, _ in told for one in written}
    assert len(acknowledged) == 9 * times
    if kind == "registry":
        assert {version.text for version in Registry(path).versions("p")} == acknowledged
    else:
        assert {Journal(path).load(run.id).uid for run in Journal(path).list()} == acknowledged
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


COPIES = [pytest.param("", id="alone"), pytest.param("copies", id="beside a tool that copies", marks=posix)]


@pytest.mark.slow
@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize("kind", ["journal", "registry"])
def test_processes_with_threads_lose_no_acknowledged_write(kind: str, copies: str, tmp_path: Path) -> None:
    together(kind, tmp_path / "x.db", 6, copies)


@pytest.mark.weekly
@pytest.mark.parametrize("trial", range(2))
@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize("kind", ["journal", "registry"])
def test_processes_with_threads_lose_nothing_for_long(kind: str, copies: str, trial: int, tmp_path: Path) -> None:
    together(kind, tmp_path / "x.db", 60, copies)


# Other code that opens the files of a run that is going on

LOOKS = {
    "list": "journal.list()",
    "load": "journal.load(1)",
    "inbox": "journal.inbox(1)",
    "tell": "journal.tell(1, 'news')",
    "another run": "another()",
    "another run on a thread": "on_a_thread(another)",
    "a registry of that name": "refused(lambda: Registry(path).save('p', 'text'))",
    "a copied file": "shutil.copy(path, path.parent / 'copy')",
    "a copied folder": "shutil.copytree(path.parent, path.parent.with_name('copy'))",
}
LOOKING = """
import shutil, sys
from pathlib import Path
from threading import Thread
from planexec_lite import Journal
from planexec_lab.prompts import Registry, RegistryError
from tests.core.test_acknowledged_writes import chain, execute, executor_of, look

path = Path(sys.argv[1])
journal = Journal(path)

def another():
    execute(chain("look"), executor_of(look), journal=journal)

def on_a_thread(work):
    thread = Thread(target=work)
    thread.start()
    thread.join()

def refused(work):
    try:
        work()
    except RegistryError:
        return
    raise AssertionError

def peek() -> None:
    "Look into the files of this run."
    WHAT

def wait() -> None:
    "Wait for a line."
    print(recorded[-1], flush=True)
    sys.stdin.readline()

recorded = []
watch = lambda run: recorded.append(len(run.events))
execute(chain("peek", "wait", "look", "wait"), executor_of(peek, look, wait), journal=journal, watch=watch)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(one, marks=[posix] if "copied" in one else []) for one in LOOKS])
def test_a_killed_run_whose_files_were_opened_is_whole(kind: str, tmp_path: Path) -> None:
    """Another process writes meanwhile."""
    path = tmp_path / "here" / "runs.db"
    path.parent.mkdir()
    program, pipe = LOOKING.replace("WHAT", LOOKS[kind]), subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline()
            subprocess.run([sys.executable, "-c", TELLING, str(path)], check=True)
            print("go on", file=process.stdin, flush=True)
            recorded = int(process.stdout.readline())
        finally:
            process.kill()
    assert len(Journal(path).load(1).events) == recorded
    assert Journal(path).list()[0].status == "interrupted"


TELLING = """
import sys
from planexec_lite import Journal, JournalError
from tests.core.test_acknowledged_writes import PlannerExecutor, executor_of, look

def peek() -> None:
    "Look."

def wait() -> None:
    "Wait."

journal = Journal(sys.argv[1])
journal.tell(1, "news")
assert journal.list()[0].status == "running"
try:
    PlannerExecutor(None, executor_of(peek, look, wait)).resume(journal.load(1))
except JournalError as problem:
    assert "run 1 is being carried on by process" in str(problem), problem
else:
    raise AssertionError
"""


def exchange(path: Path) -> None:
    """Put a copy from before the last commit in the place of the file."""
    before = path.read_bytes()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM events WHERE number = (SELECT max(number) FROM events)")
    older = path.read_bytes()
    path.write_bytes(before)
    Path(f"{path}.new").write_bytes(older)
    os.replace(f"{path}.new", path)


LOST: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (os.unlink, r"there is no journal runs\.db"),
    "moved": (lambda path: os.replace(path, f"{path}.old"), r"there is no journal runs\.db"),
    "replaced": (exchange, r"run 1 was taken over by a program that replaced the file; load it again"),
}


@pytest.mark.parametrize("how", LOST)
def test_a_run_stops_when_its_file_is_lost(how: str, journal: Journal) -> None:
    done: list[str] = []
    change, words = LOST[how]

    def lose() -> None:
        """Do with the file what another program might do."""
        change(journal.path)

    def pay() -> None:
        """Pay."""
        done.append("paid")

    with pytest.raises(JournalError, match=words):
        execute(chain("lose", "pay"), executor_of(lose, pay), journal=journal)
    assert done == []


def test_a_new_file_is_not_taken_for_the_one_that_was_deleted(journal: Journal) -> None:
    def begin_again() -> None:
        """Delete the files, and begin another run under their name."""
        for file in journal.path.parent.glob("runs.db*"):
            file.unlink() if file.is_file() else None
        begun.append(execute(chain("look"), executor_of(look), journal=journal))

    begun: list[Run] = []
    with pytest.raises(JournalError, match="run 1 was taken over by process"):
        execute(chain("begin_again", "begin_again"), executor_of(begin_again), journal=journal)
    assert [run.events for run in begun] == [journal.load(1).events]


# Who carries a run on


def test_a_run_that_was_taken_over_is_not_appended_to(journal: Journal) -> None:
    def lose() -> None:
        """Delete the lock, and let another one carry the run on."""
        shutil.rmtree(leases_of(journal.path))
        with journal.carry_on(journal.load(1)):
            pass

    with pytest.raises(JournalError, match=r"run 1 was taken over by process \d+ on .*; load it again to continue it"):
        execute(chain("lose", "look"), executor_of(lose, look), journal=journal)
    assert [type(event).__name__ for event in journal.load(1).events] == ["RunStarted", "PlanProposed", "StepStarted"]


FORKING = """
import os, sys, time
from planexec_lite import Journal
from tests.core.test_acknowledged_writes import chain, execute, executor_of

def fork() -> None:
    "Leave a copy of the process that lives on."
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(600)
        os._exit(0)
    time.sleep(600)

execute(chain("fork"), executor_of(fork), journal=Journal(sys.argv[1]))
"""


@pytest.mark.slow
@posix
def test_a_forked_copy_of_a_killed_process_has_no_lease(journal: Journal) -> None:
    command = [sys.executable, "-c", FORKING, str(journal.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        copy = int(process.stdout.readline())
        try:
            assert journal.list()[0].status == "running"
            process.kill()
            process.wait()
            assert journal.list()[0].status == "interrupted"
        finally:
            os.kill(copy, signal.SIGKILL)


def test_without_locks_a_process_remembers_its_leases(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser tab has no locks."""
    monkeypatch.setattr(file_lock, "SYSTEM", None)

    def peek() -> str:
        """Look into the journal, and try to carry the run on a second time."""
        with pytest.raises(JournalError, match="run 1 is being carried on by"), journal.carry_on(journal.load(1)):
            pass
        return journal.list()[0].status

    run = execute(chain("peek", "look"), executor_of(peek, look), journal=journal)
    assert run.results == {"0": "running", "1": "seen"}
    assert not is_leased(journal.path, run.uid)


# Who can read it


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_read_what_is_written(mask: int, journal: Journal, tmp_path: Path) -> None:
    modes: dict[str, int] = {}

    def peek() -> None:
        """Look at the modes of all files."""
        modes.update({str(file.relative_to(tmp_path)): file.stat().st_mode & 0o777 for file in tmp_path.rglob("*")})
        folders.update(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_dir())

    folders: set[str] = set()
    inner = PlannerExecutor(RulePlanner(lambda goal: chain("peek")), executor_of(peek))
    before = os.umask(mask)
    try:
        Registry(tmp_path / "p.db").save("p", "text")
        run = execute(Plan.parse([{"id": "1", "description": "look"}]), inner, journal=journal)
    finally:
        os.umask(before)
    assert run.status == "finished"
    assert folders == {"runs.db-leases"}
    assert {name for name, mode in modes.items() if mode != (0o700 if name in folders else 0o600)} == set()
    assert {"p.db", "p.db-lock", "runs.db", "runs.db-journal", "runs.db-lock"} <= set(modes)
    left = {one + ending for one in ("p.db", "runs.db") for ending in ("", "-journal", "-lock")}
    assert {file.name for file in tmp_path.iterdir()} == left
