"""Locks on files. The operating system releases them when their process dies, however it dies.

A lock belongs to the file as it was opened here: other code of this process can open, copy and close the same file, and the
lock stays. SQLite's own locks on Linux and macOS are record locks, which are lost then. A browser tab has a single process and
no locks; there the process remembers what it has locked.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from os import PathLike, fspath

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # a link that somebody put in a lock's place leads nowhere


def _system() -> tuple[Callable[[int], None], Callable[[int], None], Callable[[int], None]] | None:
    """How an opened file is locked, locked to look at it, and released; None where the system has no locks."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock

        return (
            lambda handle: flock(handle, LOCK_EX | LOCK_NB),
            lambda handle: flock(handle, LOCK_SH | LOCK_NB),
            lambda handle: flock(handle, LOCK_UN),
        )
    except ImportError:  # in a browser tab the module is there, and empty
        pass
    try:
        import msvcrt
    except ImportError:
        return None

    def locking(handle: int, how: int) -> None:
        os.lseek(handle, 2**30, os.SEEK_SET)  # a byte that no copy of the file reads
        msvcrt.locking(handle, how, 1)  # type: ignore[attr-defined]

    return (
        lambda handle: locking(handle, msvcrt.LK_NBLCK),  # type: ignore[attr-defined]
        lambda handle: locking(handle, msvcrt.LK_NBLCK),  # type: ignore[attr-defined]
        lambda handle: locking(handle, msvcrt.LK_UNLCK),  # type: ignore[attr-defined]
    )


SYSTEM = _system()
_remembered: set[str] = set()  # the locked files, where the system has no locks
_opened: set[FileLock] = set()


class FileLock:
    """A lock on a file. A forked copy of the process has no part in it.

    `make`: the file is made where it is missing; else one that can't be opened counts as locked by nobody.
    """

    def __init__(self, path: str | PathLike[str], make: bool = True) -> None:
        self.path, self.make = fspath(path), make
        self.handle: int | None = None
        self.held = False

    def take(self) -> bool:
        """Lock the file and return True; return False at once where it is locked already."""
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
            self.held = self._is_there()  # the holder before may have removed the file that was opened here
        if not self.held:
            self.release()
        return self.held

    def release(self, remove: bool = False) -> None:
        """Release the lock, where it was taken, and close the file. A call that was interrupted can be repeated."""
        if SYSTEM is None:
            if self.held:
                _remembered.discard(self.path)
        elif self.handle is not None:
            if remove and self.held and self._is_there():
                with suppress(OSError):  # Windows removes no file that is open
                    os.unlink(self.path)
            with suppress(OSError):
                SYSTEM[2](self.handle)  # a forked copy may have the file open still
            _opened.discard(self)
            handle, self.handle = self.handle, None
            os.close(handle)
        self.held = False

    def _is_there(self) -> bool:
        """Whether the opened file is still the one of that name."""
        try:
            return self.handle is not None and os.path.samestat(os.fstat(self.handle), os.stat(self.path))
        except FileNotFoundError:
            return False


def is_locked(path: str | PathLike[str]) -> bool:
    """Whether a process, or another part of this one, has locked the file."""
    if SYSTEM is None:
        return fspath(path) in _remembered
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return os.path.exists(path)  # another user's
    try:
        SYSTEM[1](handle)
        SYSTEM[2](handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _close_copies() -> None:
    """In a forked copy of the process: with its copies of the opened files the locks would outlive the process."""
    for lock in _opened:
        if lock.handle is not None:
            os.close(lock.handle)
        lock.handle, lock.held = None, False
    _opened.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)
