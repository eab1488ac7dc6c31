"""The kit's SQLite files, such as journals: how to open one, its schema, its leases, and SQLite's errors in plain words.

Opening and closing a database file makes a process lose SQLite's record locks on it. So the kit leaves that to SQLite: other code
reads only the file's name, size and number. But a user's tool might copy the file during a run. Two rules keep every committed
write even then:

- Every use of the file, reading included, holds the lock on the file "-lock". An open connection is idle between two uses.
- A process that keeps the file open has a lease: a locked file in the folder "-leases". Meanwhile no other connection removes
  "-wal".

Other code of the process, such as a tool, can close the files by their handles. SQLite would then write into the next files that
get the same handles. So each use of a connection first checks its handles. A connection that has lost one is never used or closed.

A process that dies loses its leases at once, also after a kill. No clock is involved: a stopped process and a sleeping laptop keep
their leases, and a clock that jumps changes nothing. A forked copy of a process has no lease.
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
from typing import Any, Literal
from urllib.parse import quote
from weakref import WeakSet

from planexec_lite.storage.file_lock import FileLock, is_locked
from planexec_lite.tools.handles import FileNumber, keep, number_of

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
        with (
            self._in_words(path),
            _alone(_real(path), make=False),
            closing(self._to_read(path)) as connection,
        ):
            self._check(connection, path)
            yield connection

    @contextmanager
    def writing(
        self, path: Path, synchronous: Synchronous = "FULL"
    ) -> Iterator[sqlite3.Connection]:
        """Give a connection for one transaction. A missing file is created.

        Raises `error` if the file is foreign or damaged, or can't be written.
        """
        self._check_place(path)
        with self._in_words(path), _alone(_real(path)):
            connection = self._to_write(path, synchronous)
            try:
                with self._all_or_nothing(connection):
                    yield connection
            finally:
                connection.close_carefully()

    @contextmanager
    def lease(
        self, path: Path, user: str, refusal: Callable[[], str], synchronous: Synchronous = "FULL"
    ) -> Iterator[Connection]:
        """Give a connection for many transactions, and hold the lease called `user` meanwhile. A missing file is created.

        Raises `error(refusal())` if this process or another one holds that lease, and otherwise `error` as `writing` does.
        """
        self._check_place(path)
        lock, connection = FileLock(leases_of(path) / user), None
        try:
            with self._in_words(path), _alone(_real(path)):
                leases_of(path).mkdir(mode=0o700, exist_ok=True)
                if lock.take():
                    connection = self._to_write(path, synchronous)
                    if lock.handle is not None:
                        connection.handles[lock.handle] = lock.number
            if connection is None:
                raise self.error(refusal())
            yield connection
        finally:
            try:
                _give_back(path, lock, connection)
            except BaseException:  # it was interrupted
                _give_back(path, lock, connection)
                raise

    @contextmanager
    def transaction(self, connection: Connection) -> Iterator[None]:
        """Commit all changes together, or none. Raises `error` if the files were deleted or replaced."""
        with self.using(connection), self._all_or_nothing(connection):
            yield

    @contextmanager
    def using(self, connection: Connection) -> Iterator[None]:
        """Hold the lock of the file to read from a connection of `lease`."""
        if connection.owner != os.getpid():
            raise self.error(
                f"the {self.kind} {connection.path.name} was opened by process {connection.owner}, and not by its copy "
                f"{os.getpid()}: a tool that forks must end the copy with os._exit"
            )
        with self._in_words(connection.path), _alone(connection.file):
            self._check_files(connection)
            yield

    @contextmanager
    def _all_or_nothing(self, connection: Connection) -> Iterator[None]:
        """The transaction itself; the caller holds the lock. Other processes can't read files that were deleted or replaced."""
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield
            self._check_files(connection)
            connection.execute("COMMIT")
            self._check_files(connection)
        except BaseException:
            if connection.in_transaction and not connection.is_cut_off():
                connection.execute("ROLLBACK")
            raise

    def _check_files(self, connection: Connection) -> None:
        if connection.is_cut_off():
            raise self.error(self._closed(connection.path))
        if lost := connection.lost():
            name = os.path.basename(lost)
            raise self.error(
                f"{name} was deleted or replaced while the {self.kind} {connection.path.name} was open, so the write is refused; "
                f"find out which program did that, then {self.then}"
            )

    def _closed(self, path: Path) -> str:
        return (
            f"other code of this process, perhaps a tool, closed the files of the {self.kind} {path.name}, so this process can't "
            f"use it any more; start a new process, and {self.then} there"
        )

    def _check_place(self, path: Path) -> None:
        """Raise `error` if the folder is missing or the file is foreign, before a lock file is created for it."""
        if not os.path.isdir(path.parent):
            raise self.error(
                f"there is no folder for the {self.kind} {path.name}; create it first"
            )
        if os.path.exists(path) and not os.path.exists(_beside(path, "-lock")):
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
            if _beside(path, "-wal").exists():
                raise
            # readers share "-shm", which can't be created in a read-only folder
            connection = _connect(path, "mode=ro&immutable=1")
        if _is_empty(
            connection
        ):  # the process that created the file was killed before it wrote the schema
            connection.close()
            connection = sqlite3.connect(":memory:", isolation_level=None)
            self._create(connection)
        return connection

    def _to_write(self, path: Path, synchronous: Synchronous) -> Connection:
        if any(one.file == _real(path) and one.owner != os.getpid() for one in _open):
            # SQLite would treat the locks of the original process as its own
            raise self.error(
                f"the {self.kind} {path.name} was open when this process was forked, so it can't be written here: give the pool "
                'of processes mp_context=get_context("spawn")'
            )
        self._check_size(path)
        with suppress(
            FileExistsError
        ):  # only its owner can read it; "-wal" and "-shm" get the same mode
            os.close(os.open(_real(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        before = _handles()
        connection = _connect(path, "mode=rw", Connection)
        assert isinstance(connection, Connection)
        connection.path, connection.file = path, _real(path)
        try:
            if _is_empty(connection):
                self._create(connection)
            self._check(connection, path)
            _to_wal(connection)
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            _is_empty(connection)  # the first read of a new file creates "-wal" and "-shm"
            names = [connection.file + ending for ending in ("", "-wal", "-shm")]
            connection.files = {name: number_of(name) for name in names}
            opened = _handles().items() - before.items()
            connection.handles = {
                handle: number for handle, number in opened if number in connection.files.values()
            }
            _open.add(connection)
        except BaseException:
            connection.close_carefully()
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
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or isinstance(
            problem, TimeoutError
        ):
            return f"another program has locked the {kind} {name} for {PATIENCE:g} s; try again when it has finished"
        if (
            code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
            or getattr(problem, "errno", 0) == ENOSPC
        ):
            return f"the {kind} {name} can't be written: the disk is full, or fails; free some space and {self.then}"
        no_way = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
        if code in no_way or isinstance(problem, OSError):
            return f"the {kind} {name} or its folder can't be opened or written to; check its permissions"
        if code == sqlite3.SQLITE_NOTADB:
            return f"{name} is not a {kind}: {FOREIGN}"
        return f"the {kind} {name} is damaged; recover the rest of it with sqlite3's .recover, or restore a copy"

    def _check_size(self, path: Path) -> None:
        """Raise `error` for a folder, for a file with two names, and for one so short that SQLite might take it for a new one."""
        wal = _beside(path, "-wal")
        rest = (
            wal.exists() and wal.stat().st_size
        )  # looked up first: a new file gets its schema before its "-wal"
        if not path.exists():
            return
        if not path.is_file():
            raise self.error(
                f"{path.name or path} is not a file; choose another name for the {self.kind}"
            )
        if _real(path) in _cut_off:
            raise self.error(self._closed(path))
        if path.stat().st_nlink > 1:  # SQLite would write another "-wal" for each name
            raise self.error(
                f"the {self.kind} {path.name} has a second name (a hard link), and a write under one name would be lost under the "
                "other; remove one of them, or make a copy instead"
            )
        size = path.stat().st_size
        if size < SHORTEST and rest:  # SQLite would delete the "-wal"
            state = "truncated" if size else "empty"
            raise self.error(
                f"the {self.kind} {path.name} is damaged: it is {state}, and {wal.name} is not; make a copy of both files"
            )
        if 0 < size < SHORTEST:
            raise self.error(f"{path.name} is not a {self.kind}: {FOREIGN}")

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

    def _create(self, connection: sqlite3.Connection) -> None:
        """Create the tables: all, or none if the process is killed."""
        head = f"PRAGMA application_id = {self.application}; PRAGMA user_version = {VERSION};"
        connection.executescript(f"BEGIN IMMEDIATE; {self.schema} {head} COMMIT")


class Connection(sqlite3.Connection):
    """A connection that writes.

    Attributes:
        path: the file.
        file: its name without links.
        files: device and number of each opened file, by name.
        handles: the same by the handle of the opened file, if the system lists handles.
        is_kept: see `is_cut_off`.
        owner: the id of the process that opened it.
    """

    path: Path
    file: str
    is_kept: bool = False

    def __init__(self, *args: Any, **options: Any) -> None:
        self.files: dict[str, FileNumber] = {}
        self.handles: dict[int, FileNumber] = {}
        self.owner = os.getpid()
        super().__init__(*args, **options)  # last: an interrupt after it would leave the file open

    def lost(self) -> str | None:
        """Return an opened file that was deleted or replaced since."""
        return next(
            (name for name, number in self.files.items() if number_of(name) != number), None
        )

    def is_cut_off(self) -> bool:
        """Whether other code has closed one of the handles. Then this connection stays in memory after the end of Python:
        closing it would write into the files that have its handles now.
        """
        cut_off = any(number_of(handle) != number for handle, number in self.handles.items())
        if cut_off and not self.is_kept:
            keep(self)
            self.is_kept = True
            _cut_off.add(self.file)
        return cut_off

    def close(self) -> None:
        """Close the connection, unless it is cut off. An interrupted call can be repeated."""
        if not self.is_cut_off():
            self.handles = {}
            super().close()

    def close_carefully(self, user: str = "") -> None:
        """Close the connection. The caller holds the lock.

        SQLite's last connection copies "-wal" into the database and removes it. That would be wrong while another process keeps
        the file open, in a forked copy of the process, and if the files were replaced. Then a second connection, which can only
        read, is open meanwhile, so that this one is not the last.
        """
        _open.discard(self)
        if self.is_cut_off():
            return
        if self.owner != os.getpid() or self.lost() or _is_in_use(self.path, besides=user):
            with suppress(sqlite3.Error), closing(_connect(self.path, "mode=ro")) as other:
                _is_empty(other)
                self.close()
        self.close()


_open: WeakSet[Connection] = WeakSet()
_cut_off: set[str] = set()  # the files whose handles other code of this process has closed


def _give_back(path: Path, lock: FileLock, connection: Connection | None) -> None:
    """End a lease and close its connection. An interrupted call can be repeated."""
    if connection is not None and lock.handle is not None:
        connection.handles.pop(
            lock.handle, None
        )  # an interrupt can come between the release of the lock and the close
    try:
        with suppress(OSError), _alone(_real(path)):
            if connection is not None:
                connection.close_carefully(os.path.basename(lock.path))
            if lock.held:
                lock.release()
                os.unlink(lock.path)
            leases_of(path).rmdir()  # fails if there are other leases
    finally:
        lock.release()
        if connection is not None:
            connection.close()


@contextmanager
def _alone(file: str, *, make: bool = True) -> Iterator[None]:
    """Hold the lock of `file`, a name without links. Raises `TimeoutError` if another process or thread keeps it too long.

    `make`: create a missing lock file. If False, no lock is needed if the lock file is missing or can't be opened.
    """
    lock = FileLock(f"{file}-lock")
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


def _is_in_use(path: Path, besides: str) -> bool:
    """Whether there is a lease other than `besides`."""
    try:
        leases = [*leases_of(path).iterdir()]
    except FileNotFoundError:
        return False
    return any(lease.name != besides and is_locked(lease) for lease in leases)


def _real(path: Path) -> str:
    """Return the name of the file that links lead to. SQLite derives the name of "-wal" from it."""
    return os.path.realpath(path)


def _beside(path: Path, ending: str) -> Path:
    return Path(_real(path) + ending)


def leases_of(path: Path) -> Path:
    return _beside(path, "-leases")


def _handles() -> dict[int, FileNumber]:
    """Return the files that this process has open, by handle, if the system lists them."""
    try:
        listed = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return {}
    return {
        handle: number for handle in listed if (number := number_of(handle))
    }  # the list's own handle is closed


def _connect(
    path: Path, how: str, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()), safe="")  # a file name can contain any character
    return sqlite3.connect(
        f"file:{name}?{how}",
        PATIENCE,
        isolation_level=None,
        uri=True,
        factory=factory,
        check_same_thread=False,
    )


def _to_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log. SQLite refuses at once while another process writes a new file, so this waits."""
    until = monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(0.01)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,))
