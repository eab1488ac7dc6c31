"""The lessons run against a real endpoint: other valid answers, no temperature, and no cell fails."""

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from nbclient import NotebookClient

from planexec_lab.connect import connect
from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner
from planexec_lite.assembly import Board
from tests.guards.books import notebook_tool
from tests.lessons import endpoint

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
CONNECTS = re.compile(r"(?<!\.)(?:connect|endpoint)\(")


@pytest.fixture
def real(monkeypatch):
    monkeypatch.setenv("PLANEXEC_NOBODY", str(os.getpid()))  # nobody sits before the kernels of this process
    with endpoint.serve() as (url, requests):
        monkeypatch.setenv("PLANEXEC_LLM", url)
        monkeypatch.setenv("PLANEXEC_PLANNER_MODEL", "another-model")
        yield requests


@pytest.mark.slow
def test_a_planner_asks_again_without_the_temperature_that_the_endpoint_refuses(real):
    plan = LLMPlanner(connect("arithmetic")).plan(arithmetic.GOAL, Board(), arithmetic.TOOLS)
    assert [step.tool for step in plan.steps] == ["subtract", "multiply", "divide"]
    asked = [("temperature" in request, request["model"]) for request in real]
    assert asked == [(True, "another-model"), (False, "another-model")]


def round_of(path):
    """A lesson that never asks the endpoint runs as in every other test, so it is opened here once a week."""
    return pytest.mark.wide if CONNECTS.search(path.read_text(encoding="utf-8")) else pytest.mark.weekly


@pytest.mark.notebooks
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=round_of(path)) for path in LESSONS],
)
def test_no_cell_fails_on_other_valid_answers(path, real):
    book = nbformat.read(path, as_version=4)
    asks = any(CONNECTS.search(cell.source) for cell in book.cells if cell.cell_type == "code")
    with TemporaryDirectory() as folder:
        options = {"config": notebook_tool().transport(folder), "resources": {"metadata": {"path": path.parent}}}
        NotebookClient(book, timeout=600, startup_timeout=600, kernel_name="python3", **options).execute()
    assert bool(real) == asks
