"""As in another process: `hash` gives other numbers there."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from zlib import crc32


@contextmanager
def in_process(number: int) -> Iterator[None]:
    """As in another process, where `hash` gives other numbers; here they are the same in each run of the check."""
    before = builtins.hash
    builtins.hash = lambda value: crc32(repr(value).encode()) ^ number
    try:
        yield
    finally:
        builtins.hash = before
