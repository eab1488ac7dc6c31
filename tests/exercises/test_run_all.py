"""After Run All, each answer still has the value that its check saw."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest

from exercises.checker import book


def assigned(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        else:
            stored = (part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
            names |= {part.id for part in stored}
    return names


@pytest.mark.parametrize(
    "path", sorted((book.HERE / "authors" / "solutions").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_no_later_cell_overwrites_an_answer(path: Path) -> None:
    answers: dict[str, str] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            names, tags = assigned(cell.source), cell.metadata.get("tags", [])
            taken = {name: answers[name] for name in names & answers.keys()}
            assert not taken, f"cell {cell.id} overwrites {taken}"
            if "answer" in tags:
                answers |= dict.fromkeys(names, cell.id)
