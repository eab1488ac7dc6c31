"""The kit's SQLite files, such as journals: how to open one, its schema, its leases, and SQLite's errors in plain words.

Opening and closing a database file makes a process lose SQLite's record locks on it, and a user's tool might copy the file during
a run. So each use of the file, reading included, holds the lock on the file "-lock", and opens and closes a connection of its own.
Between two uses the file is whole: it can be copied, and a forked process can use it.

A process that carries on a run has a lease: a locked file in the folder "-leases". A process that dies loses its leases at once,
also after a kill. No clock is involved: a stopped process and a sleeping laptop keep their leases, and a clock that jumps changes
nothing. A forked copy of a process has no lease.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from time import monotonic, sleep
from typing import Literal
from urllib.parse import quote

from planexec_lite.file_lock import FileLock, is_locked

PATIENCE = 30.0  # seconds to wait for another process that writes; a busy disk can stall for ten
VERSION = 1  # of the schemas
SHORTEST = 512  # bytes of an SQLite file that is not empty
FOREIGN = "it is not an SQLite file, and was not changed; choose another name"
Synchronous = Literal["FULL", "NORMAL", "OFF"]


@dataclass(frozen=True, slots=True)
class SQLiteFile:
    """One kind of file.

    Args:
        kind: the name of this kind in errors, such as "journal".
        application: the number in the head of each file of this kind.
        schema: SQL that creates the tables.
        error: the class of the errors raised here.
        made: when a file is created; part of the error about a missing file.
        then: what to do after the cause of an error is removed.
    """

    kind: str
    application: int
    schema: str
    error: type[Exception]
    made: str
    then: str

    @contextmanager
    def reading(self, path: Path) -> Iterator[sqlite3.Connection]:
        """Give a connection that only reads. Raises `error` if the file is missing, foreign or damaged."""
        with self._in_words(path), _alone(path, make=False), closing(self._opened(path)) as connection:
            yield connection

    @contextmanager
    def writing(
        self, path: Path, synchronous: Synchronous = "FULL", *, create: bool = True
    ) -> Iterator[sqlite3.Connection]:
        """Give a connection for one transaction: all its changes are committed together, or none.

        `create`: create a missing file. Raises `error` if the file is foreign or damaged, or can't be written.
        """
        self._check_place(path)
        with self._in_words(path), _alone(path):
            if create and _size(path) == 0:
                self._create(path)
            with closing(self._opened(path)) as connection:
                connection.execute("PRAGMA journal_mode = TRUNCATE")
                connection.execute(f"PRAGMA synchronous = {synchronous}")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute("BEGIN IMMEDIATE")
                yield connection  # without COMMIT, closing the connection takes the changes back
                connection.execute("COMMIT")

    @contextmanager
    def lease(self, path: Path, user: str, refusal: Callable[[], str]) -> Iterator[FileLock]:
        """Hold the lease called `user`, and give its lock.

        Raises `error(refusal())` if this process or another one holds that lease, and otherwise `error` as `writing` does.
        """
        self._check_place(path)
        lock = FileLock(leases_of(path) / user)
        try:
            with self._in_words(path), _alone(path):
                leases_of(path).mkdir(mode=0o700, exist_ok=True)
                lock.take()
            if not lock.held:
                raise self.error(refusal())
            yield lock
        finally:
            try:
                with suppress(OSError), _alone(path):
                    if lock.held:
                        lock.release()
                        os.unlink(lock.path)
                    leases_of(path).rmdir()  # fails if there are other leases
            finally:
                lock.release()

    def _check_place(self, path: Path) -> None:
        """Raise `error` if the folder is missing or the file is foreign, before a lock file is created for it."""
        if not os.path.isdir(path.parent):
            raise self.error(f"there is no folder for the {self.kind} {path.name}; create it first")
        if _size(path) and not os.path.exists(_beside(path, "-lock")):
            with self.reading(path):
                pass

    def _opened(self, path: Path) -> sqlite3.Connection:
        """Open a file of this kind. Raises `error` for a missing file, and for any other file."""
        if path.exists() and not path.is_file():
            raise self.error(f"{path.name} is not a file; choose another name for the {self.kind}")
        if (size := _size(path)) == 0:
            raise self.error(f"there is no {self.kind} {path.name}; {self.made}")
        if size < SHORTEST:  # SQLite might treat it as a new one
            raise self.error(f"{path.name} is not a {self.kind}: {FOREIGN}")
        connection = _connect(path, "rw" if os.access(path, os.W_OK) else "ro")
        try:
            self._check(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _in_words(self, path: Path) -> Iterator[None]:
        """Raise errors of SQLite and the system as `error`, with what to do about them."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as problem:
            words = f"{self._meaning(path.name, problem)} ({problem}); committed writes are kept"
            raise self.error(words) from problem

    def _meaning(self, name: str, problem: Exception) -> str:
        code, kind = getattr(problem, "sqlite_errorcode", 0) & 0xFF, self.kind
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or isinstance(problem, TimeoutError):
            return f"another program has locked the {kind} {name} for {PATIENCE:g} s; try again when it has finished"
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or getattr(problem, "errno", 0) == ENOSPC:
            return f"the {kind} {name} can't be written: the disk is full, or fails; free some space and {self.then}"
        no_way = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
        if code in no_way or isinstance(problem, OSError):
            return f"the {kind} {name} or its folder can't be opened or written to; check its permissions"
        if code == sqlite3.SQLITE_NOTADB:
            return f"{name} is not a {kind}: {FOREIGN}"
        return f"the {kind} {name} is damaged; recover the rest of it with sqlite3's .recover, or restore a copy"

    def _check(self, connection: sqlite3.Connection, path: Path) -> None:
        """Raise `error` if the file is of another kind, or of another version of the kit."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != self.application:
            raise self.error(
                f"{path.name} is not a {self.kind}: it is another program's database, and was not changed; choose another name"
            )
        if version != VERSION:
            raise self.error(
                f"{path.name} was written by another version of the kit (schema {version}; this one reads {VERSION})"
            )

    def _create(self, path: Path) -> None:
        """Create the file with its tables. It gets its name when it is complete."""
        new = _beside(path, "-new")
        new.unlink(missing_ok=True)  # a process was killed
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # only its owner can read it
        head = f"PRAGMA application_id = {self.application}; PRAGMA user_version = {VERSION};"
        with closing(_connect(new, "rw")) as connection:
            connection.executescript(f"BEGIN; {self.schema} {head} COMMIT")
        os.replace(new, os.path.realpath(path))


@contextmanager
def _alone(path: Path, make: bool = True) -> Iterator[None]:
    """Hold the lock of a file. Raises `TimeoutError` if another process or thread keeps it too long.

    `make`: create a missing lock file. If False, no lock is needed if the lock file is missing or can't be opened.
    """
    lock = FileLock(_beside(path, "-lock"))
    if not make and not os.access(lock.path, os.R_OK | os.W_OK):
        yield
        return
    until = monotonic() + PATIENCE
    try:
        while not lock.take():
            if monotonic() > until:
                raise TimeoutError(f"{os.path.basename(lock.path)} is locked")
            sleep(0.001)
        yield
    finally:
        try:
            lock.release()
        except BaseException:  # it was interrupted
            lock.release()
            raise


def is_leased(path: Path, user: str) -> bool:
    """Whether a process holds the lease called `user` now. Call it while the file is read."""
    return is_locked(leases_of(path) / user)


def _beside(path: Path, ending: str) -> Path:
    """Return the name of a file beside the one that links lead to."""
    return Path(os.path.realpath(path) + ending)


def leases_of(path: Path) -> Path:
    return _beside(path, "-leases")


def _size(path: Path) -> int:
    """Return the bytes of a file; 0 if it is missing."""
    return path.stat().st_size if path.exists() else 0


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()), safe="")  # a file name can contain any character
    return sqlite3.connect(f"file:{name}?mode={mode}", PATIENCE, isolation_level=None, uri=True)
