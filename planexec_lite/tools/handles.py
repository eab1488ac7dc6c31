"""Open files, when other code of the process can close their handles."""

from __future__ import annotations

import os

FileNumber = tuple[int, int] | None
"""Device and number of a file; None: it is missing or closed."""


def number_of(file: str | os.PathLike[str] | int) -> FileNumber:
    """Return device and number of a file, by its name or its open handle; None if it is missing or closed."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino
