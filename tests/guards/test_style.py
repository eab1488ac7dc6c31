"""Code and notebooks are formatted and linted by ruff; all packages pass mypy --strict."""

import re
from pathlib import Path

import pytest

from tests.guards import books

TEST = re.compile(r"^ *(?:async )?def test_(\w+)", re.M)
pytestmark = pytest.mark.skipif(books.TEXT_ONLY, reason="a newer formatter may format otherwise")


@pytest.mark.parametrize("command", [["ruff", "format", "--check"], ["ruff", "check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(command: list[str], tmp_path: Path) -> None:
    done = books.run("-m", *command, ".", scratch=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_mypy_has_nothing_to_say(tmp_path: Path) -> None:
    done = books.run("-m", "mypy", "--strict", scratch=tmp_path)
    assert done.returncode == 0, done.stdout


LONGEST_NAME = 70  # characters, without the "test_"


def test_a_test_has_a_sentence_for_a_name_that_fits_a_line() -> None:
    named = [
        (path, name) for path in (books.ROOT / "tests").rglob("*.py") for name in TEST.findall(path.read_text("utf-8"))
    ]
    assert len(named) > 1000
    assert [f"{path.name}: {name}" for path, name in named if len(name) > LONGEST_NAME] == []
