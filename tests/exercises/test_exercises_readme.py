"""What exercises/README.md says is so."""

import re

import pytest

from exercises import book
from exercises.book import FACTS, HEADING
from tests.guards.books import ROOT

README = (book.HERE / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(\w+\.py|\w+/)`", README))))
def test_every_file_and_folder_that_is_named_exists(name: str) -> None:
    assert (book.HERE / name).exists()


def test_its_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)`", README):
        assert re.search(rf"^{target}:", makefile, re.M)
    for path in re.findall(r"[\w/]+/[\w.]+\.(?:ipynb|py)", README):
        assert (ROOT / path).exists() or (book.HERE / path).exists() or "NN" in path, path


def test_the_heading_that_it_shows_is_read() -> None:
    shown = "\n".join(line[4:] for line in README.splitlines() if line.startswith("    "))
    assert HEADING.search(shown)
    assert FACTS.search(shown)


def test_its_region_becomes_a_stub() -> None:
    (cell,) = re.findall(r"```python\n(def run.*?)```", README, re.S)
    assert book.stub(cell).endswith(book.STUB)
