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

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # don't follow a link that replaced a lock file


def _system() -> tuple[Callable[[int], None], Callable[[int], None], Callable[[int], None]] | None:
    """Return functions that lock an opened file, lock it for a test, and release it; None if the system has no locks."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock

        return (
            lambda handle: flock(handle, LOCK_EX | LOCK_NB),
            lambda handle: flock(handle, LOCK_SH | LOCK_NB),
            lambda handle: flock(handle, LOCK_UN),
        )
    except ImportError:  # a browser tab has an empty module
        pass
    try:
        import msvcrt
    except ImportError:
        return None

    def locking(handle: int, how: int) -> None:
        os.lseek(handle, 2**30, os.SEEK_SET)  # a program that copies the file does not read this byte
        msvcrt.locking(handle, how, 1)  # type: ignore[attr-defined]

    return (
        lambda handle: locking(handle, msvcrt.LK_NBLCK),  # type: ignore[attr-defined]
        lambda handle: locking(handle, msvcrt.LK_NBLCK),  # type: ignore[attr-defined]
        lambda handle: locking(handle, msvcrt.LK_UNLCK),  # type: ignore[attr-defined]
    )


SYSTEM = _system()
_remembered: set[str] = set()  # the locked files, if the system has no locks
_opened: set[FileLock] = set()


class FileLock:
    """A lock on a file. A forked copy of the process does not share it.

    `make`: create a missing file. If False, `take` succeeds without a lock on a file that is missing or can't be opened.
    """

    def __init__(self, path: str | PathLike[str], make: bool = True) -> None:
        self.path, self.make = fspath(path), make
        self.handle: int | None = None
        self.held = False

    def take(self) -> bool:
        """Lock the file and return True. Return False at once if it is locked already."""
        if SYSTEM is None:
            self.held = self.path not in _remembered
            _remembered.add(self.path)
            return self.held
        try:
            self.handle = os.open(self.path, os.O_RDWR | NO_LINK | (os.O_CREAT if self.make else 0), 0o600)
        except OSError:
            if self.make:
                raise
            return True
        _opened.add(self)
        with suppress(BlockingIOError, PermissionError):
            SYSTEM[0](self.handle)
            self.held = self._is_there()  # the last holder might have removed the opened file
        if not self.held:
            self.release()
        return self.held

    def release(self, remove: bool = False) -> None:
        """Release the lock, if it is held, and close the file. An interrupted call can be repeated."""
        if SYSTEM is None:
            if self.held:
                _remembered.discard(self.path)
        elif self.handle is not None:
            if remove and self.held and self._is_there():
                with suppress(OSError):  # Windows can't remove an open file
                    os.unlink(self.path)
            with suppress(OSError):
                SYSTEM[2](self.handle)  # closing is not enough if a forked copy has the file open
            _opened.discard(self)
            handle, self.handle = self.handle, None
            os.close(handle)
        self.held = False

    def _is_there(self) -> bool:
        """Whether the opened file still has its name."""
        try:
            return self.handle is not None and os.path.samestat(os.fstat(self.handle), os.stat(self.path))
        except FileNotFoundError:
            return False


def is_locked(path: str | PathLike[str]) -> bool:
    """Whether this process or another one has locked the file."""
    if SYSTEM is None:
        return fspath(path) in _remembered
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return os.path.exists(path)  # it belongs to another user
    try:
        SYSTEM[1](handle)
        SYSTEM[2](handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _close_copies() -> None:
    """Close the files in a forked copy of the process: as long as they are open there, the locks outlive the process."""
    for lock in _opened:
        if lock.handle is not None:
            os.close(lock.handle)
        lock.handle, lock.held = None, False
    _opened.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)
