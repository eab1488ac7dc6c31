"""Simulate another process, in which `hash` returns different numbers."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from zlib import crc32

process = 0  # the number of the simulated process; 0: none is simulated


@contextmanager
def in_process(number: int) -> Iterator[None]:
    """Replace `hash` inside the block as if in process `number`, with the same results in every run of the check.

    0 simulates none.
    """
    global process
    before, earlier, process = builtins.hash, process, number
    if number:
        builtins.hash = lambda value: crc32(repr(value).encode()) ^ number
    try:
        yield
    finally:
        builtins.hash, process = before, earlier
