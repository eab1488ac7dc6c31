"""The bench on tiny plans, and its verdicts."""

from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench import langgraph
from tests.bench.langgraph import LANGGRAPH, OURS, PLAIN
from tests.bench.report import FAIRNESS, Part, Report
from tests.bench.timing import Row, number, ratio, rounds

TINY = bench.Effort({10: 1, 20: 1}, {"10": 1}, (20, 1), 1, 2)


@pytest.mark.slow
@pytest.mark.weekly
def test_the_report_has_every_table_with_rows_and_names_what_is_missing(tmp_path: Path) -> None:
    text = bench.measure(TINY, tmp_path / "no-python").text()
    assert text.count("| ratio | target | verdict |") == 4
    assert "LangGraph was not measured: run elsewhere/environments.sh langgraph first" in text


def test_missed_targets_fail_a_strict_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(f"| {name}" in FAIRNESS for name in (LANGGRAPH, PLAIN))
    slow = Report([Part("A step", [Row("chain: Inline : asyncio", 3.0, 2.0, "µs", 1.2)], "ours", "peer")])
    monkeypatch.setattr(bench, "measure", lambda effort, python: slow if effort in (bench.FULL, bench.QUICK) else None)
    assert (bench.main([]), bench.main(["--strict", "--quick"])) == (0, 1)
    printed = capsys.readouterr().out
    assert "1 targets, 1 missed" in printed
    assert printed.index("- MISSED: chain: Inline : asyncio: 1.50, target ≤ 1.2") < printed.index("## A step")


@pytest.mark.parametrize(("times_ours", "verdict"), [(26.0, "met"), (24.0, "MISSED")])
def test_langgraph_must_take_25_times_as_long_as_ours(times_ours: float, verdict: str) -> None:
    times = {OURS: [0.01], PLAIN: [0.008], LANGGRAPH: [0.01 * times_ours]}
    assert [row.verdict for row in langgraph.rows({"chain": {"1000": times}}) if row.target] == [verdict]


@pytest.mark.parametrize(
    ("ours", "most", "least", "verdict"),
    [(1.2, 1.2, None, "met"), (1.21, 1.2, None, "MISSED"), (24.9, None, 25.0, "MISSED"), (9.9, None, None, "")],
)
def test_a_target_is_met_between_its_bounds(ours: float, most: float | None, least: float | None, verdict: str) -> None:
    assert Row("a step", ours, 1.0, "µs", most, least=least).verdict == verdict
    assert [number(value) for value in (1234.5, 12.34, 0.0123)] == ["1,234", "12.3", "0.012"]


def test_every_contender_runs_once_a_round_and_the_first_round_warms_up() -> None:
    order: list[str] = []
    taken = rounds({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert (order, [len(seconds) for seconds in taken.values()]) == (["a", "b"] * 4, [3, 3])
    assert ratio([2.0, 200.0, 2.0], [1.0, 100.0, 1.0]) == 2.0
