"""Locks on files. The operating system releases them when their process dies, also after a kill.

A lock belongs to the opened file, not to the process: other code of the process can open, copy and close the file, and the lock
stays. The record locks that SQLite uses on Linux and macOS don't survive that. A browser tab has one process and no locks, so
there the process only remembers which files it has locked.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from os import PathLike, fspath

from planexec_lite.tools.handles import FileNumber, number_of

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # don't follow a link that replaced a lock file


def _system() -> tuple[Callable[[int], None], Callable[[int], None]] | None:
    """Return functions that lock and unlock an opened file; None if the system has no locks."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

        return lambda handle: flock(handle, LOCK_EX | LOCK_NB), lambda handle: flock(
            handle, LOCK_UN
        )
    except ImportError:  # a browser tab has an empty module
        pass
    try:
        import msvcrt
    except ImportError:
        return None

    def locking(handle: int, how: int) -> None:
        os.lseek(
            handle, 2**30, os.SEEK_SET
        )  # a program that copies the file does not read this byte
        msvcrt.locking(handle, how, 1)  # type: ignore[attr-defined]

    return (
        lambda handle: locking(handle, msvcrt.LK_NBLCK),  # type: ignore[attr-defined]
        lambda handle: locking(handle, msvcrt.LK_UNLCK),  # type: ignore[attr-defined]
    )


SYSTEM = _system()
_remembered: set[str] = set()  # the locked files, if the system has no locks
_opened: set[FileLock] = set()


class FileLock:
    """A lock on a file. A forked copy of the process does not share it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = fspath(path)
        self.handle: int | None = None
        self.number: FileNumber = None
        self.held = False

    def take(self) -> bool:
        """Lock the file, which is created if it is missing. Return False at once if it is locked already."""
        if SYSTEM is None:
            self.held = self.path not in _remembered
            _remembered.add(self.path)
            return self.held
        self.number = None
        self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        _opened.add(self)
        self.number = number_of(self.handle)
        with suppress(BlockingIOError, PermissionError):
            SYSTEM[0](self.handle)
            self.held = True
        if not self.held:
            self.release()
        return self.held

    def release(self) -> None:
        """Release the lock, if it is held, and close the file. An interrupted call can be repeated."""
        if SYSTEM is None:
            if self.held:
                _remembered.discard(self.path)
        elif (handle := self._own_handle()) is not None:
            with suppress(OSError):
                SYSTEM[1](handle)  # closing is not enough if a forked copy has the file open
        _opened.discard(self)
        self.close()
        self.held = False

    def close(self) -> None:
        """Close the file. If other code has closed it, its handle might belong to another file, which stays open."""
        handle = self._own_handle()
        self.handle = None  # an interrupt comes before this or after the close
        if handle is not None:
            os.close(handle)

    def _own_handle(self) -> int | None:
        """Return the handle if it still belongs to the opened file. If `take` was interrupted, `number` is unknown."""
        if self.handle is None or self.number not in (None, number_of(self.handle)):
            return None
        return self.handle


def is_locked(path: str | PathLike[str]) -> bool:
    """Whether this process or another one has locked the file. The caller makes sure that it is not locked meanwhile."""
    if SYSTEM is None:
        return fspath(path) in _remembered
    lock = FileLock(path)
    try:
        return os.path.exists(path) and not lock.take()
    except OSError:  # it belongs to another user
        return True
    finally:
        lock.release()


def _close_copies() -> None:
    """Close the files in a forked copy of the process: otherwise the locks would outlive the process."""
    for lock in _opened:
        lock.close()
        lock.held = False
    _opened.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)
