"""Tests that share something costly are kept on one worker."""

from pathlib import Path

import pytest

from tests.guards import books

GROUP = """
import os

import pytest


@pytest.mark.parametrize("n", range(8))
@pytest.mark.xdist_group("together")
def test_one(n):
    with open("workers", "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


@pytest.mark.slow
def test_a_group_of_tests_is_done_by_one_worker(tmp_path: Path) -> None:
    (tmp_path / "test_group.py").write_text(GROUP, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    done = books.run("-m", "pytest", "-n", "3", "--dist", "loadgroup", tmp_path, scratch=tmp_path, cwd=tmp_path)
    assert "8 passed" in done.stdout
    workers = (tmp_path / "workers").read_text(encoding="utf-8").split()
    assert len(workers) == 8
    assert len(set(workers)) == 1
