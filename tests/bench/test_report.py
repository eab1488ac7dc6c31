"""The whole bench on tiny plans: tables, verdicts and the names of missing contenders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench.effort import FULL, QUICK, Effort
from tests.bench.elsewhere import DASK, OURS, PACKAGE_OF, PLAIN, Found
from tests.bench.frameworks import FRAMEWORKS
from tests.bench.journalled import SAVER, saver_rows
from tests.bench.report import COMPARED, Part, Report, frameworks
from tests.bench.timing import Row

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bench report")]
TINY = Effort(
    {10: 1, 20: 1}, {"10": 1}, 1, 0.02, (20, 1), (20, 1), (10, 20, 1), (10, 20, 1), 20, (1, 1), 1, (10, 1), (60, 1)
)


@pytest.mark.weekly
def test_the_report_has_every_table_with_rows_and_names_missing_frameworks(tmp_path: Path) -> None:
    report = bench.measure(TINY, None)
    report.write(tmp_path / "new")
    text = (tmp_path / "new" / "report.md").read_text(encoding="utf-8")
    assert all(part.rows and f"## {part.title}" in text for part in report.parts)
    assert len(report.parts) == 14
    for name in (*PACKAGE_OF, SAVER):
        assert f"- {name}: no folder for its environment was given (--peers FOLDER)" in text


def test_every_contender_is_described() -> None:
    assert {*FRAMEWORKS, SAVER, PLAIN} <= set(COMPARED)
    assert set(FRAMEWORKS) == set(PACKAGE_OF)


def test_a_missed_target_comes_first_and_makes_a_strict_run_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = Report([Part("A step", [Row("chain: Inline : asyncio", 3.0, 2.0, "µs", 1.2)], "ours", "peer")])
    asked = []
    monkeypatch.setattr(bench, "measure", lambda effort, peers: asked.append(effort) or slow)
    assert bench.main([]) == 0
    assert bench.main(["--strict", "--quick"]) == 1
    assert asked == [FULL, QUICK]
    printed = capsys.readouterr().out
    assert "1 targets, 1 missed" in printed
    assert printed.index("- MISSED: chain: Inline : asyncio: 1.50, target ≤ 1.2") < printed.index("## A step")


def test_a_busy_machine_is_named_in_the_report() -> None:
    assert "the figures are noisy" in Report(load=(64.0, 64.0)).text()
    assert "noisy" not in Report(load=(0.0, 2.0)).text()


@pytest.mark.parametrize(("times_ours", "verdict"), [(26.0, "met"), (24.0, "MISSED")])
def test_langgraph_must_take_25_times_as_long_as_ours(times_ours: float, verdict: str) -> None:
    times = {OURS: [0.01], PLAIN: [0.008], **{name: [0.01 * times_ours] for name in FRAMEWORKS}}
    slower = Found(overhead={shape: {"1000": times} for shape in ("chain", "fan-out", "layered", "random")})
    assert [row.verdict for row in frameworks(slower) if row.target] == [verdict] * 8
    taken = {"Simulated": [0.1], "Inline": [0.2], SAVER: [0.1 * times_ours]}
    rows = saver_rows({"on the wall": taken, "processor time": taken}, 1000)
    assert [row.verdict for row in rows] == [verdict, "", "", ""]
    assert not any(row.target for row in saver_rows({"on the wall": taken}, 100))


def test_the_plain_peer_has_one_row_when_dask_runs_in_a_process_of_its_own() -> None:
    beside_dask = Found(overhead={"chain": {"1000": {OURS: [0.01], PLAIN: [0.02], DASK: [1.0]}}})
    others = Found(overhead={"chain": {"1000": {OURS: [0.01], PLAIN: [0.008], "LangGraph, graph": [0.3]}}})
    rows = [row.what for one in (others, beside_dask) for row in frameworks(one)]
    assert rows == [f"chain, 1,000 steps: {name} : ours" for name in (PLAIN, "LangGraph, graph", DASK)]
