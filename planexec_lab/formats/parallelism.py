"""How much a plan could gain from running as a graph: its steps over its longest chain, where each step takes the same.

The measure is the "parallelism" of Blumofe and Leiserson, "Scheduling Multithreaded Computations by Work Stealing"
(1999): work over span. No number of slots makes a plan faster than that.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean, median
from typing import NamedTuple

from planexec_lite.plan import Plan


class Parallelism(NamedTuple):
    """A plan's shape: number of steps, number of waves (`depth`), and steps in the largest wave (`width`)."""

    steps: int
    depth: int
    width: int

    @property
    def gain(self) -> float:
        """The largest possible speed-up over sequential execution if all steps take the same time: 1 for a chain."""
        return self.steps / self.depth if self.depth else 1.0


def parallelism(plan: Plan) -> Parallelism:
    """Return the plan's shape. Raises `ValueError` for a plan with a cycle, which never ends."""
    waves = plan.waves()
    if sum(map(len, waves)) < len(plan.steps):
        raise ValueError("steps of this plan form a cycle; plan.problems() names them")
    return Parallelism(len(plan.steps), len(waves), max(map(len, waves), default=0))


class Measured(NamedTuple):
    """The counts over a set of plans; steps and gains are those of the valid plans.

    `chains` are plans in which each step depends on the previous step, so that parallel execution gains nothing.
    """

    plans: int
    read: int
    valid: int
    median_steps: float
    mean_steps: float
    most_steps: int
    chains: int
    mean_gain: float
    most_gain: float


def measure(plans: Iterable[Plan | None]) -> Measured:
    """Count over the plans of a set; None is an unreadable plan. Means are rounded to two places.

    A plan is valid if `Plan.problems` is empty without a toolbox. Raises `ValueError` if no plan is valid.
    """
    every = list(plans)
    there = [plan for plan in every if plan is not None]
    valid = [parallelism(plan) for plan in there if not plan.problems()]
    if not valid:
        raise ValueError(f"none of {len(every)} plans is valid, so there is nothing to measure")
    steps, gains = [shape.steps for shape in valid], [shape.gain for shape in valid]
    chains = sum(shape.depth == shape.steps for shape in valid)
    counts = len(every), len(there), len(valid)
    gain = round(fmean(gains), 2), round(max(gains), 2)
    return Measured(*counts, float(median(steps)), round(fmean(steps), 2), max(steps), chains, *gain)
