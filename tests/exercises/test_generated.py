"""The student and solution notebooks are what their source gives, and are stored as a fresh learner meets them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from exercises.authors import overview
from exercises.authors.generate import FORMS, faults, folder_of
from exercises.checker import book, verbs
from tests.exercises.answers import ALL, run_cell

COLUMNS, LINES, WORDS = 92, 20, 120
SOURCES = sorted(book.SOURCE.glob("*.ipynb"))
each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)


def cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def printed(cell: dict[str, Any]) -> str:
    return "".join("".join(output.get("text", [])) for output in cell.get("outputs", []))


@pytest.mark.parametrize("form", FORMS)
def test_the_stored_notebooks_are_what_the_source_gives(form: str, tmp_path: Path) -> None:
    assert faults(form, tmp_path) == [], "run `make exercises`"


@each_source
def test_predictions_are_folded_minutes_stated_and_the_board_fills_up(path: Path) -> None:
    predictions = {facts.id for facts in book.facts(path.name[:2]) if facts.kind == "predict"}
    checks = [f'check("{id}")' for id in predictions]
    for form in ("source", "solutions"):
        for cell in cells(folder_of(form) / path.name):
            folds = cell["metadata"].get("jupyter", {})
            if "".join(cell["source"]).split("\n")[0] in checks:
                assert folds == {"outputs_hidden": True}, f"{form}: {cell['id']} shows the outcome"
            if form == "solutions" and predictions & set(cell["metadata"].get("tags", [])):
                assert folds == {"source_hidden": True}, f"{form}: {cell['id']} shows the answer"
    assert not [cell["id"] for cell in cells(book.HERE / path.name) if "jupyter" in cell["metadata"]]
    lesson = path.name[:2]
    count = len(book.facts(lesson))
    for form, right in (("student", 0), ("solutions", count), ("source", count)):
        last = cells(folder_of(form) / path.name)[-1]
        code = [cell for cell in cells(folder_of(form) / path.name) if cell["cell_type"] == "code"]
        if "".join(last["source"]) != f'progress("{lesson}")':
            last = code[-1]
        assert "".join(last["source"]) == f'progress("{lesson}")'
        shown = "".join(last["outputs"][0]["data"]["text/plain"])
        assert shown.startswith(f"Lesson {lesson}: {right} of {count} right"), shown
    (stated,) = re.findall(r"(\d+) minutes", book.cells(path)[0].source)
    assert int(stated) == sum(facts.minutes for facts in book.facts(path.name[:2]))


@pytest.mark.parametrize("form", FORMS)
@each_source
def test_what_a_learner_meets_fits_into_the_window(path: Path, form: str) -> None:
    for cell in cells(folder_of(form) / path.name):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            assert len(source.replace(" · core path", "").split()) <= WORDS, f"{cell['id']} takes long to read"
            assert re.findall(r"\b(?:simply|obviously|easy|easily)\b|\w!", source, re.I) == []
            continue
        assert len(source.splitlines()) <= LINES, f"{cell['id']} is long"
        wide = [line for line in [*source.splitlines(), *printed(cell).splitlines()] if len(line) > COLUMNS]
        assert wide == [], f"{cell['id']} runs off"


STUBS = yaml.safe_load(Path(__file__).with_name("stubs.yaml").read_text("utf-8"))


@pytest.mark.parametrize("cell", STUBS, ids=lambda cell: cell["name"])
def test_a_region_becomes_a_stub_or_the_solution(cell: dict[str, str]) -> None:
    assert book.stub(cell["source"]) == cell["student"]
    assert book.solved(cell["source"]) == cell["solution"]


def test_pages_state_the_numbers_and_link_every_notebook() -> None:
    assert book.FILE.read_text(encoding="utf-8") == overview.summary(), "run `make exercises`"
    assert [page.name for page, text in overview.pages().items() if page.read_text(encoding="utf-8") != text] == [], (
        "run `make exercises`"
    )
    linked = set(re.findall(r"\]\((\w+\.ipynb)\)", (book.HERE / "README.md").read_text(encoding="utf-8")))
    assert linked == {path.name for path in book.HERE.glob("*.ipynb")}


def test_without_the_sources_an_answer_is_still_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "source_of", lambda lesson: tmp_path / f"{lesson}.ipynb")
    assert book.answer("01.2") is None
    for answers in {answers.id[:2]: answers for answers in reversed(ALL)}.values():  # the first one of each lesson
        namespace = answers.namespace()
        run_cell(book.given(answers.id) or "", namespace)
        assert verbs.judged(answers.id, namespace, draw=False).status == "not started", answers.id
