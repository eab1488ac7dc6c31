"""Every stored notebook keeps the rules, and every rule notices the notebook that breaks it."""

from pathlib import Path

import nbformat
import pytest

from tests.guards import books
from tests.guards.books import code, displayed, each_notebook, printed, raised, text
from tests.guards.notebook_rules import faults


def test_there_is_a_lesson() -> None:
    assert books.LESSONS, "notebooks/ holds no lesson: the guards below would check nothing"


@each_notebook
def test_notebook_keeps_the_rules(path: Path) -> None:
    assert faults(path) == []


@each_notebook
def test_notebook_is_stored_in_normal_form(path: Path) -> None:
    stored = path.read_text(encoding="utf-8")
    assert stored == books.notebook_tool().normal_form(stored, path.stem), "run `make notebooks`"


GOOD_PICTURE = '<figure><img alt="a graph" src="data:image/svg+xml,%3Csvg%2F%3E"></figure>'
BAD = {
    "never executed": [code("1 + 1")],
    "out of order": [code("1", count=2), code("2", count=1)],
    "counts with a hole": [code("1", count=1), code("2", count=3)],
    "empty": [code(" ", count=1)],
    "no code cell": [text("Only words.")],
    "stderr": [code("x = 1", printed("DeprecationWarning", "stderr"), count=1)],
    "image/png": [code("1", displayed(image__png="aGk=", text__plain="fig"), count=1)],
    "image/jpeg": [code("1", displayed(image__jpeg="aGk=", text__plain="fig"), count=1)],
    "image/svg+xml": [code("1", displayed(image__svg_plus_xml="<svg/>", text__plain="fig"), count=1)],
    "a picture without a text alternative": [
        code("1", displayed(text__html='<img src="a.svg">', text__plain="fig"), count=1)
    ],
    "picture without a text": [code("1", displayed(text__html='<img alt="" src="a">', text__plain="f"), count=1)],
    "without a text alternative": [code("1", count=1), text("![](plan.svg)")],
    "text alternative": [code("1", count=1), text("<img src='plan.svg'>")],
    "inline <svg>": [code("1", displayed(text__html="<svg></svg>", text__plain="fig"), count=1)],
    "HTML without a text form": [code("1", displayed(text__html="<b>hi</b>"), count=1)],
    "a path of the machine": [code("1", printed("/home/ada/plan.json\n"), count=1)],
    "path of the machine": [code("1", printed("C:\\Users\\ada\\plan.json\n"), count=1)],
    "names a path of one machine": [code("open('/Users/ada/plan.json')", count=1)],
    "the address of an object": [code("1", printed("<object object at 0x7f3a2b1c>"), count=1)],
    "installs packages": [code("%pip install openai", count=1)],
    "installs": [code("!pip install openai", count=1)],
    "asks not to be compared": [code("# NBVAL_IGNORE_OUTPUT\n1", count=1)],
    "not to be compared": [code("1", count=1, tags=["nbval-skip"])],
    "raises ValueError": [code("1", raised("ValueError", "no"), count=1)],
}


@pytest.mark.parametrize(("wanted", "cells"), BAD.items(), ids=list(BAD))
def test_bad_notebook_is_named(wanted: str, cells: list[object], tmp_path: Path) -> None:
    report = faults(books.write(tmp_path / "99_bad.ipynb", *cells))
    known = {"counts with a hole": "out of order"}
    assert report, "nothing was noticed"
    assert all(line.startswith("99_bad.ipynb: ") for line in report)
    assert any(known.get(wanted, wanted) in line for line in report), report


def test_good_notebook_has_no_fault(tmp_path: Path) -> None:
    cells = [
        text("See https://example.org/work/plan and `<img>`."),
        code("1 + 1", displayed(text__html=GOOD_PICTURE, text__plain="a graph"), count=1),
        code("1 / 0", raised("ZeroDivisionError", ""), count=2, tags=["raises-exception"]),
    ]
    assert faults(books.write(tmp_path / "98_good.ipynb", *cells)) == []


def test_normal_form_notices_time_stamps_widget_state_and_random_ids(tmp_path: Path) -> None:
    book = nbformat.v4.new_notebook(cells=[code("1", count=1)])
    book.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    book.cells[0].metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    raw = nbformat.writes(book)
    tidy = books.notebook_tool().normal_form(raw, "07_review_plans")
    assert tidy != raw
    assert "widget" not in tidy
    assert "2026" not in tidy
    assert '"id": "review-plans-01"' in tidy
    assert books.notebook_tool().normal_form(tidy, "07_review_plans") == tidy
