"""Coding tasks in the lessons: unsolved they say "not yet", the answer in `exercises/authors/reveals` is right."""

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from exercises import attempt
from exercises.authors import reveals
from exercises.checker.tasks import _more
from planexec_lite.run.events import StepDone
from tests.guards.books import APPENDIX, LESSONS

WRONG = yaml.safe_load(Path(__file__).with_name("wrong_tasks.yaml").read_text(encoding="utf-8"))


def said(capsys: pytest.CaptureFixture[str], function: Any, *cases: tuple[Any, ...]) -> str:
    attempt(function, cases)
    return capsys.readouterr().out


def test_the_first_difference_or_exception_is_shown(capsys: Any) -> None:
    def twice(a: int) -> int:
        return 2 * a

    assert said(capsys, twice, (1, 2), (2, 4)) == "right: 2 of 2 cases\n"
    assert said(capsys, twice, (1, 2), (2, 5)) == "not yet: twice(2) returned 4; expected 5\n"
    assert said(capsys, twice, (1, True)).startswith("not yet: ")

    def take(items: list[int]) -> int:
        return items.pop()

    def done(events: list[StepDone]) -> None:
        del events

    event = StepDone(at=60.0, step="1", result={"passed": 4}, seconds=60.0)
    assert said(capsys, done, ([event], "1")) == "not yet: done([StepDone(…)]) returned None; expected '1'\n"

    cases = [([3], 3), ([], 0)]
    assert said(capsys, take, *cases) == "not yet: take([]) raised IndexError: pop from empty list\n"
    assert cases[0] == ([3], 3)


def with_task() -> list[Any]:
    """The lessons and pages that have a coding task, with the place of its check."""
    found = []
    for path in [*LESSONS, *APPENDIX]:
        cells = nbformat.read(path, as_version=4).cells
        checks = [n for n, cell in enumerate(cells) if cell.cell_type == "code" and "attempt(" in cell.source]
        found += [pytest.param(path, n, id=path.stem) for n in checks]
    return found


def needed(cells: list[str], source: str) -> list[str]:
    """The cells that import or define what the source reads, directly or through each other."""
    reads, chosen = names(source, ast.Load), list[str]()
    for cell in reversed(cells):
        if reads & names(cell, ast.Store):
            chosen.append(cell)
            reads |= names(cell, ast.Load)
    return chosen[::-1]


def names(source: str, context: type[ast.expr_context]) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        elif context is ast.Store and isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {one.asname or one.name.partition(".")[0] for one in node.names}
        elif context is ast.Store and isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
    return found


def test_each_further_case_belongs_to_a_task_that_tells_the_first_ones() -> None:
    cells = [cell.source for path in [*LESSONS, *APPENDIX] for cell in nbformat.read(path, as_version=4).cells]
    stubs = {name for name in _more() if any(f"def {name}(" in source for source in cells)}
    assert stubs == _more().keys()
    assert all(any(f"attempt({name}," in "".join(source.split()) for source in cells) for name in stubs)


@pytest.mark.notebooks
@pytest.mark.parametrize(("path", "place"), with_task())
def test_a_task_is_unsolved_its_answer_is_right_and_wrong_ones_are_not(path: Path, place: int) -> None:
    cells = nbformat.read(path, as_version=4).cells
    assert cells[place].outputs[0].text.startswith("not yet: ")
    answer = re.search(r"```python\n(.*?)```", reveals.sections(path.name.partition("_")[0])["task"], re.S)
    assert answer is not None
    names = {node.name for node in ast.parse(answer[1]).body if isinstance(node, ast.FunctionDef)}
    assert any(f"def {name}(" in cells[place - 1].source for name in names), "the stub is in the cell above the check"
    before: dict[str, Any] = {}
    sources = [cell.source for cell in cells[:place] if cell.cell_type == "code"]
    wrong = WRONG.get(path.name.partition("_")[0], {})
    with contextlib.redirect_stdout(io.StringIO()):
        for source in needed(sources, "\n".join([answer[1], *wrong.values(), cells[place].source])):
            with contextlib.suppress(Exception):  # a cell may show an error, or wait for a button
                exec(source, before)

    def judged(cell: str) -> str:
        namespace, printed = dict(before), io.StringIO()
        exec(cell, namespace)
        with contextlib.redirect_stdout(printed):
            exec(cells[place].source, namespace)
        return printed.getvalue()

    assert judged(answer[1]).startswith("right: ")
    told = re.search(r"attempt\((\w+),", cells[place].source)
    assert told is not None
    other = f"{told[1]} = (lambda own: lambda *given: own(*given))({told[1]})"
    assert told[1] == "bookings" or judged(f"{answer[1]}\n{other}") == judged(answer[1]), "a lambda has the same cases"
    accepted = [why for why, cell in wrong.items() if not judged(cell).startswith("not yet: ")]
    assert accepted == []
