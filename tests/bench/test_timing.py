"""What a row of the report says about its target, and how the clock is shared."""

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
        (1.0, 1.05, 1.0, "met"),
        (0.9, 1.05, 1.0, "MISSED"),
        (1.1, 1.05, 1.0, "MISSED"),
        (9.9, None, None, ""),
    ],
)
def test_a_target_is_met_between_its_bounds_and_missed_outside(
    ours: float, most: float | None, least: float | None, verdict: str
) -> None:
    assert Row("a step", ours, 1.0, "µs", most, least=least).verdict == verdict


def test_a_row_names_its_numbers_its_target_and_a_missed_target() -> None:
    row = Row("travel plan", 400.0, 1200.0, "ms", ratio=3.0, most=1.05)
    assert str(row) == "| travel plan | 400.0 ms | 1,200 ms | 3.00 | ≤ 1.05 | MISSED |"
    assert str(Row("a", 50.0, 2.0, "µs", least=25)) == "| a | 50.0 µs | 2.0 µs | 25.00 | ≥ 25 | met |"


def test_a_table_has_a_title_both_names_and_every_row() -> None:
    text = table("Import", [Row("one", 1, 2, "ms"), Row("two", 3, 4, "ms")], "ours", "peer")
    assert text.splitlines()[0] == "## Import"
    assert text.splitlines()[2] == "| what | ours | peer | ratio | target | verdict |"
    assert [line.split("|")[1].strip() for line in text.splitlines()[4:]] == ["one", "two"]


def test_every_contender_runs_once_a_round_and_the_first_does_not_count() -> None:
    order: list[str] = []
    taken = rounds({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order == ["a", "b"] * 4
    assert [len(seconds) for seconds in taken.values()] == [3, 3]


def test_the_ratio_is_taken_within_each_round() -> None:
    assert ratio([2.0, 200.0, 2.0], [1.0, 100.0, 1.0]) == 2.0


@pytest.mark.parametrize(("value", "text"), [(1234.5, "1,234"), (12.34, "12.3"), (0.42, "0.4"), (0.0123, "0.012")])
def test_a_number_has_as_many_places_as_it_needs(value: float, text: str) -> None:
    assert number(value) == text
