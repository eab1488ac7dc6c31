"""How the tests are spread over workers: what shares something costly stays together, and what stands still or dies is red."""

import re
import tomllib
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


ENDINGS = """
import os
import threading
import time

import pytest


@pytest.mark.parametrize("n", range(40))
def test_others(n):
    time.sleep(0.05)


def test_stands_still():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def test_dies():
    os._exit(1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("one", ["stands_still", "dies"])
def test_a_test_that_stands_still_or_dies_is_red_by_its_name(one: str, tmp_path: Path) -> None:
    own = tomllib.loads((books.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert own["faulthandler_timeout"] < 1_000
    exits = str(own["faulthandler_exit_on_timeout"]).lower()
    (tmp_path / "test_ending.py").write_text(ENDINGS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\nfaulthandler_timeout = 3\nfaulthandler_exit_on_timeout = {exits}\n", encoding="utf-8"
    )
    makefile = (books.ROOT / "Makefile").read_text(encoding="utf-8")
    (options,) = re.findall(r"^PYTEST = .* -m pytest -n auto (.*)$", makefile, re.MULTILINE)
    some = ["-m", "pytest", "-n", "2", *options.split(), "-k", f"others or {one}", tmp_path]
    done = books.run(*some, scratch=tmp_path, cwd=tmp_path, timeout=300)
    assert f"crashed while running 'test_ending.py::test_{one}'" in done.stdout
    assert done.returncode
