"""Waves and the critical path, against slow and simple witnesses; and plans of 100,000 steps."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given

from planexec_lite import Plan, Tool, Toolbox
from tests.core.shapes import Job, jobs, plan_of
from tests.rounds import rounds

MANY = 100_000


@rounds(100)
@given(jobs())
def test_a_wave_can_start_when_the_waves_before_it_are_done(made: list[Job]) -> None:
    waves = plan_of(made).waves()
    depth: dict[str, int] = {}
    while len(depth) < len(made):
        for job in made:
            if all(id in depth for id in job.waits_for):
                depth[job.id] = max((depth[id] + 1 for id in job.waits_for), default=0)
    assert waves == [[job.id for job in made if depth[job.id] == n] for n in range(len(waves))]
    assert sum(map(len, waves)) == len(made)


@rounds(100)
@given(jobs(most=8))
def test_the_critical_path_is_the_longest_of_all_chains(made: list[Job]) -> None:
    waits_for = {job.id: job.waits_for for job in made}
    seconds = {job.id: job.quarters / 4 for job in made}

    def chains(id: str) -> Iterable[list[str]]:
        yield from ([*chain, id] for other in waits_for[id] for chain in chains(other))
        yield [id]

    longest = max(sum(seconds[id] for id in chain) for end in waits_for for chain in chains(end))
    path, length = plan_of(made).critical_path(seconds)
    assert length == longest == sum(seconds[id] for id in path)
    assert all(before in waits_for[after] for before, after in pairwise(path))
    assert plan_of(made).critical_path()[1] == max(len(chain) for end in waits_for for chain in chains(end))


@pytest.mark.weekly
def test_a_hundred_thousand_steps_are_read_and_checked() -> None:
    """Ten chains side by side, and every step also waits for the end of the row before it."""
    behind = {n: [n - 10, (n - 1) // 10 * 10] if n > 10 else [] for n in range(1, MANY + 1)}
    uses = {n: [f"{{step_{other}_result}}" for other in others] for n, others in behind.items()}
    steps = [{"id": n, "tool": "add", "params": {"numbers": uses[n]}, "depends_on": behind[n]} for n in behind]
    plan = Plan.parse(json.dumps(steps))
    assert plan.problems(Toolbox([Tool(add, effects="none")])) == []
    assert len(plan.waves()) == plan.critical_path()[1] == MANY // 10


def add(numbers: list[int]) -> int:
    """Add numbers."""
    return sum(numbers)


def test_an_empty_plan_has_no_path_and_no_waves() -> None:
    assert (Plan().critical_path(), Plan().waves()) == (([], 0), [])


@pytest.mark.slow
def test_a_cycle_of_many_thousand_steps_is_named() -> None:
    steps = [{"id": n, "depends_on": [n - 1 or 20_000]} for n in range(1, 20_001)]
    problems = Plan.parse(steps).problems()
    assert [problem.code for problem in problems] == ["cycle"]
    assert len(problems[0].message) < 500
