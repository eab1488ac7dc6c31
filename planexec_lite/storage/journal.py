"""The journal: many runs in one SQLite file, each as the list of its events. The loop writes it; `resume` reads it."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from platform import node
from typing import NamedTuple, get_args
from uuid import uuid4

from planexec_lite.core.events import Event, Status
from planexec_lite.plan.data import as_words
from planexec_lite.run import Run
from planexec_lite.run.events import from_json, to_json
from planexec_lite.storage.sqlite_file import Connection, SQLiteFile, Synchronous, is_leased
from planexec_lite.tools import escaped

SCHEMA = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    goal TEXT NOT NULL,
    status TEXT NOT NULL,
    holder TEXT NOT NULL
) STRICT;
CREATE TABLE events (
    run INTEGER NOT NULL REFERENCES runs,
    number INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE news (
    run INTEGER NOT NULL REFERENCES runs,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
"""
# the errors of a damaged event: it is not JSON, it is not an event, or it can't have happened
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)


class JournalError(RuntimeError):
    """A journal can't be read or written, or contains something that no journal contains; committed events are kept."""


FILE = SQLiteFile(
    "journal",
    0x504C584C,
    SCHEMA,
    JournalError,
    made="the first run that is written to it creates it",
    then="resume the run",
)


class StoredRun(NamedTuple):
    """A run in a journal. `status` is as in `Run.status`: "running" while a process drives it, "interrupted" if none
    does.
    """

    id: str
    goal: str
    status: str
    events: int


@dataclass(frozen=True, slots=True)
class Journal:
    """A file that stores runs while they are running. Give it to `PlannerExecutor` or `execute`, or use it to read
    stored runs.

    Events are on disk before anything that depends on them begins; there is one commit each time the loop wakes up.
    Many runs and several processes can share a file. Only one process at a time drives a run, but all processes can
    send it news.

    Args:
        path: the file. The first run creates it, and only its owner can read it; its folder must exist. The files
            "-wal", "-shm" and "-lock" and the folder "-leases", with the same name before these endings, belong to it.
        synchronous: when SQLite waits for the disk. "FULL": a commit survives a power failure. "NORMAL": it survives
            the death of the process. "OFF": SQLite never waits.

    Its methods raise `JournalError` for a file that is missing, damaged, locked or foreign, and for a run that it does
    not contain.
    """

    path: Path
    synchronous: Synchronous = "FULL"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "path", Path(self.path).absolute()
        )  # the same file after a change of folder
        if self.synchronous not in get_args(Synchronous):
            raise ValueError(
                f"synchronous={self.synchronous!r}: choose one of {', '.join(get_args(Synchronous))}"
            )

    def list(self) -> list[StoredRun]:
        """Return all runs, in the order in which they began."""
        count = "(SELECT count(*) FROM events WHERE run = id)"
        with FILE.reading(self.path) as connection:
            rows = connection.execute(
                f"SELECT id, uid, goal, status, {count} FROM runs WHERE id > 0 ORDER BY id"
            )
            return [
                StoredRun(str(number), goal, self._status(uid, status), n)
                for number, uid, goal, status, n in rows
            ]

    def load(self, run: str | int) -> Run:
        """Return a stored run; `PlannerExecutor.resume` continues it."""
        with FILE.reading(self.path) as connection:
            number, uid = self._known(connection, run)
            data = self._data(connection, number)
        return self._restored(number, uid, data)

    def find(self, uid: str) -> Run | None:
        """Return the run inside a step that is called `uid`, as far as it was written; None if it has not begun."""
        with FILE.reading(self.path) as connection:
            row = connection.execute("SELECT id FROM runs WHERE uid = ?", (uid,)).fetchone()
            if row is None:
                return None
            data = self._data(connection, row[0])
        run = self._restored(row[0], uid, data)
        run.inner = True
        return run

    def replay(self, run: str | int) -> Iterator[Run]:
        """Give the run as it was after each event, the same object each time. No tool is called, and no model is asked."""
        with FILE.reading(self.path) as connection:
            number, _ = self._known(connection, run)
            data = self._data(connection, number)
        return self._folded(number, data)

    def tell(self, run: str | int, news: str) -> None:
        """Tell a run news that changes the rest of it, from any process: `PlannerExecutor.tell` through the file.

        The process that carries the run on records the news when its loop wakes up next. If no process does, the news waits in
        the file until the run is resumed. It is recorded once, even if a process dies; news that comes as the run ends is not
        recorded: see `inbox`.

        Raises `ValueError` for news that is not text or can't be written, `JournalError` for a run that has ended.
        """
        words = as_words(news, "news")
        with FILE.reading(self.path) as reader:
            number, _ = self._known(reader, run)
        with FILE.writing(self.path, self.synchronous) as connection:
            (status,) = connection.execute(
                "SELECT status FROM runs WHERE id = ?", (number,)
            ).fetchone()
            if status in get_args(Status):
                raise JournalError(
                    f"run {run} in {self.path.name} has ended ({status}); start a new run with the news in its goal"
                )
            into = "INSERT INTO news SELECT ?, coalesce(max(number) + 1, 0), ? FROM news WHERE run = ?"
            connection.execute(into, (number, words, number))

    def inbox(self, run: str | int) -> Sequence[str]:
        """Return the news from the file that a run has not recorded yet. News for a run that has ended came too late."""
        with FILE.reading(self.path) as connection:
            number, _ = self._known(connection, run)
            return [*_inbox(connection, number).values()]

    @contextmanager
    def carry_on(self, run: Run) -> Iterator[None]:
        """Write the events that `run` records from now on, and hold its lease meanwhile.

        Raises `JournalError` if another process carries it on, and if it has more events than `run`. A run inside a step is
        taken over instead: the process that left it might be an orphan, whose further events are refused.
        """
        user = uuid4().hex if run.inner else run.uid
        with FILE.lease(
            self.path, user, lambda: self._refusal(run), self.synchronous
        ) as connection:
            stored = run.stored
            with FILE.transaction(connection):
                if run.journal is None:
                    run.id, stored = str(self._begin(connection, run)), len(run.events)
                log = _Log(connection, int(run.id))
                log.hold(stored)
            run.journal, run.stored, run.log = self, stored, log
            try:
                yield
            except BaseException:
                with suppress(Exception):  # the first error is the one to report
                    run.stored = log.stored()
                    run.commit()
                raise
            finally:
                run.log = None

    def _refusal(self, run: Run) -> str:
        """Say which process carries the run on."""
        with FILE.reading(self.path) as connection:
            row = connection.execute(
                "SELECT id, holder FROM runs WHERE uid = ?", (run.uid,)
            ).fetchone()
        name, holder = (
            (f"run {row[0]}", row[1].partition(",")[0]) if row else ("the run", "another thread")
        )
        return f"{name} is being carried on by {holder}; wait for it, or end it"

    def _restored(self, number: int, uid: str, data: Sequence[str]) -> Run:
        *_, run = self._folded(number, data)
        run.uid, run.id, run.journal, run.stored = uid, str(number), self, len(data)
        return run

    def _folded(self, run: int, data: Sequence[str]) -> Iterator[Run]:
        folded = Run()
        for number, text in enumerate(data, 1):
            try:
                folded.record(from_json(text))
            except UNREADABLE as problem:
                words = escaped(" ".join(str(problem).split()))
                shortened = words if len(words) <= 200 else f"{words[:200]}…"
                raise JournalError(
                    f"event {number} of run {run} in {self.path.name} can't be read ({type(problem).__name__}: {shortened}); "
                    "replay() gives the events before it"
                ) from problem
            yield folded

    def _data(self, connection: sqlite3.Connection, run: int) -> Sequence[str]:
        """Return a run's stored events."""
        asked = "SELECT number, data FROM events WHERE run = ? ORDER BY number"
        rows = connection.execute(asked, (run,)).fetchall()
        if not rows or [number for number, _ in rows] != [*range(len(rows))]:
            raise JournalError(
                f"events of run {run} are missing in {self.path.name}: the file is damaged"
            )
        return [data for _, data in rows]

    def _known(self, connection: sqlite3.Connection, run: str | int) -> tuple[int, str]:
        """Return a run's id and uid. Raises `JournalError` if there is no run with that id."""
        known = str(run).isascii() and str(run).isdigit() and len(str(run)) < 19
        row = (
            connection.execute("SELECT id, uid FROM runs WHERE id = ?", (int(run),)).fetchone()
            if known
            else None
        )
        if row is None:
            asked = "SELECT id FROM runs WHERE id > 0 ORDER BY id LIMIT 20"
            ids = ", ".join(str(number) for (number,) in connection.execute(asked))
            raise JournalError(
                f"there is no run {run} in {self.path.name}; there are {ids or 'none'}"
            )
        if not _is_uid(row[1]):
            raise JournalError(
                f"run {run} in {self.path.name} has a uid that no journal creates: the file is damaged"
            )
        return int(row[0]), str(row[1])

    def _begin(self, connection: sqlite3.Connection, run: Run) -> int:
        """Write a run that is not in the file yet, and return its id."""
        row = connection.execute("SELECT id FROM runs WHERE uid = ?", (run.uid,)).fetchone()
        if row is not None:
            raise JournalError(
                f"this run is in {self.path.name} already, as run {row[0]}; load it from there"
            )
        # runs inside steps count down from -1: users don't ask for them by number
        (inner,) = connection.execute(
            "SELECT min(0, coalesce(min(id), 0)) - 1 FROM runs"
        ).fetchone()
        into = "INSERT INTO runs (id, uid, goal, status, holder) VALUES (?, ?, ?, ?, '')"
        values = (inner if run.inner else None, run.uid, run.board.goal, run.status)
        number = connection.execute(into, values).lastrowid or 0
        append(connection, number, 0, run.events)
        return number

    def _status(self, uid: str, status: str) -> str:
        if status != "running":
            return status
        return "running" if _is_uid(uid) and is_leased(self.path, uid) else "interrupted"


def _is_uid(uid: object) -> bool:
    """Whether `uid` is 32 hexadecimal digits; the name of a lease is made from it."""
    return isinstance(uid, str) and re.fullmatch("[0-9a-f]{32}", uid) is not None


def _me() -> str:
    """Return a unique name for the holder of a lease; the part before the comma is for people."""
    return f"process {os.getpid()} on {node() or 'this computer'}, {uuid4().hex}"


@dataclass(slots=True)
class _Log:
    """Writes the events of a run while it is carried on."""

    connection: Connection
    run: int
    status: str = ""
    holder: str = field(default_factory=_me)

    def append(
        self, number: int, events: Sequence[Event], status: str, news: Sequence[int] = ()
    ) -> None:
        """Write events, the first of which is number `number`, from 0, and remove `news` from the inbox: all or nothing."""
        with FILE.transaction(self.connection):
            (holder,) = self.connection.execute(
                "SELECT holder FROM runs WHERE id = ?", (self.run,)
            ).fetchone()
            if holder != self.holder:
                raise JournalError(
                    f"run {self.run} was taken over by {holder.partition(',')[0]}; load it again to continue it"
                )
            append(self.connection, self.run, number, events)
            if status != self.status:
                self.connection.execute(
                    "UPDATE runs SET status = ? WHERE id = ?", (status, self.run)
                )
            done = [(self.run, one) for one in news]
            self.connection.executemany("DELETE FROM news WHERE run = ? AND number = ?", done)
        self.status = status

    def inbox(self) -> Mapping[int, str]:
        """Return the news that the run has not recorded yet, by number."""
        with FILE.using(self.connection):
            return _inbox(self.connection, self.run)

    def stored(self) -> int:
        """Return how many events are on disk."""
        with FILE.using(self.connection):
            return self._count()

    def hold(self, stored: int) -> None:
        """Record this log as the holder of the run, in a transaction; all other logs are refused after it.

        Raises `JournalError` if there are more or fewer events than `stored`.
        """
        if (count := self._count()) != stored:
            raise JournalError(
                f"this copy of run {self.run} is out of date: {self.connection.path.name} has {count} events, and "
                f"the copy has {stored}; load the run again"
            )
        self.connection.execute("UPDATE runs SET holder = ? WHERE id = ?", (self.holder, self.run))

    def _count(self) -> int:
        (count,) = self.connection.execute(
            "SELECT count(*) FROM events WHERE run = ?", (self.run,)
        ).fetchone()
        return int(count)


def append(connection: sqlite3.Connection, run: int, number: int, events: Sequence[Event]) -> None:
    """Write events, the first of which is number `number`."""
    rows = [(run, at, to_json(event)) for at, event in enumerate(events, number)]
    connection.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)


def _inbox(connection: sqlite3.Connection, run: int) -> dict[int, str]:
    return dict(
        connection.execute("SELECT number, text FROM news WHERE run = ? ORDER BY number", (run,))
    )
