"""An SQLite file of the kit's own: how it is opened, the versions of its schema, and what SQLite's errors mean in words.

What it is a file of, such as a journal, says the schema; everything else is the same for all of them: who may share it, how a
foreign, damaged or locked one is told from a good one, and that what was committed stays as it is.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from time import monotonic, sleep
from typing import Literal
from urllib.parse import quote

PATIENCE = 10.0  # seconds to wait for another process that writes
Synchronous = Literal["FULL", "NORMAL", "OFF"]


@dataclass(frozen=True, slots=True)
class SQLiteFile:
    """One kind of file.

    Args:
        kind: what such a file is called in errors, such as "journal".
        application: a number in the head of the file: it is one of this kind.
        schemas: SQL, what each version of the schema brought; statements end with a line.
        error: what is raised, in words, for whatever SQLite or the system can't do.
        made: when a file is made, for whoever looks for one that is not there.
        then: what to do when there is room on the disk again.
    """

    kind: str
    application: int
    schemas: tuple[str, ...]
    error: type[Exception]
    made: str
    then: str

    def to_read(self, path: Path) -> sqlite3.Connection:
        """A connection that changes nothing. Raises `error` where the file is missing, foreign or damaged."""
        with self.in_words(path):
            if not path.exists():
                raise self.error(f"there is no {self.kind} {path.name}; {self.made}")
            self._must_be_sqlite(path)
            connection = _connect(path, "mode=ro")
            try:
                connection.execute("PRAGMA schema_version").fetchone()
            except sqlite3.OperationalError:
                connection.close()
                if Path(f"{path}-wal").exists():
                    raise
                # a folder that can't be written to has no room for the file that readers share
                connection = _connect(path, "mode=ro&immutable=1")
            if _is_empty(connection):  # whoever was to make it was killed before: nothing is in it
                connection.close()
                connection = sqlite3.connect(":memory:", isolation_level=None)
                self._complete(connection)
            return self._ours(connection, path)

    def to_write(self, path: Path, synchronous: Synchronous = "FULL") -> sqlite3.Connection:
        """A connection that writes; the file is made where there is none, and brought up to date where it is an older one.

        Raises `error` as `to_read` does.
        """
        with self.in_words(path):
            if not path.parent.is_dir():
                raise self.error(f"there is no folder for the {self.kind} {path.name}; make it first")
            self._must_be_sqlite(path)
            connection = _connect(path, "mode=rwc")
            try:
                if _is_empty(connection):
                    self._complete(connection)
                self._ours(connection, path)
                if version_of(connection) < len(self.schemas):
                    self._complete(connection)
                _to_wal(connection)
                connection.execute(f"PRAGMA synchronous = {synchronous}")
            except BaseException:
                connection.close()
                raise
            return connection

    @contextmanager
    def in_words(self, path: Path) -> Iterator[None]:
        """What SQLite can't do is raised as `error`, with what to do about it."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as problem:
            words = f"{self._meaning(path.name, problem)} ({problem}); what was committed stays as it is"
            raise self.error(words) from problem

    def _meaning(self, name: str, problem: Exception) -> str:
        code, kind = getattr(problem, "sqlite_errorcode", 0) & 0xFF, self.kind
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return f"another program has kept the {kind} {name} locked for {PATIENCE:g} s; try again when it is done"
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or getattr(problem, "errno", 0) == ENOSPC:
            return f"the {kind} {name} can't be written: the disk is full, or fails; make room and {self.then}"
        no_way = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
        if code in no_way or isinstance(problem, OSError):
            return f"the {kind} {name} or its folder can't be opened or written to; look at its permissions"
        return f"the {kind} {name} is damaged; read what is left of it with sqlite3's .recover, or take a copy of it"

    def _must_be_sqlite(self, path: Path) -> None:
        if not path.exists():
            return
        if not path.is_file():
            raise self.error(f"{path.name} is no file; give the {self.kind} a name of its own")
        with path.open("rb") as file:
            head = file.read(16)
        if head not in (b"", b"SQLite format 3\0"):
            raise self.error(
                f"{path.name} is no {self.kind}: it is no SQLite file, and stays as it is; give another name"
            )
        wal = Path(f"{path}-wal")
        if not head and wal.exists() and wal.stat().st_size:  # SQLite would throw away what is left in there
            raise self.error(
                f"the {self.kind} {path.name} is damaged: it is empty, and {wal.name} is not; take a copy of both"
            )

    def _ours(self, connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
        """The connection, where the file is one of this kind that can be read here."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        version, newest = version_of(connection), len(self.schemas)
        if application != self.application:
            wrong = f"is no {self.kind}: it is a database of something else, and stays as it is; give another name"
        elif version not in range(1, newest + 1):
            wrong = f"was written by a newer version of the kit (schema {version}; this one reads up to {newest})"
        else:
            return connection
        connection.close()
        raise self.error(f"{path.name} {wrong}")

    def _complete(self, connection: sqlite3.Connection) -> None:
        """Write what an empty file, or one of an older version, lacks of the schema; two processes may be about it at once."""
        with transaction(connection):
            version = version_of(connection)
            if version == 0 and not _is_empty(connection):
                return
            for statement in "".join(self.schemas[version:]).split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self.application}")
            connection.execute(f"PRAGMA user_version = {len(self.schemas)}")


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


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the schema that the file has; 0 where it has none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _to_wal(connection: sqlite3.Connection) -> None:
    """Where several open a new file at once, SQLite refuses this without waiting, so it is waited for here."""
    until = monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(0.01)


def _connect(path: Path, how: str) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()), safe="")  # whatever a file may be called
    return sqlite3.connect(f"file:{name}?{how}", PATIENCE, isolation_level=None, uri=True)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,))
