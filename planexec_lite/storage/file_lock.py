"""Locks on files. The operating system releases them when their process dies, also after a kill.

A lock belongs to the opened file, not to the process: other code of the process can open, copy and close the file, and the lock
stays. The record locks that SQLite uses on Linux and macOS don't survive that. A browser tab has one process and no locks, so
there the process only remembers which files it has locked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from planexec_lite.tools.handles import FileNumber, number_of

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # don't follow a link that replaced a lock file


def lock_opened(handle: int) -> None:
    """Lock an opened file. Raises `OSError` if it is locked already."""
    if sys.platform == "win32":
        import msvcrt

        # a program that copies the file does not read this byte
        os.lseek(handle, 2**30, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    elif sys.platform != "emscripten":
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(handle, LOCK_EX | LOCK_NB)


_locks: dict[str, FileLock] = {}  # those that this process has, or tries to get, by file


class FileLock:
    """A lock on a file. A forked copy of the process does not share it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.handle = -1
        self.number: FileNumber = None  # of the opened file; None: it is not locked

    def take(self) -> bool:
        """Lock the file, which is created if it is missing. Return False at once if it is locked already."""
        if _locks.setdefault(self.path, self) is not self:
            return False
        self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        self.number = number_of(self.handle)
        with suppress(BlockingIOError, PermissionError):
            lock_opened(self.handle)
            if number_of(self.path) == self.number:  # otherwise it was removed at the last moment
                return True
        self.release()
        return False

    def is_held(self) -> bool:
        """Whether the file is still open: other code can close its handle, and a fork of the process does not have it."""
        return self.number is not None and number_of(self.handle) == self.number

    def release(self) -> None:
        """Release the lock, if it is held. An interrupted call can be repeated."""
        if self.is_held():
            os.close(self.handle)
        self.number = None
        if _locks.get(self.path) is self:
            del _locks[self.path]


@contextmanager
def lock_on(path: str) -> Iterator[FileLock]:
    """Give the lock on a file, and release it in the end, also if an interrupt comes meanwhile."""
    lock = FileLock(path)
    try:
        yield lock
    finally:
        try:
            lock.release()
        finally:  # the first call might have been interrupted
            lock.release()


def is_locked(path: str) -> bool:
    """Whether this process or another one has locked the file. The caller makes sure that it is not locked meanwhile."""
    with lock_on(path) as lock:
        try:
            return os.path.exists(path) and not lock.take()
        except OSError:  # it belongs to another user
            return True


def _close_copies() -> None:
    """Close the files in a forked copy of the process: otherwise the locks would outlive the process."""
    for lock in [*_locks.values()]:
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)
