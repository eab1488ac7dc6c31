"""Verdicts of rows, and how contenders share the clock."""

from __future__ import annotations

import pytest

from tests.bench.timing import Row, number, ratio, rounds, table


@pytest.mark.parametrize(
    ("ours", "most", "least", "verdict"),
    [
        (1.2, 1.2, None, "met"),
        (1.21, 1.2, None, "MISSED"),
        (25.0, None, 25.0, "met"),
        (24.9, None, 25.0, "MISSED"),
        (0.9, 1.05, 1.0, "MISSED"),
        (1.1, 1.05, 1.0, "MISSED"),
        (9.9, None, None, ""),
    ],
)
def test_a_target_is_met_between_its_bounds(ours: float, most: float | None, least: float | None, verdict: str) -> None:
    assert Row("a step", ours, 1.0, "µs", most, least=least).verdict == verdict


def test_a_table_shows_numbers_targets_and_verdicts() -> None:
    row = Row("travel plan", 400.0, 1200.0, "ms", ratio=3.0, most=1.05)
    lines = table("Import", [row], "ours", "peer").splitlines()
    assert lines[0] == "## Import"
    assert lines[2] == "| what | ours | peer | ratio | target | verdict |"
    assert lines[4] == "| travel plan | 400.0 ms | 1,200 ms | 3.00 | ≤ 1.05 | MISSED |"
    assert [number(value) for value in (1234.5, 12.34, 0.0123)] == ["1,234", "12.3", "0.012"]


def test_every_contender_runs_once_a_round_and_the_first_round_warms_up() -> None:
    order: list[str] = []
    taken = rounds({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order == ["a", "b"] * 4
    assert [len(seconds) for seconds in taken.values()] == [3, 3]
    assert ratio([2.0, 200.0, 2.0], [1.0, 100.0, 1.0]) == 2.0
