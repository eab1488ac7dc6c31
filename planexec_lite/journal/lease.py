"""The lease: who carries on a run. The operating system takes it from a process that dies, however it dies."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from planexec_lite.journal.database import JournalError


def _locks() -> tuple[Callable[[Any, int], None], Callable[[Any, int], None]] | None:
    """How one byte of a file is locked and let go here; None where a process is alone, as in a browser tab."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, lockf

        return (
            lambda file, byte: lockf(file, LOCK_EX | LOCK_NB, 1, byte),
            lambda file, byte: lockf(file, LOCK_UN, 1, byte),
        )
    except ImportError:  # in a browser tab the module is there, and empty
        pass
    try:
        import msvcrt

        def locking(file: Any, byte: int, how: int) -> None:
            os.lseek(file, byte, os.SEEK_SET)
            msvcrt.locking(file, how, 1)  # type: ignore[attr-defined]

        return (
            lambda file, byte: locking(file, byte, msvcrt.LK_NBLCK),  # type: ignore[attr-defined]
            lambda file, byte: locking(file, byte, msvcrt.LK_UNLCK),  # type: ignore[attr-defined]
        )
    except ImportError:
        return None


class _LockFile:
    """The file beside a journal whose bytes are locked, a byte for each run. A process opens it once, and keeps it open:
    the system lets all locks of a process on a file go as soon as it closes the file anywhere."""

    def __init__(self, path: Path) -> None:
        self.held: dict[int, object] = {}
        self.file: int | None = None
        self.path = path
        self.owner = os.getpid()

    def is_there(self) -> bool:
        """Whether it is still the file of that name: another process would lock the one that took its place."""
        if self.file is None:
            return True
        try:
            return os.path.samestat(os.fstat(self.file), os.stat(self.path))
        except FileNotFoundError:
            return False

    def take(self, run: int, mine: object) -> bool:
        """Lock a run's byte for `mine`, which is what lets it go."""
        locks = _locks()
        if run in self.held:
            return False
        if locks is not None:
            if self.file is None:
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            self.held[run] = mine  # first: an interrupt may come right after the lock
            try:
                locks[0](self.file, run)
            except OSError:
                del self.held[run]
                return False
        self.held[run] = mine
        return True

    def release(self, run: int, mine: object) -> None:
        """Let a run's byte go, where it is locked for `mine`."""
        locks = _locks()
        if self.held.get(run) is mine:
            if locks is not None and self.file is not None:
                locks[1](self.file, run)
            del self.held[run]


PAUSES = (0.001, 0.005, 0.02)  # seconds: who only looks whether a lease is held holds it for less
_files: dict[Path, _LockFile] = {}
_guard = Lock()


def _file(journal: Path) -> _LockFile:
    path = Path(f"{journal.resolve()}-lease")
    known = _files.get(path)
    # a forked process has none of its parent's locks
    if known is None or known.owner != os.getpid() or not (known.held or known.is_there()):
        _files[path] = _LockFile(path)
    return _files[path]


@contextmanager
def lease(journal: Path, run: int, holder: Callable[[], str]) -> Iterator[None]:
    """Hold the lease of a run. Raises `JournalError` where another holds it, with what `holder` says of that one."""
    mine, files = object(), list[_LockFile]()
    try:
        for pause in (*PAUSES, None):
            with _guard:
                files.append(_file(journal))
                if files[-1].take(run, mine):
                    break
            if pause is None:
                raise JournalError(f"run {run} is being carried on by {holder()}; wait for it, or end it")
            time.sleep(pause)
        yield
    finally:
        try:
            _let_go(files, run, mine)
        except BaseException:  # an interrupt in the middle of it
            _let_go(files, run, mine)
            raise


def _let_go(files: Iterable[_LockFile], run: int, mine: object) -> None:
    with _guard:
        for file in files:
            file.release(run, mine)


def is_held(journal: Path, run: int) -> bool:
    """Whether somebody carries the run on now; without a file to lock, somebody of this process."""
    with _guard:
        path = Path(f"{journal.resolve()}-lease")
        if path not in _files and not path.exists():
            return False
        try:
            file = _file(journal)
            mine = object()
            try:
                return not file.take(run, mine)
            finally:
                file.release(run, mine)
        except OSError:
            return False
