"""The barrier cases, and that nobody of ours waits at a barrier."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from planexec_lite import Plan, Simulated
from tests.bench import makespan, ours, peers
from tests.bench.barriers import TOOLS, cases, staircase, travel

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("n", "by_levels"), [(2, 1.905), (3, 2.727), (5, 4.167), (8, 5.926)])
def test_waiting_for_levels_costs_the_long_step_in_each_row_of_a_staircase(n: int, by_levels: float) -> None:
    case = staircase(n)
    plan = Plan.parse(case.text)
    assert len(plan.steps) == n * n
    assert len(plan.waves()) == n
    assert case.shortest == pytest.approx(0.4 + (n - 1) * 0.02)
    assert case.by_levels / case.shortest == pytest.approx(by_levels, abs=0.001)


def test_the_travel_plan_has_six_searches_six_summaries_and_one_join() -> None:
    waves = Plan.parse(travel().text).waves()
    assert [len(wave) for wave in waves] == [6, 6, 1]
    assert travel().by_levels / travel().shortest > 1.7


def test_every_case_is_fit_and_gives_ours_and_the_peers_the_same_results() -> None:
    with ThreadPoolExecutor(makespan.THREADS) as threads:
        for case in cases(scale=0.01):
            steps = peers.read(case.text)
            expected = ours.alone(ours.fit(case.text, TOOLS), TOOLS, Simulated()).results
            assert peers.with_threads(steps, makespan.FUNCTIONS, threads) == expected
            assert peers.with_asyncio(steps, makespan.FUNCTIONS, threads) == expected


def test_ours_and_the_plain_peers_take_far_less_than_level_by_level() -> None:
    # waiting for levels takes 5.9 times the critical path, however long one looks; what else a busy machine has to do
    # weighs less the longer the steps are
    seen = []
    for scale in (0.25, 1, 4):
        (factors,) = (
            factors
            for case, factors in makespan.factors(makespan.measure(1, scale=scale), scale=scale).items()
            if case == "8 × 8 staircase"
        )
        assert all(factor >= 1 for factor in factors.values())
        if all(factor < 3 for factor in factors.values()):
            return
        seen.append(factors)
    pytest.fail(f"times the critical path, where level by level takes 5.9: {seen}")


def test_a_makespan_beyond_the_target_is_missed_and_a_short_sleep_has_no_target() -> None:
    taken = {case.name: {makespan.OURS: [case.shortest * 1.06]} for case in cases()}
    assert {row.verdict for row in makespan.rows(taken)} == {"MISSED"}
    fine = {case.name: {makespan.OURS: [case.shortest * 1.04]} for case in cases()}
    assert {row.verdict for row in makespan.rows(fine)} == {"met"}
    short = {case.name: {makespan.OURS: [case.shortest * 2]} for case in cases(0.1)}
    assert {row.verdict for row in makespan.rows(short, 0.1)} == {""}


def test_langgraph_has_to_take_so_many_times_as_long_on_two_cases() -> None:
    def verdicts(times: float) -> dict[str, str]:
        taken = {case.name: {makespan.OURS: [1.0], "LangGraph, graph": [times]} for case in cases()}
        return {row.what.split(":")[0]: row.verdict for row in makespan.beside(taken) if row.verdict}

    assert verdicts(6.0) == {"8 × 8 staircase": "met", "travel plan": "met"}
    assert verdicts(1.8) == {"8 × 8 staircase": "MISSED", "travel plan": "met"}
    assert verdicts(1.6) == {"8 × 8 staircase": "MISSED", "travel plan": "MISSED"}
