"""The capstone: each part is right with our program and only with it, and nothing looks passed without an answer."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from exercises.checker import book
from exercises.checker.exercise import of_lesson
from exercises.checker.verbs import Outcome, judged
from tests.exercises.answers import run_cell
from tests.rounds import few

PARTS = list(of_lesson("capstone"))
PARTS.sort(key=lambda id: int(id.partition(".")[2]))
SOURCE = {id: book.part(id) or "" for id in PARTS}
PROGRAM = (book.HERE / "capstone" / "program.py").read_text(encoding="utf-8")
NOTEBOOK = json.loads((book.HERE / "capstone.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in NOTEBOOK if cell["cell_type"] == "code"]
each_part = pytest.mark.parametrize("id", PARTS)


def outcome(id: str, *cells: str) -> Outcome:
    """The verdict on a part in a namespace in which these cells have run."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        ended = run_cell(cell, namespace)
        assert ended.error is None, ended.error
    return judged(id, namespace)


def until(id: str, last: int = 0) -> list[str]:
    return [SOURCE[part] for part in PARTS[: PARTS.index(id) + 1 + last]]


@each_part
def test_each_part_is_right_with_our_program_and_not_without_an_answer(id: str) -> None:
    assert outcome(id, *until(id)).status == "right", outcome(id, *until(id)).text
    stubs = [cell for cell in CODE if "NotImplementedError" in cell]
    assert outcome(id).status == outcome(id, *stubs).status == "not started"
    (stored,) = [cell for cell in NOTEBOOK if "".join(cell["source"]).startswith(f'check("{id}")\n')]
    assert "".join(stored["outputs"][0]["text"]).startswith(f"{id} · Not started")


CHANGES = yaml.safe_load(Path(__file__).with_name("capstone_changes.yaml").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("change", few(CHANGES, 12), ids=lambda change: f"{change['part']}: {change['new'][:30]}")
def test_a_changed_program_is_noticed(change: dict[str, str]) -> None:
    *before, last = until(f"capstone.{change['part']}")
    assert last.count(change["old"]) == 1, "our part contains the text once"
    changed = last.replace(change["old"], change["new"])
    assert outcome(f"capstone.{change['part']}", *before, changed).status in ("wrong", "raised")


def definitions(source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = ast.dump(node)
        elif not isinstance(node, ast.Expr):
            found[getattr(node, "name", ast.unparse(node))] = ast.dump(node)
    return found


def test_the_program_is_the_sum_of_its_parts_and_short() -> None:
    assert definitions("\n".join(SOURCE.values())) == definitions(PROGRAM)
    assert sum(bool(line.strip()) for line in PROGRAM.splitlines()) <= 120
