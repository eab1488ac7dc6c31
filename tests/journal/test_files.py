"""No acknowledged write is lost if other programs open, copy, damage or replace the files of a journal or a registry."""

import itertools
import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planexec_lab.prompts import Registry, RegistryError
from planexec_lite import Backoff, Journal, JournalError, Plan, Policy, Simulated, execute
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import Job, Workshop, left, plan_of
from tests.journal.runs import additions, carried_out, chain, executor_of, line_of, printed, started, tell
from tests.rounds import few

posix = pytest.mark.skipif(os.name != "posix", reason="other systems have other locks and modes")


WRITES = """
    import json, sys
    from pathlib import Path
    from threading import Thread
    from planexec_lite import Journal
    from tests.journal.runs import GATED, carried_out

    path, name, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    written, errors = [], []

    def write(text):
        journal = Journal(path)
        run = carried_out(journal, *GATED)
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

    threads = [Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps([written, errors]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, pytest.param(60, marks=pytest.mark.weekly)])
def test_processes_with_threads_lose_no_write(times: int, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    processes = [started(WRITES, path, name, times) for name in "abc"]
    outputs = [json.loads(process.communicate()[0]) for process in processes]
    assert [errors for _, errors in outputs] == [[], [], []]
    acknowledged = {one for written, _ in outputs for one in written}
    assert len(acknowledged) == 9 * times
    assert {Journal(path).load(run.id).uid for run in Journal(path).list()} == acknowledged
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


LOOKS = {
    "list": "journal.list()",
    "load": "journal.load(1)",
    "tell": "journal.tell(1, 'news')",
    "another run": "execute(chain('look'), executor_of(look), journal=journal)",
    "copied files": "shutil.copytree(path.parent, path.parent.with_name('copy'))",
}
COPIED = pytest.param("copied files", marks=[posix, pytest.mark.weekly])
LOOKING = """
    import shutil, sys
    from pathlib import Path
    from planexec_lite import Journal, execute
    from tests.journal.runs import chain, executor_of, look

    path = Path(sys.argv[1])
    journal, recorded = Journal(path), []

    def peek() -> None:
        "Look into the files of this run."
        WHAT

    def wait() -> None:
        "Wait for a line."
        print(recorded[-1], flush=True)
        sys.stdin.readline()

    watch = lambda run: recorded.append(len(run.events))
    execute(chain("peek", "wait", "look", "wait"), executor_of(peek, look, wait), journal=journal, watch=watch)
"""
TELLING = """
    import sys
    from planexec_lite import Journal, JournalError, PlannerExecutor
    from tests.journal.runs import executor_of, look

    def peek() -> None:
        "Look."

    def wait() -> None:
        "Wait."

    journal = Journal(sys.argv[1])
    journal.tell(1, "news")
    print(journal.list()[0].status)
    try:
        PlannerExecutor(None, executor_of(peek, look, wait)).resume(journal.load(1))
    except JournalError as problem:
        print(problem)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*few([one for one in LOOKS if "copied" not in one], 3), COPIED])
def test_a_killed_run_whose_files_were_opened_is_whole(kind: str, tmp_path: Path) -> None:
    """Another process writes at the same time; by SQLite's locks alone, it would not know that the killed one writes too."""
    path = tmp_path / "here" / "runs.db"
    path.parent.mkdir()
    with started(LOOKING.replace("WHAT", LOOKS[kind]), path) as process:
        try:
            assert line_of(process)
            status, refusal = printed(TELLING, path).splitlines()
            tell(process)
            recorded = int(line_of(process))
        finally:
            process.kill()
    assert status == "running"
    assert refusal.startswith(f"run 1 is being carried on by process {process.pid} on ")
    assert len(Journal(path).load(1).events) == recorded
    assert Journal(path).list()[0].status == "interrupted"


def remove(*paths: Path) -> None:
    for path in paths:
        path.unlink()


LOST: dict[str, Callable[[Path, Path], None]] = {
    "the file is deleted": lambda path, old: remove(path),
    "the file is moved": lambda path, old: os.replace(path, f"{path}.moved"),
    "it is replaced by an older one": lambda path, old: os.replace(old, path),
    "an older one is copied over it": lambda path, old: path.write_bytes(old.read_bytes()),
    "it is replaced by another journal": lambda path, old: replace(path),
}


def replace(path: Path) -> None:
    other = Journal(path.with_name("other.db"))
    carried_out(other)
    os.replace(other.path, path)


@posix
@pytest.mark.parametrize("how", LOST)
def test_a_run_stops_when_its_file_is_lost(how: str, journal: Journal) -> None:
    done, old = list[str](), journal.path.with_name("old")

    def copy() -> None:
        shutil.copy(journal.path, old)

    def lose() -> None:
        LOST[how](journal.path, old)

    def pay() -> None:
        done.append("paid")

    words = r"was deleted or replaced while it was in use, so|no journal runs.db, or not any more|run 1 was taken over by process"
    with pytest.raises(JournalError, match=words):
        execute(chain("copy", "lose", "pay"), executor_of(copy, lose, pay), journal=journal)
    assert done == []


CLOSES = """
    import os, sys
    from pathlib import Path
    from planexec_lite import Journal, JournalError, Plan, execute
    from tests.journal.runs import additions, carried_out, chain, executor_of

    path, ending = Path(sys.argv[1]), sys.argv[2]
    files = []

    def close():
        for name in os.listdir("/dev/fd"):
            if int(name) > 2 and os.path.exists(f"/dev/fd/{name}"):
                if ending in os.path.realpath(f"/dev/fd/{name}"):
                    os.close(int(name))
        files.extend(open(path.parent / f"{number}.txt", "w+") for number in range(20))

    def pay():
        print("paid")

    for use in (
        lambda: execute(chain("close", "pay"), executor_of(close, pay), journal=Journal(path)),
        lambda: Journal(path).load(1),
        lambda: carried_out(Journal(path)),
    ):
        try:
            use()
            print("no error")
        except JournalError as error:
            print(error)
    for file in files:
        print("mine", file=file)
        file.close()
"""


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system does not list open files")
@pytest.mark.parametrize("ending", ["-lease", "/"])
def test_a_run_stops_when_a_tool_closes_its_files(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    first, *others = printed(CLOSES, path, ending).splitlines()
    assert (
        "can't write run 1 any more: other code, perhaps a tool, closed its files or forked it; resume the run in"
        in first
    )
    assert others == ["no error"] * 2
    assert {file.read_text() for file in tmp_path.glob("*.txt")} == {"mine\n"}
    assert [type(event).__name__ for event in Journal(path).load(1).events][-1] == "StepStarted"


@posix
def test_a_version_is_refused_when_its_file_is_lost(tmp_path: Path) -> None:
    def now() -> datetime:
        remove(tmp_path / "p.db")
        return datetime.now(UTC)

    with pytest.raises(RegistryError, match=r"registry p\.db was deleted .* while it was in use, so .* then try"):
        Registry(tmp_path / "p.db", now=now).save("p", "text")


@posix
@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_only_the_owner_can_read_what_is_written(mask: int, journal: Journal, tmp_path: Path) -> None:
    modes: dict[str, int] = {}

    def peek() -> None:
        modes.update({str(file.relative_to(tmp_path)): file.stat().st_mode & 0o777 for file in tmp_path.rglob("*")})

    inner = agent_for(executor_of(peek), chain("peek"))
    before = os.umask(mask)
    try:
        Registry(tmp_path / "p.db").save("p", "text")
        run = execute(Plan.parse([{"id": "1", "description": "look"}]), inner, journal=journal)
    finally:
        os.umask(before)
    assert run.status == "finished"
    assert {"p.db", "p.db-lock", "runs.db", "runs.db-lock"} < modes.keys()
    assert set(modes.values()) == {0o600}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p.db", "p.db-lock", "runs.db", "runs.db-lock"]


def another_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE orders (id)")


def newer(path: Path) -> None:
    carried_out(Journal(path))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA user_version = 7")


def spoil(path: Path, kept: int, more: bytes = b"") -> None:
    carried_out(Journal(path))
    path.write_bytes(path.read_bytes()[:kept] + more)


def linked(path: Path) -> None:
    carried_out(Journal(path))
    os.link(path, path.with_name("other.db"))


FOREIGN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a long text": (lambda path: path.write_text("dear diary\n" * 999), "is not an SQLite file, and was not changed"),
    "a letter": (lambda path: path.write_text("x"), "is not an SQLite file, and was not changed"),
    "another database": (another_database, "another program's database, and was not changed"),
    "newer": (newer, r"written by another version of the kit \(schema 7; this one reads 1\)"),
    "torn": (lambda path: spoil(path, 5000), "is damaged"),
    "overwritten": (lambda path: spoil(path, 100, b"\x5a" * 20_000), "is damaged"),
    "a folder": (lambda path: path.mkdir(), "is not a file"),
    "linked": (linked, r"has a second name \(a hard link\), .* remove one of them, or make a copy"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_or_damaged_file_is_refused_and_stays_as_it_is(name: str, journal: Journal) -> None:
    make, words = FOREIGN[name]
    make(journal.path)
    before = journal.path.read_bytes() if journal.path.is_file() else None
    for use in (journal.list, lambda: journal.load(1), lambda: carried_out(journal)):
        with pytest.raises(JournalError, match=words):
            use()
    assert before is None or journal.path.read_bytes() == before


DIES = """
    import os, sqlite3, sys
    from pathlib import Path
    from planexec_lite.storage.journal import FILE
    with FILE.writing(Path(sys.argv[1])) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("UPDATE events SET data = data || data")
        os._exit(9)
"""


def test_a_write_that_was_interrupted_leaves_the_file_as_it_was(journal: Journal) -> None:
    carried_out(journal, *additions(60))
    before = journal.load(1).events
    with started(DIES, journal.path) as process:
        assert process.wait() == 9
    assert Path(f"{journal.path}-journal").stat().st_mode & 0o777 == 0o600
    assert journal.load(1).events == before


@pytest.mark.slow
def test_a_truncated_file_gives_whole_events_or_an_error(journal: Journal, tmp_path: Path) -> None:
    carried_out(journal, *additions(60))
    whole, length, chance = journal.load(1).events, journal.path.stat().st_size, Random(7)
    there, refused = Journal(tmp_path / "there.db"), 0
    for cut in (0, 1, 15, 16, 17, 31, 32, 100, 4095, 4096, length - 1, *chance.sample(range(length), 20)):
        shutil.copy(journal.path, there.path)
        os.truncate(there.path, cut)
        before = there.path.read_bytes()
        try:
            assert there.load(1).events == whole, cut
        except JournalError:
            refused += 1
        assert there.path.read_bytes() == before, cut
    assert refused


def test_a_clock_that_is_set_back_changes_no_time_and_no_lease(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The computer's clock is set back an hour each time that it is read."""
    hours, calls = itertools.count(), list[str]()
    monkeypatch.setattr(time, "time", lambda: 1e9 - 3600 * next(hours))
    monkeypatch.setattr(time, "time_ns", lambda: int(1e18 - 3.6e12 * next(hours)))

    def work() -> None:
        """Fail the second time, and be interrupted the fourth."""
        calls.append("work")
        if len(calls) == 2:
            raise RuntimeError("not yet")
        if len(calls) == 4:
            raise KeyboardInterrupt

    works, policy = executor_of(work, effects="none"), Policy(retries=1, backoff=Backoff(first=0.001), deadline=600)
    left(lambda: execute(chain(*["work"] * 4), works, journal=journal, policy=policy))
    assert journal.list()[0].status == "interrupted"
    run = agent_for(works, policy=policy).resume(journal.load(1))
    assert (run.status, len(calls)) == ("finished", 6)
    times = [event.at for event in journal.load(1).events]
    assert times == sorted(times)
    assert 0 <= times[-1] < 600


# Hostile files: reading one gives a run or a `JournalError`, and executes no code

ODD: list[Any] = [None, True, -1, 10**400, 1e308, "", "x" * 5000, "\x1b[2J\u202e", "__import__('os')", [], {}, [[[[]]]],
       {"$ref": "#"}, "{step_1_result}", "!!python/object", "cos\nsystem\n(S'true'\ntR."]  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    """A journal with a run that failed, tried again and skipped."""
    journal = Journal(tmp_path_factory.mktemp("hostile") / "runs.db")
    made = [Job("1"), Job("2", ("1",), 2, 1, 1), Job("3", ("1",), 1, 2, 1), Job("4", ("3",)), Job("5", ("2",))]
    carry_out(plan_of(made), Workshop().toolbox, Simulated(2), journal=journal)
    return journal


def spoiled(value: Any, chance: Random) -> Any:
    """The same data with a part replaced, repeated or removed, at any depth."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(list(value))
        if chance.random() < 0.15:
            return {other: part for other, part in value.items() if other != key}
        return value | {key: spoiled(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return [*value[:at], spoiled(value[at], chance), *value[at + chance.randrange(2) :]]
    return chance.choice(ODD)


def spoiled_lines(whole: list[str], chance: Random) -> list[str]:
    """The lines, some of which are replaced, truncated or changed inside."""
    lines = [*whole]
    for at in chance.sample(range(len(whole)), chance.randint(1, 3)):
        line = whole[at]
        changed = json.dumps(spoiled(json.loads(line), chance))
        digits = re.sub(r"\d", lambda _: str(chance.randrange(10)), line)
        lines[at] = chance.choice([changed, digits, chance.choice(whole), line[: chance.randrange(len(line))]])
    return lines


def seeds(count: int) -> Any:
    many = pytest.param(range(count, 5_000), id="thousands", marks=pytest.mark.weekly)
    return pytest.mark.parametrize("seeds", [pytest.param(range(count), id="some"), many])


@seeds(200)
def test_spoiled_events_give_a_run_or_an_error(seeds: range, kept: Journal, tmp_path: Path) -> None:
    whole, refused = kept.path.read_bytes(), list[str]()
    with closing(sqlite3.connect(kept.path)) as db:
        lines = [line for (line,) in db.execute("SELECT data FROM events ORDER BY number")]
    for seed in seeds:
        there = Journal(tmp_path / f"{seed}.db")
        there.path.write_bytes(whole)
        with closing(sqlite3.connect(there.path)) as db, db:
            changed = enumerate(spoiled_lines(lines, Random(seed)))
            db.executemany("UPDATE events SET data = ? WHERE number = ?", [(line, number) for number, line in changed])
        try:
            run = there.load(1)
        except JournalError as problem:
            refused.append(str(problem))
        else:
            assert all((repr(run), run.status, run.usage))  # as good a run as any
        there.path.unlink()
    assert len(refused) > len(seeds) / 2
    assert max(map(len, refused)) < 500


@seeds(60)
def test_a_spoiled_file_is_read_or_rejected(seeds: range, kept: Journal, tmp_path: Path) -> None:
    whole, refused = kept.path.read_bytes(), 0
    for seed in seeds:
        chance, path = Random(seed), tmp_path / f"{seed}.db"
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 300))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)
        before = path.read_bytes()
        try:
            for one in Journal(path).list():
                Journal(path).load(one.id)
        except JournalError:
            refused += 1
        assert path.read_bytes() == before
        path.unlink()
    assert 0 < refused < len(seeds)
