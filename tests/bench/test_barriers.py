"""The barrier cases: start-when-ready against waiting for levels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from planexec_lite import Plan, Simulated
from tests.bench import makespan, ours, peers
from tests.bench.barriers import TOOLS, cases, staircase, travel

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("n", "by_levels"), [(2, 1.905), (8, 5.926)])
def test_waiting_for_levels_costs_the_long_step_in_each_row_of_a_staircase(n: int, by_levels: float) -> None:
    case = staircase(n)
    plan = Plan.parse(case.text)
    assert len(plan.steps) == n * n
    assert len(plan.waves()) == n
    assert case.by_levels / case.shortest == pytest.approx(by_levels, abs=0.001)
    assert [len(wave) for wave in Plan.parse(travel().text).waves()] == [6, 6, 1]


def test_ours_and_the_peers_give_the_same_results_in_every_case() -> None:
    with ThreadPoolExecutor(makespan.THREADS) as threads:
        for case in cases(scale=0.01):
            steps = peers.read(case.text)
            expected = ours.alone(ours.fit(case.text, TOOLS), TOOLS, Simulated()).results
            assert peers.with_threads(steps, makespan.FUNCTIONS, threads) == expected
            assert peers.with_asyncio(steps, makespan.FUNCTIONS, threads) == expected


@pytest.mark.parametrize(("factor", "scale", "verdict"), [(1.06, 1, "MISSED"), (1.04, 1, "met"), (2, 0.1, "")])
def test_a_makespan_has_a_target_beside_the_critical_path(factor: float, scale: float, verdict: str) -> None:
    taken = {case.name: {makespan.OURS: [case.shortest * factor]} for case in cases(scale)}
    assert {row.verdict for row in makespan.rows(taken, scale)} == {verdict}


@pytest.mark.parametrize(
    ("times", "verdicts"), [(6.0, ["met", "met"]), (1.8, ["MISSED", "met"]), (1.6, ["MISSED"] * 2)]
)
def test_langgraph_has_a_target_in_two_cases(times: float, verdicts: list[str]) -> None:
    taken = {case.name: {makespan.OURS: [1.0], "LangGraph, graph": [times]} for case in cases()}
    found = {row.what.split(":")[0]: row.verdict for row in makespan.beside(taken) if row.verdict}
    assert [found["8 × 8 staircase"], found["travel plan"]] == verdicts
