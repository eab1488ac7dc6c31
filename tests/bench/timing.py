"""Timing side by side: every contender once a round, the garbage collected before each."""

import gc
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any


def rounds(contenders: Mapping[str, Callable[[], Any]], times: int) -> dict[str, list[float]]:
    """Seconds of every contender in every round; in each round all of them run, one after the other.

    What was in memory before is left out of the garbage collections, so that each costs the same.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    gc.collect()
    gc.freeze()
    try:
        for turn in range(times + 1):
            for name, contender in contenders.items():
                gc.collect()
                began = process_time()
                contender()
                seconds = process_time() - began
                if turn or times == 1:  # the first round warms up
                    taken[name].append(seconds)
    finally:
        gc.unfreeze()
    return {name: seconds[-times:] for name, seconds in taken.items()}
