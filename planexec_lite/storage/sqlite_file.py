"""The kit's SQLite files, such as journals: how to read and write one, its schema, its leases, and SQLite's errors in plain words.

Each use opens the file and closes it again. So no connection is open while a tool runs on the thread that writes: it can copy the
file, fork the process, or close all its handles. If a tool on another thread closes them in the middle of a use, the use ends with
an error; only during a commit, for about a millisecond, SQLite might write into files that get the same handles.

A commit is complete in the file itself. A killed process can leave "-journal", from which SQLite restores the file at the next use.

Every use holds the lock on the file "-lock"; only reading does without it where that file is missing or can't be opened. SQLite's
own locks are not enough, because a process loses them when any of its threads closes the file, for example after copying it.

A process that drives a run has a lease: another locked file. A process that dies loses its leases at once, also after a kill.
No clock is involved: a stopped process and a sleeping laptop keep their leases, and a clock that jumps changes nothing. A forked
copy of a process has no lease.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

from planexec_lite.frozen import frozen
from planexec_lite.storage.file_lock import FileLock, is_locked, lock_on
from planexec_lite.tools.handles import number_of

PATIENCE = 30.0  # seconds to wait for another process that writes; a busy disk can stall for ten
VERSION = 1  # of the schemas
SHORTEST = 512  # bytes of an SQLite file that is not empty
SETTINGS = (
    "PRAGMA foreign_keys = ON; PRAGMA synchronous = EXTRA;"  # a commit survives a power failure
)


@frozen
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
        """Give a connection to read from. Raises `error` if the file is missing, foreign or damaged."""
        # the lock file is missing beside a copy, and can't be opened in a read-only folder
        locks = os.access(beside(path, "-lock"), os.R_OK | os.W_OK)
        with self._in_words(path), _alone(path) if locks else nullcontext():
            if self._exists(path):
                with _opened(path) as connection:
                    if self._has_schema(connection, path):
                        yield connection
                        return
        raise self.error(f"there is no {self.kind} {path.name}, or not any more; {self.made}")

    @contextmanager
    def writing(self, path: Path) -> Iterator[sqlite3.Connection]:
        """Give a connection for one transaction: all changes, or none. A missing file is created.

        Raises `error` if the file is foreign or damaged, or can't be written, or is deleted or replaced meanwhile.
        """
        with self._in_words(path), _alone(path) as lock:
            if not self._exists(path):
                path.touch(0o600)  # only its owner can read it, and "-journal"
            number = number_of(path)
            with _opened(path) as connection:
                begin = f"{SETTINGS} BEGIN IMMEDIATE;"
                if not self._has_schema(connection, path):
                    begin += f"""{self.schema} PRAGMA application_id = {self.application};
                        PRAGMA user_version = {VERSION};"""
                connection.executescript(begin)
                yield connection
                if not lock.is_held():  # a tool on another thread closed all handles
                    raise self.lost(path)
                connection.execute("COMMIT")
            if number_of(path) != number:
                raise self.lost(path)

    @contextmanager
    def lease(self, path: Path, user: str) -> Iterator[FileLock | None]:
        """Hold the lease called `user`, or give None if this process or another one holds it already."""
        with lock_on(lease_of(path, user)) as lock:
            with self._in_words(path), _alone(path):
                taken = lock.take()
            try:
                yield lock if taken else None
            finally:
                if lock.is_held():
                    with suppress(OSError):  # some systems keep an open file
                        os.unlink(lock.path)

    def lost(self, path: Path) -> Exception:
        """Return the error for a file that is not the one that was used before."""
        return self.error(
            f"the {self.kind} {path.name} was deleted or replaced while it was in use, so the write is refused; find out which "
            f"program did that, then {self.then}"
        )

    @contextmanager
    def _in_words(self, path: Path) -> Iterator[None]:
        """Raise errors of SQLite and the system as `error`, with what to do about them."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as problem:
            words = f"{self._meaning(path, problem)} ({problem}); committed writes are kept"
            raise self.error(words) from problem

    def _meaning(self, path: Path, problem: Exception) -> str:
        file = f"the {self.kind} {path.name}"
        # SQLite's code if there is one, otherwise the error itself
        match getattr(problem, "sqlite_errorcode", 0) & 0xFF or problem:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | TimeoutError():
                return f"another program has locked {file} for {PATIENCE:g} s; try again when it has finished"
            case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR | OSError(errno=errno.ENOSPC):
                return f"{file} can't be written: the disk is full, or fails; free some space and {self.then}"
            case FileNotFoundError():
                return f"there is no folder for {file}; create it first"
            case (
                sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | OSError()
            ):
                return f"{file} or its folder can't be opened or written to; check its permissions"
            case sqlite3.SQLITE_NOTADB:
                return self._foreign(path, "not an SQLite file")
        return (
            f"{file} is damaged; recover the rest of it with sqlite3's .recover, or restore a copy"
        )

    def _foreign(self, path: Path, what: str) -> str:
        return f"{path.name} is not a {self.kind}: it is {what}, and was not changed; choose another name"

    def _exists(self, path: Path) -> bool:
        """Whether there is a file. Raises `error` for a folder, for a file with two names, and for one so short that SQLite might
        take it for a new one.
        """
        if not path.exists():
            return False
        status = path.stat()
        if not path.is_file():
            raise self.error(
                f"{path.name or path} is not a file; choose another name for the {self.kind}"
            )
        if status.st_nlink > 1:  # each name would have other locks
            raise self.error(
                f"the {self.kind} {path.name} has a second name (a hard link), and a write under one name would be lost under the "
                "other; remove one of them, or make a copy instead"
            )
        if 0 < status.st_size < SHORTEST:
            raise self.error(self._foreign(path, "not an SQLite file"))
        return True

    def _has_schema(self, connection: sqlite3.Connection, path: Path) -> bool:
        """Whether the file has its tables. It has none if the process that created it was killed.

        Raises `error` if the file is of another kind, or of another version of the kit.
        """
        ((tables, application, version),) = connection.execute(
            "SELECT (SELECT count(*) FROM sqlite_schema), * FROM pragma_application_id, pragma_user_version"
        )
        if tables == 0:
            return False
        if application != self.application:
            raise self.error(self._foreign(path, "another program's database"))
        if version != VERSION:
            raise self.error(
                f"{path.name} was written by another version of the kit (schema {version}; this one reads {VERSION})"
            )
        return True


def _opened(path: Path) -> closing[sqlite3.Connection]:
    name = quote(os.fsencode(path.absolute()), safe="")  # it can contain any character
    return closing(
        sqlite3.connect(f"file:{name}?mode=rw", PATIENCE, isolation_level=None, uri=True)
    )


@contextmanager
def _alone(path: Path) -> Iterator[FileLock]:
    """Hold the lock of the file. Raises `TimeoutError` if another process or thread keeps it too long."""
    until = monotonic() + PATIENCE
    with lock_on(beside(path, "-lock")) as lock:
        while not lock.take():
            if monotonic() > until:
                raise TimeoutError(f"{os.path.basename(lock.path)} is locked")
            sleep(0.001)
        yield lock


def is_leased(path: Path, user: str) -> bool:
    """Whether a process holds the lease called `user` now. Call it while the file is read."""
    return is_locked(lease_of(path, user))


def lease_of(path: Path, user: str) -> str:
    return beside(path, f"-lease-{quote(user, safe='')}")


def beside(path: Path, ending: str) -> str:
    """Return the name of a file beside the one that links lead to, as SQLite does for "-journal"."""
    return os.path.realpath(path) + ending
