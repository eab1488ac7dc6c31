"""The lease: who carries on a run. The operating system takes it from a process that dies, however it dies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from planexec_lite.journal.database import JournalError


def _locks() -> tuple[Callable[[Any, int], None], Callable[[Any, int], None]] | None:
    """How one byte of a file is locked and let go here; None where a process is alone, as in a browser tab."""
    try:
        import fcntl

        return (
            lambda file, byte: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte),
            lambda file, byte: fcntl.lockf(file, fcntl.LOCK_UN, 1, byte),
        )
    except ImportError:
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
        self.held: set[int] = set()
        self.file: int | None = None
        self.path = path
        self.owner = os.getpid()

    def take(self, run: int) -> bool:
        locks = _locks()
        if run in self.held:
            return False
        if locks is not None:
            if self.file is None:
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                locks[0](self.file, run)
            except OSError:
                return False
        self.held.add(run)
        return True

    def release(self, run: int) -> None:
        locks = _locks()
        self.held.discard(run)
        if locks is not None and self.file is not None:
            locks[1](self.file, run)


_files: dict[Path, _LockFile] = {}
_guard = Lock()


def _file(journal: Path) -> _LockFile:
    path = Path(f"{journal.resolve()}-lease")
    if path not in _files or _files[path].owner != os.getpid():  # a forked process has none of its parent's locks
        _files[path] = _LockFile(path)
    return _files[path]


@contextmanager
def lease(journal: Path, run: int, holder: Callable[[], str]) -> Iterator[None]:
    """Hold the lease of a run. Raises `JournalError` where another holds it, with what `holder` says of that one."""
    with _guard:
        file = _file(journal)
        taken = file.take(run)
    if not taken:
        raise JournalError(f"run {run} is being carried on by {holder()}; wait for it, or end it")
    try:
        yield
    finally:
        with _guard:
            file.release(run)


def is_held(journal: Path, run: int) -> bool:
    """Whether somebody carries the run on now; without a file to lock, somebody of this process."""
    with _guard:
        path = Path(f"{journal.resolve()}-lease")
        if path not in _files and not path.exists():
            return False
        try:
            file = _file(journal)
            if not file.take(run):
                return True
        except OSError:
            return False
        file.release(run)
        return False
