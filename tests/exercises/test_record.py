"""The learner's progress: where its file is, that no content of the file does harm, and that two kernels can write it."""

import json
import re
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from exercises.checker import book, record
from exercises.checker.exercise import Unknown

ODD_FILES = {
    "a list for a status": '{"01.1": ["right"]}',
    "a number for a status": '{"01.1": 7}',
    "a notebook": '{"cells": [], "metadata": {}, "nbformat": 4}',
    "a text": '"right"',
    "half a file": '{"01.1": "ri',
    "nothing": "",
    "a deep one": "[" * 100_000,
    "a guess that is none": '{"guess 01.1": {"verdict": "?"}}',
}
WRITING = "import sys; from exercises.checker import record; [record.remember(sys.argv[1] + str(n), 'right') for n in range(80)]"


def test_what_is_right_stays_right_and_what_is_not_started_is_not_kept(file: Path) -> None:
    record.remember("01.1", "not started")
    assert not file.exists()
    for status, known in [("wrong", "wrong"), ("right", "right"), ("raised", "right")]:
        record.remember("01.1", status)
        assert record.known() == {"01.1": known}
    assert "1 of 4 right" in record.board("01").text
    assert "✓ right" in record.board("01").text
    assert getattr(record.unsolved("01"), "id", "") == "01.2"


def test_the_board_follows_each_path_of_the_readme(file: Path) -> None:
    readme = (book.HERE.parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*\*(.+?)\*\* \|.*?\| (\d[\d, ]+) \|", readme, re.M)
    assert len(rows) == len(book.PATHS)
    for (title, lessons), (name, path) in zip(rows, book.PATHS.items(), strict=True):
        assert title.lower().endswith(name)
        assert lessons.split(", ") == ["00", *path.split()]
        ids = [one.id for one in record.exercises(name)]
        assert {id[:2] for id in ids} <= {*path.split()}
        assert f"{name.capitalize()}: 0 of {len(ids)} right" in record.board(name).text
        assert getattr(record.unsolved(name), "id", "") == ids[0]
    for one in record.exercises("one week"):
        record.remember(one.id, "right")
    assert record.unsolved("one week") is None
    assert getattr(record.unsolved("six sessions"), "id", "") == "01.2"
    with pytest.raises(Unknown, match="no lesson or path 'week'"):
        record.board("week")


@pytest.mark.parametrize("text", ODD_FILES.values(), ids=ODD_FILES)
def test_a_file_of_something_else_counts_as_empty_and_progress_goes_on(text: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    assert record.known() == {}
    record.remember("01.2", "wrong")
    assert json.loads(file.read_text(encoding="utf-8")) == record.known() == {"01.2": "wrong"}


def test_a_file_that_can_not_be_written_is_no_obstacle(file: Path) -> None:
    file.parent.touch()
    record.remember("01.3", "right")
    assert record.known() == {"01.3": "right"}


@pytest.mark.slow
def test_the_file_is_never_half_written_though_two_kernels_write_it(file: Path) -> None:
    looks = []
    with ExitStack() as stack:
        commands = ([sys.executable, "-c", WRITING, name] for name in ("a", "b"))
        kernels = [stack.enter_context(subprocess.Popen(command, cwd=book.HERE.parent)) for command in commands]
        while None in [kernel.poll() for kernel in kernels]:
            if file.exists():
                looks.append(file.read_text(encoding="utf-8"))
            time.sleep(0.001)
    assert all(isinstance(json.loads(look), dict) for look in looks)
    assert [kernel.returncode for kernel in kernels] == [0, 0]
    assert set(record.known().values()) == {"right"}
    assert [one.name for one in file.parent.iterdir()] == ["progress.json"]


@pytest.mark.parametrize("folder", [".", "exercises", "exercises/authors", "notebooks"])
@pytest.mark.parametrize("solutions", ["source", "solutions"])
def test_where_progress_is_kept(folder: str, solutions: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PLANEXEC_PROGRESS")
    for name in (folder, f"exercises/authors/{solutions}", "solutions"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / folder)
    assert record.place() == book.HERE / "progress.json", "outside of any checkout"
    (tmp_path / "exercises" / "checker").mkdir()
    (tmp_path / "exercises" / "checker" / "record.py").touch()
    assert record.place() == tmp_path / "exercises" / "progress.json"
    monkeypatch.chdir(tmp_path / "exercises" / "authors" / solutions)
    assert record.place() is None, "running a solution is not solving"
    monkeypatch.chdir(tmp_path / "solutions")
    assert record.place() is not None, "a folder of the learner's own can have that name"
