"""The whole bench on tiny plans: all tables, all verdicts, the pictures, and the names of those who are missing."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.bench import __main__ as bench
from tests.bench import pictures
from tests.bench.effort import FULL, QUICK, Effort
from tests.bench.elsewhere import DASK, OURS, PACKAGE_OF, PLAIN, Found
from tests.bench.frameworks import FRAMEWORKS
from tests.bench.journalled import SAVER, saver_rows
from tests.bench.report import COMPARED, Part, Report, frameworks
from tests.bench.timing import Row

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bench report")]
measured = pytest.mark.weekly  # everything is measured for it, once and small
TINY = Effort(
    {10: 1, 20: 1}, {"10": 1}, 1, 0.02, (20, 1), (20, 1), (10, 20, 1), (10, 20, 1), 20, (1, 1), 1, (10, 1), (60, 1)
)
SECTIONS = [
    "Real time beside the critical path",
    "A step, beside plain peers",
    "Large plans, on the wall",
    "Growth of the cost of a step",
    "Retries with backoff",
    "A run that is written down",
    "What the promises about calls cost",
    "The cost of validation",
    "Parse and validate: growth of the cost of a step",
    "Memory: the peak of a fresh process",
    "Memory: what a run allocates at its peak",
    "Import",
    "A large run that is watched",
    "The scripted model, a call",
    "Who is compared, and what each does not do",
]


@pytest.fixture(scope="module")
def report() -> Report:
    return bench.measure(TINY, None)


def slower(times_ours: float) -> Found:
    """What the frameworks would give if each took so many times as long as ours."""
    times = {OURS: [0.01], PLAIN: [0.008], **{name: [0.01 * times_ours] for name in FRAMEWORKS}}
    return Found(overhead={shape: {"1000": times} for shape in ("chain", "fan-out", "layered", "random")})


@measured
def test_the_report_has_every_table_with_rows(report: Report) -> None:
    text = report.text()
    assert re.findall(r"^## (.*)$", text, re.M) == SECTIONS
    assert all(part.rows for part in report.parts)


@measured
def test_the_report_names_every_framework_that_is_missing_and_why(report: Report) -> None:
    for name in (*PACKAGE_OF, SAVER):
        assert f"- {name}: no folder for its environment was given (--peers FOLDER)" in report.text()


def test_everybody_who_is_compared_is_described() -> None:
    assert {*FRAMEWORKS, SAVER} <= set(COMPARED)
    assert set(FRAMEWORKS) == set(PACKAGE_OF)
    assert PLAIN in COMPARED


@measured
def test_report_and_pictures_are_written_to_the_folder_of_the_caller(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path / "new" / "folder")
    written = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert written == {"report.md", "makespan.svg", "growth.svg", "validation.svg"}
    named = set(
        re.findall(r"\]\((.*?\.svg)\)", (tmp_path / "new" / "folder" / "report.md").read_text(encoding="utf-8"))
    )
    assert named == written - {"report.md"}


def test_a_missed_target_stands_at_the_top_and_makes_a_strict_run_fail(
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
    assert "- MISSED: chain: Inline : asyncio: 1.50, target ≤ 1.2" in printed
    assert printed.index("- MISSED") < printed.index("## A step")


def test_a_busy_machine_is_named_in_the_report() -> None:
    assert "the figures are noisy" in Report(load=(64.0, 64.0)).text()
    assert "noisy" not in Report(load=(0.0, 2.0)).text()


@pytest.mark.parametrize(("times_ours", "verdict"), [(26.0, "met"), (24.0, "MISSED")])
def test_langgraph_is_held_to_25_times_ours_on_every_shape(times_ours: float, verdict: str) -> None:
    judged = {row.what: row.verdict for row in frameworks(slower(times_ours)) if row.target}
    assert len(judged) == 8
    assert set(judged.values()) == {verdict}


@pytest.mark.parametrize(("times_ours", "verdict"), [(26.0, "met"), (24.0, "MISSED")])
def test_langgraph_with_checkpoints_is_held_to_25_times_ours(times_ours: float, verdict: str) -> None:
    taken = {"Simulated": [0.1], "Inline": [0.2], SAVER: [0.1 * times_ours]}
    rows = saver_rows({"on the wall": taken, "processor time": taken}, 1000)
    assert [row.verdict for row in rows] == [verdict, "", "", ""]
    assert not any(row.target for row in saver_rows({"on the wall": taken}, 100))


def test_the_same_numbers_give_the_same_picture_and_all_of_them_stand_in_it() -> None:
    one, other = pictures.overhead(slower(40.0)), pictures.overhead(slower(40.0))
    assert one == other
    words = ["".join(text.itertext()) for text in ElementTree.fromstring(one).iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("400") == 4 * len(FRAMEWORKS)
    assert {OURS, PLAIN, *FRAMEWORKS, "chain", "fan-out", "layered", "random"} <= set(words)
    assert any("at least 40 × " in word for word in words)


@measured
def test_no_text_of_a_picture_leaves_its_plate_or_covers_another(report: Report) -> None:
    drawn = [part.picture[1] for part in report.parts if part.picture] + [pictures.overhead(slower(40.0))]
    assert len(drawn) == 4
    for svg in drawn:
        boxes = texts(svg)
        for left, right, y, words in boxes:
            assert left >= 0, words
            assert right <= 720, words
            others = [box for box in boxes if box[2] == y and box[3] != words]
            assert not [box[3] for box in others if box[0] < right and left < box[1]], words


def texts(svg: str) -> list[tuple[float, float, float, str]]:
    """Left, right and baseline of every text, with its words."""
    from planexec_lab.views.drawing.text_fitting import width

    boxes = []
    for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        words, x, size = "".join(text.itertext()), float(text.get("x", 0)), float(text.get("font-size", 0))
        wide = width(words, size, bold=any(span.get("font-weight") for span in text))
        left = x - {"end": wide, "middle": wide / 2}.get(text.get("text-anchor", ""), 0)
        boxes.append((left, left + wide, float(text.get("y", 0)), words))
    return boxes


def test_where_dask_ran_apart_the_plain_peer_stands_in_the_table_once() -> None:
    beside_dask = Found(overhead={"chain": {"1000": {OURS: [0.01], PLAIN: [0.02], DASK: [1.0]}}})
    others = Found(overhead={"chain": {"1000": {OURS: [0.01], PLAIN: [0.008], "LangGraph, graph": [0.3]}}})
    rows = [row.what for one in (others, beside_dask) for row in frameworks(one)]
    assert rows == [f"chain, 1,000 steps: {name} : ours" for name in (PLAIN, "LangGraph, graph", DASK)]
