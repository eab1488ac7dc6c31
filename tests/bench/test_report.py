"""The bench on tiny plans, its verdicts, and the reasons for what could not be measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench import environment
from tests.bench.elsewhere import DASK, OURS, PACKAGE_OF, PLAIN, Found, Settings
from tests.bench.frameworks import FRAMEWORKS
from tests.bench.journalled import SAVER, saver_rows
from tests.bench.report import FAIRNESS, Part, Report, frameworks
from tests.bench.timing import Row, number, ratio, rounds

TINY = bench.Effort(
    {10: 1, 20: 1}, {"10": 1}, 1, 0.02, (20, 1), (20, 1), (10, 20, 1), (10, 20, 1), 20, (1, 1), 1, (10, 1), (60, 1)
)


@pytest.mark.slow
@pytest.mark.weekly
def test_the_report_has_every_table_with_rows_and_names_missing_frameworks(tmp_path: Path) -> None:
    bench.measure(TINY, None).write(tmp_path / "new")
    text = (tmp_path / "new" / "report.md").read_text(encoding="utf-8")
    assert text.count("| ratio | target | verdict |") == 13
    for name in (*PACKAGE_OF, SAVER):
        assert f"- {name}: no folder for its environment was given (--peers FOLDER)" in text


def test_every_contender_is_described() -> None:
    assert all(f"{name}" in FAIRNESS for name in (*FRAMEWORKS, SAVER, PLAIN))
    assert set(FRAMEWORKS) == set(PACKAGE_OF)


def test_a_missed_target_comes_first_and_makes_a_strict_run_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = Report([Part("A step", [Row("chain: Inline : asyncio", 3.0, 2.0, "µs", 1.2)], "ours", "peer")])
    asked: list[bench.Effort] = []

    def measure(effort: bench.Effort, peers: Path | None) -> Report:
        asked.append(effort)
        return slow

    monkeypatch.setattr(bench, "measure", measure)
    assert (bench.main([]), bench.main(["--strict", "--quick"]), asked) == (0, 1, [bench.FULL, bench.QUICK])
    printed = capsys.readouterr().out
    assert "1 targets, 1 missed" in printed
    assert printed.index("- MISSED: chain: Inline : asyncio: 1.50, target ≤ 1.2") < printed.index("## A step")


@pytest.mark.parametrize(("times_ours", "verdict"), [(26.0, "met"), (24.0, "MISSED")])
def test_langgraph_must_take_25_times_as_long_as_ours(times_ours: float, verdict: str) -> None:
    times = {OURS: [0.01], DASK: [1.0], PLAIN: [0.008], **{name: [0.01 * times_ours] for name in FRAMEWORKS}}
    rows = frameworks(Found(overhead={"chain": {"1000": times}}))
    assert [row.verdict for row in rows if row.target] == [verdict] * 2
    assert not any(PLAIN in row.what for row in rows), "the plain peer stands in the other process's table"
    taken = {"Simulated": [0.1], "Inline": [0.2], SAVER: [0.1 * times_ours]}
    assert [row.verdict for row in saver_rows({"on the wall": taken}, 1000)] == [verdict, ""]


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


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for uv is a shell script")
def test_without_a_network_all_are_missing_and_other_folders_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho 'error: no route to the package index' >&2; exit 2", encoding="utf-8")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (found,) = bench.beside_frameworks(environment.make(tmp_path / "peers"), Settings({}))
    assert found.missing == dict.fromkeys(PACKAGE_OF, "error: no route to the package index")
    assert "holds other things" in environment.make(tmp_path).missing["langgraph"]
