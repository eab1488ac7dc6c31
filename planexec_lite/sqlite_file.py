"""The kit's SQLite files, such as journals: how to open one, its schema, and SQLite's errors in plain words.

Opening and closing a database file makes a process lose SQLite's record locks on it. So the kit leaves that to SQLite: other code
reads only the file's name, size and number. But a user's tool might copy the file during a run. Two rules keep every committed
write even then:

- Every use of the file, reading included, holds the lock on the file "-lock". An open connection is idle between two uses.
- A process that keeps the file open locks a file in the folder "-leases". Meanwhile no other connection removes "-wal".
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
from weakref import WeakSet

from planexec_lite.file_lock import FileLock, is_locked

PATIENCE = 30.0  # seconds to wait for another process that writes; a busy disk can stall for ten
VERSION = 1  # of the schemas
SHORTEST = 512  # bytes of an SQLite file that is not empty
FOREIGN = "it is no SQLite file, and stays as it is; give another name"
Synchronous = Literal["FULL", "NORMAL", "OFF"]


@dataclass(frozen=True, slots=True)
class SQLiteFile:
    """One kind of file.

    Args:
        kind: the name of this kind in errors, such as "journal".
        application: the number in the head of each file of this kind.
        schema: SQL that creates the tables; statements end with a line.
        error: the class of the errors raised here.
        made: when a file is made; part of the error about a missing file.
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
        with self.in_words(path), alone(real(path), make=False), closing(self._to_read(path)) as connection:
            self._check(connection, path)
            yield connection

    @contextmanager
    def writing(self, path: Path, synchronous: Synchronous = "FULL") -> Iterator[WritingConnection]:
        """Give a connection for one transaction. A missing file is created.

        Raises `error` if the file is foreign or damaged, or can't be written.
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
        """Return a connection for many transactions. The caller has locked the file `user` in the folder `users_of(path)`.

        Raises `error` as `writing` does.
        """
        self.check_place(path)
        with self.in_words(path), alone(real(path)):
            connection = self._to_write(path, synchronous)
            connection.user = user
            return connection

    def check_place(self, path: Path) -> None:
        """Raise `error` if the folder is missing or the file is foreign, before a lock file is created for it."""
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
            # readers share "-shm", which can't be created in a read-only folder
            connection = _connect(path, "mode=ro&immutable=1")
        if _is_empty(connection):  # the process that created the file was killed before it wrote the schema
            connection.close()
            connection = sqlite3.connect(":memory:", isolation_level=None)
            self._create(connection)
        return connection

    def _to_write(self, path: Path, synchronous: Synchronous) -> WritingConnection:
        if real(path) in _inherited:
            raise self.error(
                f"the {self.kind} {path.name} was open when this process was forked, so it can't be written here: give the pool "
                'of processes mp_context=get_context("spawn")'
            )
        self._check_size(path)
        _make(path)
        connection = _connect(path, "mode=rw", WritingConnection)
        assert isinstance(connection, WritingConnection)
        connection.file = real(path)
        try:
            if _is_empty(connection):
                self._create(connection)
            self._check(connection, path)
            _to_wal(connection)
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            _version_of(connection)  # the first read of a new file creates "-wal" and "-shm"
            connection.files = _files(connection.file)
            _open.add(connection)
        except BaseException:
            connection.close_alone()
            raise
        return connection

    @contextmanager
    def in_words(self, path: Path) -> Iterator[None]:
        """Raise errors of SQLite and the system as `error`, with what to do about them."""
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
        """Raise `error` for a folder, and for a file so short that SQLite might treat it as a new one."""
        wal = Path(f"{path}-wal")
        rest = wal.exists() and wal.stat().st_size  # looked up first: a new file gets its schema before its "-wal"
        if not path.exists():
            return
        if not path.is_file():
            raise self.error(f"{path.name} is no file; give the {self.kind} a name of its own")
        size = path.stat().st_size
        if size < SHORTEST and rest:  # SQLite would delete the "-wal"
            left = "cut off" if size else "empty"
            raise self.error(
                f"the {self.kind} {path.name} is damaged: it is {left}, and {wal.name} is not; take a copy of both"
            )
        if 0 < size < SHORTEST:
            raise self.error(f"{path.name} is no {self.kind}: {FOREIGN}")

    def _check(self, connection: sqlite3.Connection, path: Path) -> None:
        """Raise `error` if the file is of another kind, or of another version of the kit."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        version = _version_of(connection)
        if application != self.application:
            wrong = f"is no {self.kind}: it is a database of something else, and stays as it is; give another name"
        elif version != VERSION:
            wrong = f"was written by another version of the kit (schema {version}; this one reads {VERSION})"
        else:
            return
        raise self.error(f"{path.name} {wrong}")

    def _create(self, connection: sqlite3.Connection) -> None:
        """Create the tables. Another process might do the same at the same time."""
        with _all_or_nothing(connection):
            if not _is_empty(connection):
                return
            for statement in self.schema.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self.application}")
            connection.execute(f"PRAGMA user_version = {VERSION}")


_open: WeakSet[Any] = WeakSet()
_inherited: set[str] = set()  # SQLite would take the locks of the process that this one was forked off for its own


def _forked() -> None:
    _inherited.update(one.file for one in _open)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class ReplacedError(OSError):
    """Another file, or none, has the name of a file that SQLite has open."""


class WritingConnection(sqlite3.Connection):
    """A connection that writes, and remembers which files it has opened.

    Attributes:
        file: the name of the database, as `real` gives it.
        files: device and number of each opened file; see `_files`.
        user: the name of the file that its process has locked to keep this connection open.
        owner: the id of the process that opened it.
    """

    file: str
    files: Mapping[str, tuple[int, int] | None] = {}
    user: str = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.owner = os.getpid()

    def check_files(self) -> None:
        """Raise `ReplacedError` if an opened file was deleted or replaced: other processes can't read it any more."""
        if (there := _files(self.file)) != self.files:
            lost = next(name for name, number in there.items() if number != self.files[name])
            raise ReplacedError(os.path.basename(lost))

    def close(self) -> None:
        """Close the connection under the lock."""
        try:
            with suppress(OSError), alone(self.file):
                self.close_alone()
        finally:
            super().close()

    def close_alone(self) -> None:
        """Close the connection. The caller holds the lock.

        SQLite's last connection copies "-wal" into the database and removes it. That would be wrong while another process keeps
        the file open, in a forked copy of the process, and if the files were replaced. Then a second connection, which can only
        read, is open meanwhile, so that this one is not the last.
        """
        mine = self.user if self.owner == os.getpid() else ""
        _open.discard(self)
        if self.files == _files(self.file) and not _is_in_use(self.file, besides=mine):
            super().close()
        else:
            with suppress(sqlite3.Error), closing(_connect(Path(self.file), "mode=ro")) as other:
                other.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                super().close()
            super().close()


@contextmanager
def transaction(connection: WritingConnection) -> Iterator[None]:
    """Commit all changes together under the lock. Raises `ReplacedError` if the files were deleted or replaced."""
    with alone(connection.file), _all_or_nothing(connection, connection.check_files):
        yield


@contextmanager
def _all_or_nothing(connection: sqlite3.Connection, check: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Commit all changes together, or roll back; call `check` before the commit and after it."""
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
    """Hold the lock of a file. Raises `TimeoutError` if another process or thread keeps it too long.

    Args:
        file: the name of the database, as `real` gives it.
        make: create a missing lock file. If False, a lock file that is missing or can't be opened counts as locked.
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
    """Return the name of the file that links lead to. SQLite derives the name of "-wal" from it."""
    return os.path.realpath(path)


def _lock_of(file: str) -> str:
    return f"{file}-lock"


def users_of(path: Path) -> Path:
    """Return the folder with a locked file for each connection that is kept open."""
    return Path(f"{real(path)}-leases")


def _is_in_use(file: str, besides: str) -> bool:
    """Whether another connection than that of `besides` is kept open."""
    try:
        users = [*users_of(Path(file)).iterdir()]
    except FileNotFoundError:
        return False
    return any(user.name != besides and is_locked(user) for user in users)


def _version_of(connection: sqlite3.Connection) -> int:
    """The version of the schema that the file has; 0 if it has none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _to_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log. If another process uses a new file, SQLite refuses at once, so this waits."""
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
    """Create a missing file that only its owner can read. SQLite creates "-wal" and "-shm" with the same mode.

    An existing file is not opened, and no connection has a lock on a new one.
    """
    with suppress(FileExistsError):
        os.close(os.open(real(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _files(file: str) -> dict[str, tuple[int, int] | None]:
    """Return device and number of the database, "-wal" and "-shm", by name; None for a missing file."""
    return {name: _number(name) for name in (file, f"{file}-wal", f"{file}-shm")}


def _number(name: str) -> tuple[int, int] | None:
    try:
        status = os.stat(name)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _connect(path: Path, how: str, factory: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()), safe="")  # a file name can contain any character
    return sqlite3.connect(f"file:{name}?{how}", PATIENCE, isolation_level=None, uri=True, factory=factory)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,))
