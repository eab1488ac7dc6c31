"""nbgrader takes the source notebooks as they are, in an environment of its own, and grades them."""

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from exercises.checker import book
from exercises.checker.verbs import judged
from exercises.grade import __main__ as command
from exercises.grade.lessons import tasks
from tests.environments import make_environment
from tests.exercises.answers import of_lesson, run_cell
from tests.guards.books import ROOT

LOOPBACK = True  # kernels listen there
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("nbgrader")]
KIT = (ROOT, ROOT / "distributions" / "mock-llm", f"{ROOT / 'distributions' / 'planexec-lab'}[notebooks]")
CYCLE = "lesson-01"
CONFIG = """
c.CourseDirectory.course_id = "planexec"
c.Exchange.root = "{exchange}"
"""


class Course:
    def __init__(self, scratch: Path) -> None:
        self.folder, self.home = scratch / "course", scratch / "home"
        (scratch / "exchange").mkdir(mode=0o777)
        (scratch / "exchange").chmod(0o777)
        self.home.mkdir()
        kit = [part for path in KIT for part in ("-e", str(path))]
        self.python = make_environment(scratch / "env", "nbgrader>=0.9", *kit)
        shutil.copytree(book.SOURCE, self.folder / "source" / "planexec")
        (lesson,) = book.SOURCE.glob("01_*.ipynb")
        (self.folder / "source" / CYCLE).mkdir()
        shutil.copy(lesson, self.folder / "source" / CYCLE)
        config = (book.HERE / "teachers" / "nbgrader_config.py").read_text(encoding="utf-8")
        (self.folder / "nbgrader_config.py").write_text(config + CONFIG.format(exchange=scratch / "exchange"))

    def run(self, *words: str) -> None:
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        folders = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
        path = os.pathsep.join([str(self.python.parent), os.environ.get("PATH", "")])  # it calls alembic by its name
        done = subprocess.run(
            [str(self.python), "-m", "nbgrader", *words],
            cwd=self.folder,
            env=kept | {"PATH": path} | {name: str(self.home) for name in folders},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = Course(tmp_path_factory.mktemp("nbgrader"))
    for assignment in ("planexec", CYCLE):
        course.run("generate_assignment", assignment, "--create")
    return course


def cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


@pytest.mark.parametrize("lesson", book.lessons())
def test_students_get_our_student_notebook_which_is_not_started(lesson: str, course: Course) -> None:
    name = book.source_of(lesson).name
    released = cells(course.folder / "release" / "planexec" / name)
    assert [cell["id"] for cell in released] == [cell["id"] for cell in cells(book.HERE / name)]
    for answers in of_lesson(lesson).values():
        (source,) = ["".join(cell["source"]) for cell in released if answers.id in cell["metadata"].get("tags", [])]
        assert ("# YOUR CODE HERE" in source, "BEGIN SOLUTION" in source) == (True, False)
        namespace = answers.namespace()
        run_cell(source, namespace)
        assert judged(answers.id, namespace, draw=False).status == "not started"


def test_nbgrader_s_own_cycle_gives_points_and_feedback_as_our_grader_does(course: Course, tmp_path: Path) -> None:
    for word in ("release_assignment", "fetch_assignment"):
        course.run(word, CYCLE)
    (path,) = (course.folder / CYCLE).glob("*.ipynb")
    answers = {id: task.right[0] for id, task in tasks("01").items()} | {"01.4": tasks("01")["01.4"].control}
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if "answer" in (tags := cell["metadata"].get("tags", [])):
            cell["source"] = next(answers[tag] for tag in tags if tag in answers)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    for word in ("submit", "collect", "autograde", "generate_feedback"):
        course.run(word, CYCLE)
    course.run("export", "--to", str(tmp_path / "nbgrader.csv"))
    with (tmp_path / "nbgrader.csv").open(newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if row["assignment"] == CYCLE]
    points = {id: task.points for id, task in tasks("01").items()}
    assert float(row["max_score"]) == sum(points.values()) > 0
    assert float(row["score"]) == sum(points.values()) - points["01.4"]
    (page,) = (course.folder / "feedback" / row["student_id"] / CYCLE).glob("*.html")
    assert "01.4 · Wrong" in page.read_text(encoding="utf-8")

    assert command.main([str(course.folder / "submitted"), "-o", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "totals.csv").open(newline="") as file:
        (ours,) = csv.DictReader(file)
    assert (ours["student"], float(ours["points"])) == (row["student_id"], float(row["score"]))
