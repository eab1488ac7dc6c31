"""The journal: many runs in one SQLite file, each as the list of its events. The loop writes it; `resume` reads it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from platform import node
from textwrap import shorten
from typing import NamedTuple
from uuid import uuid4

from planexec_lite.core.events import Event
from planexec_lite.plan.data import as_words
from planexec_lite.run import Run
from planexec_lite.run.events import from_json, to_json
from planexec_lite.storage.file_lock import FileLock
from planexec_lite.storage.sqlite_file import SQLiteFile, is_leased
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
EVENTS = "SELECT number, data FROM events WHERE run = ? ORDER BY number"
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


class Journal:
    """A file that stores runs while they are running. Give it to `PlannerExecutor` or `execute`, or use it to read
    stored runs.

    Events are on disk, and survive a power failure, before anything that depends on them begins; there is one commit each
    time the loop wakes up.
    Many runs and several processes can share a file. Only one process at a time drives a run, but all processes can
    send it news.

    Args:
        path: the file. The first run creates it, and only its owner can read it; its folder must exist. The files whose
            names are this name and "-lock", "-journal" or "-lease-…" belong to it.

    Its methods raise `JournalError` for a file that is missing, damaged, locked or foreign, and for a run that it does
    not contain.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()  # the same file after a change of folder

    def __repr__(self) -> str:
        return f"Journal({self.path.name!r})"

    def list(self) -> list[StoredRun]:
        """Return all runs, in the order in which they began."""
        with FILE.reading(self.path) as connection:
            rows = connection.execute(
                "SELECT id, uid, goal, status, (SELECT count(*) FROM events WHERE run = id) "
                "FROM runs WHERE id > 0 ORDER BY id"
            )
            return [
                StoredRun(str(number), goal, self._status(uid, status), n)
                for number, uid, goal, status, n in rows
            ]

    def load(self, run: str | int) -> Run:
        """Return a stored run; `PlannerExecutor.resume` continues it."""
        with FILE.reading(self.path) as connection:
            number, uid, _ = self._known(connection, run)
            rows = connection.execute(EVENTS, (number,)).fetchall()
        return self._restored(number, uid, rows)

    def find(self, uid: str) -> Run | None:
        """Return the run inside a step that is called `uid`, as far as it was written; None if it has not begun."""
        with FILE.reading(self.path) as connection:
            known = connection.execute("SELECT id FROM runs WHERE uid = ?", (uid,)).fetchone()
            if known is None:
                return None
            rows = connection.execute(EVENTS, known).fetchall()
        return self._restored(known[0], uid, rows)

    def tell(self, run: str | int, news: str) -> None:
        """Tell a run news that changes the rest of it, from any process: `PlannerExecutor.tell` through the file.

        The process that carries the run on records the news when its loop wakes up next. If no process does, the news waits in
        the file until the run is resumed. It is recorded once, even if a process dies; news that comes as the run ends is not
        recorded: see `inbox`.

        Raises `ValueError` for news that is not text or can't be written, `JournalError` for a run that has ended.
        """
        words = as_words(news, "news")
        self.inbox(run)  # raises if the file or the run is missing: to write would create the file
        with FILE.writing(self.path) as connection:
            number, _, status = self._known(connection, run)
            if status not in ("running", "paused"):
                raise JournalError(
                    f"run {run} in {self.path.name} has ended ({status}); start a new run with the news in its goal"
                )
            into = "INSERT INTO news SELECT ?, coalesce(max(number) + 1, 0), ? FROM news WHERE run = ?"
            connection.execute(into, (number, words, number))

    def inbox(self, run: str | int) -> Sequence[str]:
        """Return the news from the file that a run has not recorded yet. News for a run that has ended came too late."""
        with FILE.reading(self.path) as connection:
            known = self._known(connection, run)
            return [*_inbox(connection, known[0]).values()]

    @contextmanager
    def carry_on(self, run: Run) -> Iterator[None]:
        """Write the events that `run` records from now on, and hold its lease meanwhile.

        Raises `JournalError` if another process carries it on, and if it has more events than `run`. A run inside a step is
        taken over instead: the process that left it might be an orphan, whose further events are refused.
        """
        user = uuid4().hex if run.inner else run.uid
        with FILE.lease(self.path, user) as lease:
            if lease is None:
                raise self._refusal(run)
            with FILE.writing(self.path) as connection:
                if run.journal is None:
                    run.id, run.stored = str(self._begin(connection, run)), len(run.events)
                log = _Log(self.path, int(run.id), lease, _me())
                log.begin(connection, run.stored)
            run.journal, run.log = self, log
            try:
                yield
            except BaseException:
                with suppress(Exception):  # the first error is the one to report
                    run.commit()
                raise
            finally:
                run.log = None

    def _refusal(self, run: Run) -> JournalError:
        """Return the error that says which process carries the run on."""
        with FILE.reading(self.path) as connection:
            asked = connection.execute("SELECT id, holder FROM runs WHERE uid = ?", (run.uid,))
            number, holder = asked.fetchone() or ("in memory", "another thread")
        return JournalError(
            f"run {number} is being carried on by {holder.partition(',')[0]}; wait for it, or end it"
        )

    def _restored(self, number: int, uid: str, rows: Sequence[tuple[int, str]]) -> Run:
        """Return the run with these events."""
        if not rows or [at for at, _ in rows] != [*range(len(rows))]:
            raise JournalError(
                f"events of run {number} are missing in {self.path.name}: the file is damaged"
            )
        run = Run()
        run.uid, run.id, run.journal, run.stored = uid, str(number), self, len(rows)
        run.inner = number < 0  # see `_begin`
        for at, text in rows:
            try:
                run.record(from_json(text))
            except UNREADABLE as problem:
                words = escaped(shorten(str(problem), 200))
                raise JournalError(
                    f"event {at + 1} of run {number} in {self.path.name} can't be read ({type(problem).__name__}: {words}); "
                    "restore a copy of the file"
                ) from problem
        return run

    def _known(self, connection: sqlite3.Connection, run: str | int) -> tuple[int, str, str]:
        """Return a run's id, uid and status. Raises `JournalError` if there is no run with that id."""
        rows = connection.execute("SELECT id, uid, status FROM runs WHERE id > 0 ORDER BY id")
        known: dict[str, tuple[int, str, str]] = {str(row[0]): row for row in rows}
        if str(run) not in known:
            ids = ", ".join([*known][:20])
            raise JournalError(
                f"there is no run {run} in {self.path.name}; there are {ids or 'none'}"
            )
        return known[str(run)]

    def _begin(self, connection: sqlite3.Connection, run: Run) -> int:
        """Write a run that is not in the file yet, and return its id."""
        # runs inside steps count down from -1: users don't ask for them by number
        inner = "SELECT min(0, coalesce(min(id), 0)) - 1 FROM runs"
        into = f"INSERT OR IGNORE INTO runs SELECT iif(?, ({inner}), NULL), ?, ?, ?, ''"
        values = (run.inner, run.uid, run.board.goal, run.status)
        cursor = connection.execute(into, values)
        if cursor.rowcount == 0:
            number, *_ = connection.execute(
                "SELECT id FROM runs WHERE uid = ?", (run.uid,)
            ).fetchone()
            raise JournalError(
                f"this run is in {self.path.name} already, as run {number}; load it from there"
            )
        number = cursor.lastrowid or 0
        append(connection, number, 0, run.events)
        return number

    def _status(self, uid: str, status: str) -> str:
        if status != "running":
            return status
        return "running" if is_leased(self.path, uid) else "interrupted"


def _me() -> str:
    """Return a unique name for the holder of a lease; the part before the comma is for people."""
    return f"process {os.getpid()} on {node() or 'this computer'}, {uuid4().hex}"


@dataclass(slots=True)
class _Log:
    """Writes the events of a run while it is carried on."""

    path: Path
    run: int
    lease: FileLock
    holder: str

    def begin(self, connection: sqlite3.Connection, stored: int) -> None:
        """Record this log as the holder of the run; all other logs are refused after it.

        Raises `JournalError` if there are more or fewer events than `stored`.
        """
        _, count = self._state(connection)
        if count != stored:
            raise JournalError(
                f"this copy of run {self.run} is out of date: {self.path.name} has {count} events, and "
                f"the copy has {stored}; load the run again"
            )
        connection.execute("UPDATE runs SET holder = ? WHERE id = ?", (self.holder, self.run))

    def append(
        self, number: int, events: Sequence[Event], status: str, news: Sequence[int] = ()
    ) -> None:
        """Write events, the first of which is number `number`, from 0, and remove `news` from the inbox: all or nothing.

        An interrupted call can be repeated.
        """
        if not self.lease.is_held():
            raise JournalError(
                f"this process can't write run {self.run} any more: other code, perhaps a tool, closed its files or forked it; "
                "resume the run in a new process, and end forked copies with os._exit"
            )
        with FILE.writing(self.path) as connection:
            holder, count = self._state(connection)
            if count < number:
                raise FILE.lost(self.path)
            if holder != self.holder:
                raise JournalError(
                    f"run {self.run} was taken over by {holder.partition(',')[0]}; load it again to continue it"
                )
            append(connection, self.run, number, events)
            change = "UPDATE runs SET status = ? WHERE id = ? AND status != ?"
            connection.execute(change, (status, self.run, status))
            done = [(self.run, one) for one in news]
            connection.executemany("DELETE FROM news WHERE run = ? AND number = ?", done)

    def inbox(self) -> Mapping[int, str]:
        """Return the news that the run has not recorded yet, by number."""
        with FILE.reading(self.path) as connection:
            return _inbox(connection, self.run)

    def _state(self, connection: sqlite3.Connection) -> tuple[str, int]:
        """Return the holder of the run, and how many events are on disk."""
        count = "SELECT coalesce(max(number) + 1, 0) FROM events WHERE run = id"
        asked = f"SELECT holder, ({count}) FROM runs WHERE id = ?"
        return connection.execute(asked, (self.run,)).fetchone() or ("", 0)


def append(connection: sqlite3.Connection, run: int, number: int, events: Sequence[Event]) -> None:
    """Write events, the first of which is number `number`, unless they were written before."""
    rows = [(run, at, to_json(event)) for at, event in enumerate(events, number)]
    connection.executemany("INSERT OR IGNORE INTO events VALUES (?, ?, ?)", rows)


def _inbox(connection: sqlite3.Connection, run: int) -> dict[int, str]:
    return dict(
        connection.execute("SELECT number, text FROM news WHERE run = ? ORDER BY number", (run,))
    )
