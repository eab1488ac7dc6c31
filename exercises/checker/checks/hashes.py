"""Simulate another process, in which `hash` returns different numbers."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from zlib import crc32


@contextmanager
def in_process(number: int) -> Iterator[None]:
    """Replace `hash` inside the block as if in process `number`, with the same results in every run of the check."""
    before = builtins.hash
    builtins.hash = lambda value: crc32(repr(value).encode()) ^ number
    try:
        yield
    finally:
        builtins.hash = before
