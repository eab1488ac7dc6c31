"""The journal: many runs in one file, each the list of its events; written by the loop, read by whoever goes on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from platform import node
from typing import NamedTuple, get_args
from uuid import uuid4

from planexec_lite.core.events import Event, Status
from planexec_lite.events import from_json, to_json
from planexec_lite.journal.database import (
    FILE,
    JournalError,
    Synchronous,
    WritingConnection,
    alone,
    in_words,
    transaction,
)
from planexec_lite.journal.lease import is_held, lease
from planexec_lite.journal.words import UNREADABLE, described, is_uid
from planexec_lite.plan.data import as_words
from planexec_lite.run import Run


class StoredRun(NamedTuple):
    """A run in a journal. `status` is as `Run.status`; "running" while somebody carries it on, "interrupted" when nobody does."""

    id: str
    goal: str
    status: str
    events: int


@dataclass(frozen=True, slots=True)
class Journal:
    """A file to which runs are written as they go on: given to `PlannerExecutor` or `execute`, or read by itself.

    What was recorded is on disk before what follows from it begins: one commit each time that the loop wakes up. Many runs and
    several processes may share a file; one process at a time carries on a run, and every one may tell it news.

    Args:
        path: the file. The first run creates it, and only its owner can read it; its folder must exist. The files "-wal", "-shm"
            and "-lock" and the folder "-leases", with the same name before these endings, belong to it.
        synchronous: when SQLite waits for the disk. "FULL": a commit survives a loss of power. "NORMAL": it survives the death
            of the process. "OFF": no waiting at all.

    Its methods raise `JournalError` for a file that is missing, damaged, locked or none of ours, and for a run that is not there.
    """

    path: Path
    synchronous: Synchronous = "FULL"

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path).absolute())  # it is the same file when the folder is changed
        if self.synchronous not in get_args(Synchronous):
            raise ValueError(f"synchronous={self.synchronous!r}: one of {', '.join(get_args(Synchronous))}")

    def list(self) -> list[StoredRun]:
        """Return all runs, in the order in which they began."""
        count = "(SELECT count(*) FROM events WHERE run = id)"
        asked = f"SELECT id, uid, goal, status, {count} FROM runs WHERE id > 0 ORDER BY id"
        with self._reading() as connection:
            rows = connection.execute(asked).fetchall()
        return [StoredRun(str(id), goal, self._status(uid, status), events) for id, uid, goal, status, events in rows]

    def load(self, run: str | int) -> Run:
        """Return a run as it stands in the file; `PlannerExecutor.resume` goes on with it."""
        loaded, uid, data = Run(), *self._stored(run)
        for loaded in self._folded(run, data):  # noqa: B007
            pass
        loaded.uid, loaded.id, loaded.journal, loaded.stored = uid, str(run), self, len(data)
        return loaded

    def replay(self, run: str | int) -> Iterator[Run]:
        """Give the run as it stood after each event, the same object each time. Nothing is called, and no model is asked."""
        return self._folded(run, self._stored(run)[1])

    def tell(self, run: str | int, news: str) -> None:
        """Tell a run something that changes the rest of it, from whatever process: `PlannerExecutor.tell` through the file.

        Whoever carries the run on records it when its loop wakes up next; where nobody does, it waits here until the run is
        resumed. It is recorded once, whichever process dies when; but what comes as the run ends is not: see `inbox`.

        Raises `ValueError` for news that is no text or can't be written down, `JournalError` for a run that has ended.
        """
        words = as_words(news, "news")
        with self._reading() as connection:
            id, _ = self._known(connection, run)
        with FILE.writing(self.path, self.synchronous) as connection:
            (status,) = connection.execute("SELECT status FROM runs WHERE id = ?", (id,)).fetchone()
            if status in get_args(Status):
                raise JournalError(
                    f"run {run} in {self.path.name} has ended ({status}); start a new one with the news in its goal"
                )
            into = "INSERT INTO news SELECT ?, coalesce(max(number) + 1, 0), ? FROM news WHERE run = ?"
            connection.execute(into, (id, words, id))

    def inbox(self, run: str | int) -> Sequence[str]:
        """Return what a run was told through the file and has not recorded yet; of one that has ended, it came too late."""
        with self._reading() as connection:
            id, _ = self._known(connection, run)
            return [*_inbox(connection, id).values()]

    @contextmanager
    def carry_on(self, run: Run) -> Iterator[None]:
        """Write down what `run` records from here on, and hold its lease meanwhile.

        Raises `JournalError` if another process carries it on, and if it has gone on since `run` was read. A run inside a step is
        taken over instead: the process that has left it may be an orphan, whose further events are refused.
        """
        with self._going_on(run) as connection:
            if run.journal is None:
                with in_words(self.path), transaction(connection):
                    run.id = str(self._begin(connection, run))
                run.journal, run.stored = self, len(run.events)
            log = _Log(connection, self.path, int(run.id))
            log.hold(run)
            run.log = log
            try:
                yield
            except BaseException:
                with suppress(Exception):  # what was interrupted is told first
                    run.stored = log.stored()
                    run.commit()
                raise
            finally:
                run.log = None

    def find(self, uid: str) -> Run | None:
        """Return the run inside a step that is called `uid`, as far as it was written down; None if it has not begun."""
        with self._reading() as connection:
            row = connection.execute("SELECT id FROM runs WHERE uid = ?", (uid,)).fetchone()
            asked = "SELECT data FROM events WHERE run = ? ORDER BY number"
            data = [] if row is None else [text for (text,) in connection.execute(asked, row)]
        if row is None:
            return None
        run = Run()
        for run in self._folded(row[0], data):  # noqa: B007
            pass
        run.uid, run.id, run.journal, run.stored, run.inner = uid, str(row[0]), self, len(data), True
        return run

    @contextmanager
    def _going_on(self, run: Run) -> Iterator[WritingConnection]:
        """Hold the lease of a run and keep a connection open."""
        FILE.check_place(self.path)
        holder = uuid4().hex if run.inner else run.uid
        with (
            lease(self.path, holder, lambda: self._refusal(run)),
            closing(FILE.to_write(self.path, self.synchronous, holder)) as connection,
        ):
            yield connection

    def _refusal(self, run: Run) -> str:
        """Say which process carries the run on."""
        with self._reading() as connection:
            row = connection.execute("SELECT id, holder FROM runs WHERE uid = ?", (run.uid,)).fetchone()
        name, holder = (f"run {row[0]}", _words(row[1])) if row else ("the run", "another thread")
        return f"{name} is being carried on by {holder}; wait for it, or end it"

    def _folded(self, run: str | int, data: Sequence[str]) -> Iterator[Run]:
        folded = Run()
        for number, text in enumerate(data, 1):
            try:
                folded.record(from_json(text))
            except UNREADABLE as problem:
                raise JournalError(
                    f"event {number} of run {run} in {self.path.name} can't be read ({described(problem)}); those before it "
                    "can be, by replay()"
                ) from problem
            yield folded

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return FILE.reading(self.path)

    def _stored(self, run: str | int) -> tuple[str, Sequence[str]]:
        """The uid of a run, and its events as they are in the file."""
        with self._reading() as connection:
            id, uid = self._known(connection, run)
            asked = "SELECT number, data FROM events WHERE run = ? ORDER BY number"
            rows = connection.execute(asked, (id,)).fetchall()
        if not rows or [number for number, _ in rows] != list(range(len(rows))):
            raise JournalError(f"events of run {run} are missing in {self.path.name}: the file is damaged")
        return uid, [data for _, data in rows]

    def _known(self, connection: sqlite3.Connection, run: str | int) -> tuple[int, str]:
        """The id and the uid of a run. Raises `JournalError` where there is none of that name."""
        known = str(run).isascii() and str(run).isdigit() and len(str(run)) < 19
        row = connection.execute("SELECT id, uid FROM runs WHERE id = ?", (int(run),)).fetchone() if known else None
        if row is None:
            asked = "SELECT id FROM runs WHERE id > 0 ORDER BY id LIMIT 20"
            ids = ", ".join(str(id) for (id,) in connection.execute(asked))
            raise JournalError(f"there is no run {run} in {self.path.name}; there are {ids or 'none'}")
        if not is_uid(row[1]):
            raise JournalError(f"run {run} in {self.path.name} has no id that a journal gives: the file is damaged")
        return int(row[0]), str(row[1])

    def _begin(self, connection: WritingConnection, run: Run) -> int:
        """Write a run down that is not in the file, as far as it has come, and return its id."""
        row = connection.execute("SELECT id FROM runs WHERE uid = ?", (run.uid,)).fetchone()
        if row is not None:
            raise JournalError(f"this run is in {self.path.name} already, as run {row[0]}; load it from there")
        # runs inside steps count down from -1: nobody asks for them by number
        (inner,) = connection.execute("SELECT min(0, coalesce(min(id), 0)) - 1 FROM runs").fetchone()
        into = "INSERT INTO runs (id, uid, goal, status, holder) VALUES (?, ?, ?, ?, ?)"
        values = (inner if run.inner else None, run.uid, run.board.goal, run.status, _me())
        id = connection.execute(into, values).lastrowid or 0
        append(connection, id, 0, run.events)
        return id

    def _status(self, uid: str, status: str) -> str:
        if status != "running":
            return status
        return "running" if is_uid(uid) and is_held(self.path, uid) else "interrupted"


def _me() -> str:
    """Return a unique name for one holder of a run's lease; the part before the comma is for people."""
    return f"process {os.getpid()} on {node() or 'this computer'}, {uuid4().hex}"


def _words(holder: str) -> str:
    return holder.partition(",")[0]


@dataclass(slots=True)
class _Log:
    """Where the events of a run go that is being carried on."""

    connection: WritingConnection
    path: Path
    run: int
    status: str = ""
    holder: str = field(default_factory=_me)
    owner: int = field(default_factory=os.getpid)

    def append(self, number: int, events: Sequence[Event], status: str, news: Sequence[int] = ()) -> None:
        """Write down events, the first of which is number `number`, from 0, and take `news` out of the inbox: all or nothing."""
        self._check_owner()
        with in_words(self.path), transaction(self.connection):
            (holder,) = self.connection.execute("SELECT holder FROM runs WHERE id = ?", (self.run,)).fetchone()
            if holder != self.holder:
                raise JournalError(f"run {self.run} was taken over by {_words(holder)}; load it again to go on with it")
            append(self.connection, self.run, number, events)
            if status != self.status:
                self.connection.execute("UPDATE runs SET status = ? WHERE id = ?", (status, self.run))
            if news:
                gone = [(self.run, one) for one in news]
                self.connection.executemany("DELETE FROM news WHERE run = ? AND number = ?", gone)
        self.status = status

    def inbox(self) -> Mapping[int, str]:
        """What the run was told and has not recorded yet, by number."""
        with in_words(self.path), alone(self.connection.file):
            return _inbox(self.connection, self.run)

    def stored(self) -> int:
        """How many events are on disk."""
        self._check_owner()
        with in_words(self.path), alone(self.connection.file):
            return self._count()

    def _check_owner(self) -> None:
        if self.owner != os.getpid():
            raise JournalError(
                f"run {self.run} is being carried on by process {self.owner}, and not by its copy {os.getpid()}: "
                "a tool that forks has to end the copy with os._exit"
            )

    def hold(self, run: Run) -> None:
        """Record this log as the holder of the run; all other logs are refused from here on.

        Raises `JournalError` if the run has gone on since `run` was read.
        """
        with in_words(self.path), transaction(self.connection):
            if (stored := self._count()) != run.stored:
                raise JournalError(
                    f"run {run.id} has gone on since this copy of it was read: {stored} events are in "
                    f"{self.path.name}, and {run.stored} here; load it again"
                )
            self.connection.execute("UPDATE runs SET holder = ? WHERE id = ?", (self.holder, self.run))

    def _count(self) -> int:
        (count,) = self.connection.execute("SELECT count(*) FROM events WHERE run = ?", (self.run,)).fetchone()
        return int(count)


def append(connection: sqlite3.Connection, run: int, number: int, events: Sequence[Event]) -> None:
    """Write down events, the first of which is number `number`."""
    rows = [(run, at, to_json(event)) for at, event in enumerate(events, number)]
    connection.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)


def _inbox(connection: sqlite3.Connection, run: int) -> dict[int, str]:
    return dict(connection.execute("SELECT number, text FROM news WHERE run = ? ORDER BY number", (run,)))
