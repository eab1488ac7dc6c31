"""The file: its schema and its version, how it is opened, and what SQLite's errors mean in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import Literal
from urllib.parse import quote

APPLICATION = 0x504C584C  # written in the head of the file: it is one of ours
PATIENCE = 10.0  # seconds to wait for another process that writes
RUNS = """
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
"""
NEWS = """
CREATE TABLE news (
    run INTEGER NOT NULL REFERENCES runs,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
"""
SCHEMAS = (RUNS, NEWS)  # what each version of the schema brought
VERSION = len(SCHEMAS)
NEWS_SINCE = 2
Synchronous = Literal["FULL", "NORMAL", "OFF"]


class JournalError(RuntimeError):
    """A journal can't be read or written, or holds what it can't hold; what was committed stays as it is."""


def to_read(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing. Raises `JournalError` where the file is missing, foreign or damaged."""
    with in_words(path):
        if not path.exists():
            raise JournalError(f"there is no journal {path.name}; it is made when the first run is written to it")
        _must_be_sqlite(path)
        connection = _connect(path, "mode=ro")
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            if Path(f"{path}-wal").exists():
                raise
            # a folder that can't be written to has no room for the file that readers share
            connection = _connect(path, "mode=ro&immutable=1")
        if _is_empty(connection):  # whoever was to make it was killed before: a journal without runs
            connection.close()
            connection = sqlite3.connect(":memory:", isolation_level=None)
            _complete(connection)
        return _ours(connection, path)


def to_write(path: Path, synchronous: Synchronous = "FULL") -> sqlite3.Connection:
    """A connection that appends; the file is made where there is none, and brought up to date where it is an older one.

    Raises `JournalError` as `to_read` does.
    """
    with in_words(path):
        if not path.parent.is_dir():
            raise JournalError(f"there is no folder for the journal {path.name}; make it first")
        _must_be_sqlite(path)
        connection = _connect(path, "mode=rwc")
        try:
            if _is_empty(connection):
                _complete(connection)
            _ours(connection, path)
            if version_of(connection) < VERSION:
                _complete(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {synchronous}")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing is written, and nobody else writes meanwhile."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """What SQLite can't do is raised as a `JournalError`, with what to do about it."""
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeError) as problem:
        raise JournalError(
            f"{_meaning(path.name, problem)} ({problem}); what was committed stays as it is"
        ) from problem


def _meaning(name: str, problem: Exception) -> str:
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"another program has kept the journal {name} locked for {PATIENCE:g} s; try again when it is done"
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or getattr(problem, "errno", 0) == ENOSPC:
        return f"the journal {name} can't be written: the disk is full, or fails; make room and resume the run"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM) or isinstance(problem, OSError):
        return f"the journal {name} or its folder can't be opened or written to; look at its permissions"
    return f"the journal {name} is damaged; read what is left of it with sqlite3's .recover, or take a copy of it"


def _connect(path: Path, how: str) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()), safe="")  # whatever a file may be called
    return sqlite3.connect(f"file:{name}?{how}", PATIENCE, isolation_level=None, uri=True)


def _must_be_sqlite(path: Path) -> None:
    if not path.exists():
        return
    if not path.is_file():
        raise JournalError(f"{path.name} is no file; give the journal a name of its own")
    with path.open("rb") as file:
        head = file.read(16)
    if head not in (b"", b"SQLite format 3\0"):
        raise JournalError(f"{path.name} is no journal: it is no SQLite file, and stays as it is; give another name")
    wal = Path(f"{path}-wal")
    if not head and wal.exists() and wal.stat().st_size:  # SQLite would throw away what is left in there
        raise JournalError(
            f"the journal {path.name} is damaged: it is empty, and {wal.name} is not; take a copy of both"
        )


def _is_empty(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,))


def _ours(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """The connection, where the file is a journal that can be read here."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    version = version_of(connection)
    if application != APPLICATION:
        wrong = "is no journal: it is a database of something else, and stays as it is; give another name"
    elif version not in range(1, VERSION + 1):
        wrong = f"was written by a newer version of the kit (schema {version}; this one reads up to {VERSION})"
    else:
        return connection
    connection.close()
    raise JournalError(f"{path.name} {wrong}")


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the schema that the file has; 0 where it has none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _complete(connection: sqlite3.Connection) -> None:
    """Write what an empty file, or one of an older version, lacks of the schema; two processes may be about it at once."""
    with transaction(connection):
        version = version_of(connection)
        if version == 0 and not _is_empty(connection):
            return
        for statement in "".join(SCHEMAS[version:]).split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
