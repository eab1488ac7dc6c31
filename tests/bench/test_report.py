"""The bench on tiny plans, and its verdicts."""

import pytest

from tests.bench import __main__ as bench
from tests.bench.report import Part, Report, Row

TINY = bench.Effort(20, 1, 0.01)


@pytest.mark.slow
@pytest.mark.weekly
def test_the_report_has_every_table_with_rows() -> None:
    report = bench.measure(TINY)
    assert report.text().count("| target | verdict |") == 3
    assert all(part.rows for part in report.parts)


def test_missed_targets_fail_a_strict_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    slow = Report([Part("A step", [Row("chain: Inline : asyncio", 3.0, 2.0, 1.5, 1.2)], "ours", "peer")])
    monkeypatch.setattr(bench, "measure", lambda effort: slow if effort in (bench.FULL, bench.QUICK) else None)
    assert (bench.main([]), bench.main(["--strict", "--quick"])) == (0, 1)
    printed = capsys.readouterr().out
    assert "1 targets, 1 missed" in printed
    assert printed.index("- MISSED: chain: Inline : asyncio: 1.50, target ≤ 1.2") < printed.index("## A step")


@pytest.mark.parametrize(("ratio", "most", "verdict"), [(1.2, 1.2, "met"), (1.21, 1.2, "MISSED"), (9.9, None, "")])
def test_a_target_is_met_up_to_its_bound(ratio: float, most: float | None, verdict: str) -> None:
    assert Row("a step", 1.0, 1.0, ratio, most).verdict == verdict
