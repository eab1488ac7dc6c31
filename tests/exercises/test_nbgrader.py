"""nbgrader takes the source notebooks as they are, in an environment of its own."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from exercises.checker import book
from exercises.checker.verbs import judged
from tests.environments import make_environment
from tests.exercises.answers import ALL, Answers, run_cell

pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("nbgrader")]
each_exercise = pytest.mark.parametrize("answers", ALL, ids=lambda answers: answers.id)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what `nbgrader generate_assignment` hands to students."""
    scratch = tmp_path_factory.mktemp("nbgrader")
    python = make_environment(scratch / "env", "nbgrader>=0.9")
    shutil.copytree(book.SOURCE, scratch / "course" / "source" / "planexec")
    shutil.copy(book.HERE / "teachers" / "nbgrader_config.py", scratch / "course")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    folders = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])  # it calls alembic by its name
    done = subprocess.run(
        [str(python), "-m", "nbgrader", "generate_assignment", "planexec", "--create"],
        cwd=scratch / "course",
        env=kept | {"PATH": path} | {name: str(scratch / "home") for name in folders},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return scratch / "course" / "release" / "planexec"


def cells(released: Path, lesson: str) -> list[dict[str, Any]]:
    (path,) = released.glob(f"{lesson}_*.ipynb")
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


@pytest.mark.parametrize("lesson", book.lessons())
def test_students_get_the_cells_of_our_student_notebook(lesson: str, released: Path) -> None:
    name = book.source_of(lesson).name
    ours = json.loads((book.HERE / name).read_text(encoding="utf-8"))["cells"]
    assert [cell["id"] for cell in cells(released, lesson)] == [cell["id"] for cell in ours]


@each_exercise
def test_no_solution_is_handed_out_and_the_checker_says_not_started(answers: Answers, released: Path) -> None:
    tagged = [
        c for c in cells(released, answers.id[:2]) if {"answer", answers.id} <= set(c["metadata"].get("tags", []))
    ]
    (source,) = ["".join(cell["source"]) for cell in tagged]
    assert "# YOUR CODE HERE" in source
    assert "BEGIN SOLUTION" not in source
    namespace = answers.namespace()
    run_cell(source, namespace)
    assert judged(answers.id, namespace, draw=False).status == "not started"
