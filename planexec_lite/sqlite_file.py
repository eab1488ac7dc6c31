"""An SQLite file of the kit's own: how it is opened, the versions of its schema, and what SQLite's errors mean in words.

What it is a file of, such as a journal, says the schema; everything else is the same for all of them: who may share it, how a
foreign, damaged or locked one is told from a good one, and that what was committed stays as it is.

SQLite's record locks on a file are lost when the same process opens and closes that file elsewhere. So only SQLite opens it
here: the rest of the kit looks at its name, size and number alone. A user's tool may still copy the file while a run goes on.
Two rules keep what was committed even then. Whoever uses the file, to read too, holds the lock on a file beside it ("-lock");
a connection that is kept open is idle between two uses. And while a process keeps one, with a locked file in the folder
"-leases", no other connection is taken for SQLite's last one, which would remove the file "-wal".
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal
from urllib.parse import quote

from planexec_lite.file_lock import FileLock, is_locked

PATIENCE = 10.0  # seconds to wait for another process that writes
SHORTEST = 512  # bytes of an SQLite file that is not empty
FOREIGN = "it is no SQLite file, and stays as it is; give another name"
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

    @contextmanager
    def reading(self, path: Path) -> Iterator[sqlite3.Connection]:
        """A connection that changes nothing. Raises `error` where the file is missing, foreign or damaged."""
        with self.in_words(path), alone(real(path), make=False), closing(self._to_read(path)) as connection:
            self._check(connection, path)
            yield connection

    @contextmanager
    def writing(self, path: Path, synchronous: Synchronous = "FULL") -> Iterator[WritingConnection]:
        """A connection for one transaction. The file is made where there is none, and brought up to date where it is older.

        Raises `error` as `reading` does.
        """
        self.check_place(path)
        with self.in_words(path), alone(real(path)):
            connection = self._to_write(path, synchronous)
            try:
                with _all_or_nothing(connection, connection.check_files):
                    yield connection
            finally:
                connection.close_alone()

    def to_write(self, path: Path, synchronous: Synchronous, user: str) -> WritingConnection:
        """A connection for many transactions, while the file `user` in the folder of users is locked; else as `writing`."""
        self.check_place(path)
        with self.in_words(path), alone(real(path)):
            connection = self._to_write(path, synchronous)
            connection.user = user
            return connection

    def check_place(self, path: Path) -> None:
        """Raise `error` where the file can't be written, before anything is made beside it."""
        with self.in_words(path):
            if not path.parent.is_dir():
                raise self.error(f"there is no folder for the {self.kind} {path.name}; make it first")
            unknown = path.exists() and not os.path.exists(_lock_of(real(path)))
        if unknown:
            with self.reading(path):
                pass

    def _to_read(self, path: Path) -> sqlite3.Connection:
        if not path.exists():
            raise self.error(f"there is no {self.kind} {path.name}; {self.made}")
        self._check_size(path)
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
        return connection

    def _to_write(self, path: Path, synchronous: Synchronous) -> WritingConnection:
        self._check_size(path)
        _make(path)
        address, factory = _address(path, "mode=rw"), WritingConnection
        connection = sqlite3.connect(address, PATIENCE, isolation_level=None, uri=True, factory=factory)
        connection.file = real(path)
        try:
            if _is_empty(connection):
                self._complete(connection)
            self._check(connection, path)
            if version_of(connection) < len(self.schemas):
                self._complete(connection)
            _to_wal(connection)
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            version_of(connection)  # where the file is new, the first look at it makes those beside it
            connection.files = _files(connection.file)
        except BaseException:
            connection.close_alone()
            raise
        return connection

    @contextmanager
    def in_words(self, path: Path) -> Iterator[None]:
        """What SQLite can't do is raised as `error`, with what to do about it."""
        try:
            yield
        except ReplacedError as problem:
            words = (
                f"{problem} was deleted or replaced while the {self.kind} {path.name} was open; the write is refused"
            )
            raise self.error(f"{words}: find out which program did that, then {self.then}") from problem
        except (sqlite3.Error, OSError, UnicodeError) as problem:
            words = f"{self._meaning(path.name, problem)} ({problem}); what was committed stays as it is"
            raise self.error(words) from problem

    def _meaning(self, name: str, problem: Exception) -> str:
        code, kind = getattr(problem, "sqlite_errorcode", 0) & 0xFF, self.kind
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or isinstance(problem, TimeoutError):
            return f"another program has kept the {kind} {name} locked for {PATIENCE:g} s; try again when it is done"
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or getattr(problem, "errno", 0) == ENOSPC:
            return f"the {kind} {name} can't be written: the disk is full, or fails; make room and {self.then}"
        no_way = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
        if code in no_way or isinstance(problem, OSError):
            return f"the {kind} {name} or its folder can't be opened or written to; look at its permissions"
        if code == sqlite3.SQLITE_NOTADB:
            return f"{name} is no {kind}: {FOREIGN}"
        return f"the {kind} {name} is damaged; read what is left of it with sqlite3's .recover, or take a copy of it"

    def _check_size(self, path: Path) -> None:
        """Raise `error` for a folder, and for a file so short that SQLite would take it for a new one."""
        wal = Path(f"{path}-wal")
        rest = wal.exists() and wal.stat().st_size  # first: a new file is filled before the other one is
        if not path.exists():
            return
        if not path.is_file():
            raise self.error(f"{path.name} is no file; give the {self.kind} a name of its own")
        size = path.stat().st_size
        if size < SHORTEST and rest:  # SQLite would throw away what is left in there
            left = "cut off" if size else "empty"
            raise self.error(
                f"the {self.kind} {path.name} is damaged: it is {left}, and {wal.name} is not; take a copy of both"
            )
        if 0 < size < SHORTEST:
            raise self.error(f"{path.name} is no {self.kind}: {FOREIGN}")

    def _check(self, connection: sqlite3.Connection, path: Path) -> None:
        """Raise `error` where the file is none of this kind that can be read here."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        version, newest = version_of(connection), len(self.schemas)
        if application != self.application:
            wrong = f"is no {self.kind}: it is a database of something else, and stays as it is; give another name"
        elif version not in range(1, newest + 1):
            wrong = f"was written by a newer version of the kit (schema {version}; this one reads up to {newest})"
        else:
            return
        raise self.error(f"{path.name} {wrong}")

    def _complete(self, connection: sqlite3.Connection) -> None:
        """Write what an empty file, or one of an older version, lacks of the schema; two processes may be about it at once."""
        with _all_or_nothing(connection):
            version = version_of(connection)
            if version == 0 and not _is_empty(connection):
                return
            for statement in "".join(self.schemas[version:]).split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self.application}")
            connection.execute(f"PRAGMA user_version = {len(self.schemas)}")


class ReplacedError(OSError):
    """One of the files that SQLite writes to is not the one that it opened any more."""


class WritingConnection(sqlite3.Connection):
    """A connection that writes, and knows which files it has opened.

    Attributes:
        file: its file, as `real` names it.
        files: what tells the opened files from others; see `_files`.
        user: the name of the locked file that says that this connection is kept open.
        owner: the process that has opened it.
    """

    file: str
    files: Mapping[str, tuple[int, int] | None] = {}
    user: str = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.owner = os.getpid()

    def check_files(self) -> None:
        """Raise `ReplacedError` where one of the files is gone, or another file has its name: nobody reads these any more."""
        if (there := _files(self.file)) != self.files:
            lost = next(name for name, number in there.items() if number != self.files[name])
            raise ReplacedError(os.path.basename(lost))

    def close(self) -> None:
        """Close it, while nobody else uses the file."""
        try:
            with suppress(OSError), alone(self.file):
                self.close_alone()
        finally:
            super().close()

    def close_alone(self) -> None:
        """Close it. As the last connection, SQLite writes "-wal" back into the file and removes it.

        It must not do so while another one is kept open, nor in a forked copy of the process, nor with files that others have
        made. A connection that only reads keeps it from that.
        """
        mine = self.user if self.owner == os.getpid() else ""
        if self.files == _files(self.file) and not _is_in_use(self.file, besides=mine):
            super().close()
        else:
            with suppress(sqlite3.Error), closing(_connect(Path(self.file), "mode=ro")) as other:
                other.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                super().close()
            super().close()


@contextmanager
def transaction(connection: WritingConnection) -> Iterator[None]:
    """All of it or nothing is written, and nobody else uses the file meanwhile."""
    with alone(connection.file), _all_or_nothing(connection, connection.check_files):
        yield


@contextmanager
def _all_or_nothing(connection: sqlite3.Connection, check: Callable[[], None] = lambda: None) -> Iterator[None]:
    """`check` is called before the commit and after it."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        check()
        connection.execute("COMMIT")
        check()
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def alone(file: str, make: bool = True) -> Iterator[None]:
    """Let no other part of the kit use the file meanwhile. Raises `TimeoutError` where another one does not end.

    Args:
        file: as `real` names it.
        make: make the lock file where it is missing; else nobody is waited for where this user has none to open.
    """
    lock = FileLock(_lock_of(file), make)
    until = monotonic() + PATIENCE
    try:
        while not lock.take():
            if monotonic() > until:
                raise TimeoutError(f"{os.path.basename(lock.path)} is locked")
            sleep(0.001)
        yield
    finally:
        lock.release()


def real(path: Path) -> str:
    """The file itself, whatever links lead to it: SQLite names those beside it after this one."""
    return os.path.realpath(path)


def _lock_of(file: str) -> str:
    return f"{file}-lock"


def users_of(path: Path) -> Path:
    """The folder in which a process that keeps the file open has a locked file."""
    return _users_of(real(path))


def _users_of(file: str) -> Path:
    return Path(f"{file}-leases")


def _is_in_use(file: str, besides: str) -> bool:
    """Whether a process keeps the file open, `besides` that user."""
    try:
        users = os.listdir(_users_of(file))
    except FileNotFoundError:
        return False
    return any(user != besides and is_locked(_users_of(file) / user) for user in users)


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


def _make(path: Path) -> None:
    """Make a file that only its owner can read; SQLite makes those beside it alike.

    A file that is there is not opened; no connection can have a lock on a new one.
    """
    with suppress(FileExistsError):
        os.close(os.open(real(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _files(file: str) -> dict[str, tuple[int, int] | None]:
    """What tells the files of a database from others of the same names, by name."""
    return {name: _number(name) for name in (file, f"{file}-wal", f"{file}-shm")}


def _number(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _connect(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(_address(path, how), PATIENCE, isolation_level=None, uri=True)


def _address(path: Path, how: str) -> str:
    name = quote(os.fsencode(path.absolute()), safe="")  # whatever a file may be called
    return f"file:{name}?{how}"


def _is_empty(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,))
