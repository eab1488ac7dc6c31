"""The lease: the right to carry on a run, which one process has at a time.

The lease of a run is a locked file in a folder beside the journal; its name is the run's uid.

- A process that dies loses its leases at once, whether it ends or is killed. No clock is read: a process that is stopped and a
  laptop that sleeps keep their leases, and a clock that jumps changes nothing.
- Code that reads or copies the files, in the same process too, changes nothing. A forked copy of a process has no lease.
- If a lock is lost, because somebody deletes its file or a network drive fails, another process can take the run over while
  the first still works. The journal then refuses what the first one appends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planexec_lite.file_lock import FileLock, is_locked
from planexec_lite.journal.database import JournalError, in_words
from planexec_lite.sqlite_file import users_of

PAUSES = (0.001, 0.005, 0.02)  # seconds: whoever only looks at a lease locks it for less
_ATTEMPTS = 100  # to make a file in a folder that others remove when it is empty


@contextmanager
def lease(journal: Path, uid: str, refusal: Callable[[], str]) -> Iterator[None]:
    """Hold the lease of a run. Raises `JournalError` with the words of `refusal` where somebody else holds it."""
    folder = users_of(journal)
    lock = FileLock(folder / uid)
    try:
        for pause in (*PAUSES, None):
            with in_words(journal):
                if _taken(lock, folder):
                    break
            if pause is None:
                raise JournalError(refusal())
            time.sleep(pause)
        yield
    finally:
        try:
            _give_back(lock, folder)
        except BaseException:  # an interrupt in the middle of it
            _give_back(lock, folder)
            raise


def is_held(journal: Path, uid: str) -> bool:
    """Whether somebody carries the run on now."""
    return is_locked(users_of(journal) / uid)


def _taken(lock: FileLock, folder: Path) -> bool:
    for _ in range(_ATTEMPTS):
        folder.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            return lock.take()
    return lock.take()


def _give_back(lock: FileLock, folder: Path) -> None:
    lock.release(remove=True)
    with suppress(OSError):
        folder.rmdir()
