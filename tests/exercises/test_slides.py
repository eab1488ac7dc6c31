"""The slides of the lessons: one file each, without a network, and with the outcomes folded."""

import re
from pathlib import Path

import nbformat
import pytest

from exercises.teachers.slides import page_of
from tests.guards.books import LESSONS
from tests.rounds import few

FETCHED = re.compile(r"<(?:script|link|iframe)[^>]+(?:src|href)=|<img[^>]+src=\"(?!data:)|@import|url\((?!%23|#|data:)")


@pytest.mark.slow
@pytest.mark.parametrize("path", few(LESSONS, 3))
def test_slides_hold_the_lesson_need_no_network_and_fold_outcomes(path: Path) -> None:
    page, cells = page_of(path), nbformat.read(path, as_version=4).cells
    texts = [cell for cell in cells if cell.cell_type == "markdown"]
    folded = [cell for cell in cells if cell.metadata.get("jupyter", {}).get("outputs_hidden")]
    assert page.count("<section>") == len(texts)
    assert page.count("<summary>the outcome</summary>") == len(folded)
    assert FETCHED.findall(page) == []
    assert [link for link in re.findall(r'href="([^"#:]+)', page) if link.endswith(".ipynb") and link[0] != "."] == []
