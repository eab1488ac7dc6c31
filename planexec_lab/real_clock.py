"""Workers on threads and the real clock, for lessons that show what a simulated clock can't."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from planexec_lite.workers import Pool, Simulated, Workers


@contextmanager
def real_clock(slots: int) -> Iterator[Workers]:
    """Give workers on `slots` threads; at the end, wait for the calls that are still running.

    A browser tab has no threads, so there the clock is simulated.
    """
    if sys.platform == "emscripten":
        yield Simulated(slots=slots)
        return
    with ThreadPoolExecutor(slots) as threads:
        yield Pool(threads)
