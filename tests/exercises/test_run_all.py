"""After Run All, each answer still has the value that its check saw."""

from pathlib import Path
from symtable import symtable

import nbformat
import pytest

from exercises.authors.generate import stored_in


@pytest.mark.parametrize("path", stored_in("solutions"), ids=lambda path: path.stem)
def test_no_later_cell_overwrites_an_answer(path: Path) -> None:
    answers: dict[str, str] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            symbols = symtable(cell.source, cell.id, "exec").get_symbols()
            defined = {one.get_name() for one in symbols if one.is_assigned() and not one.is_imported()}
            overwritten = {name: answers[name] for name in defined & answers.keys()}
            assert not overwritten, f"cell {cell.id} overwrites {overwritten}"
            if "answer" in cell.metadata.get("tags", []):
                answers |= dict.fromkeys(defined, cell.id)
