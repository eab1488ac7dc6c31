"""Many runs of one plan on shared slots: random arrivals, and the seconds that each run takes."""

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from random import Random

from planexec_lite.plan import Plan


def arrivals_at(load: float, slots: int, runs: int, work: float) -> list[int]:
    """Return the seconds at which runs of `work` seconds arrive at random, so that the slots are busy for the share `load`."""
    random = Random(1)
    return [round(at) for at in accumulate(random.expovariate(load * slots / work) for _ in range(runs))]


def run_times(
    plan: Plan, seconds: Mapping[str, float], arrivals: Sequence[int], slots: int, first: Callable[[float, int], float]
) -> list[float]:
    """Return the seconds of each run, from its arrival to the end of its last step.

    Args:
        seconds: how long each step takes, by its id.
        first: gets the second at which a step became ready, and the number of its run. The step with the smallest value
            gets the next slot.
    """
    ready: list[tuple[float, str, int]] = []
    # an arrival is the end of step ""
    ends: list[tuple[float, int, str]] = [(at, run, "") for run, at in enumerate(arrivals)]
    done, times = [set[str]() for _ in arrivals], [0.0 for _ in arrivals]
    while ends:
        now, run, ended = heappop(ends)
        slots += ended != ""
        done[run].add(ended)
        times[run] = now - arrivals[run]
        for step, before in plan.graph.items():
            needs = {*before} or {""}
            if ended in needs and needs <= done[run]:
                heappush(ready, (first(now, run), step, run))
        while slots and ready:
            _, step, run = heappop(ready)
            slots -= 1
            heappush(ends, (now + seconds[step], run, step))
    return times
