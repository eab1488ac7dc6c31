"""The lease of a run: only the process that holds it carries the run on.

A lease is a locked file in a folder next to the journal. The name of the file is the run's uid.

- A process that dies loses its leases at once, also after a kill. No clock is involved: a stopped process and a sleeping laptop
  keep their leases, and a clock that jumps changes nothing.
- Reading or copying the files changes nothing, not even in the same process. A forked copy of a process has no lease.
- A lock can still be lost, for example if a user deletes its file or a network drive fails. Then another process can take the run
  over while the first one still works. The journal refuses all later events of the first one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planexec_lite.file_lock import FileLock, is_locked
from planexec_lite.journal.database import JournalError, in_words
from planexec_lite.sqlite_file import users_of

PAUSES = (0.001, 0.005, 0.02)  # seconds: `is_held` locks the file for a shorter time
_ATTEMPTS = 100  # other processes remove the folder when it is empty


@contextmanager
def lease(journal: Path, uid: str, refusal: Callable[[], str]) -> Iterator[None]:
    """Hold the lease of a run. Raises `JournalError(refusal())` if it is held already."""
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
        except BaseException:  # it was interrupted
            _give_back(lock, folder)
            raise


def is_held(journal: Path, uid: str) -> bool:
    """Whether the run is being carried on now."""
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
