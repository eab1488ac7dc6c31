"""Make the learner's and the solution notebooks: `python -m exercises.authors.generate [PART-OF-A-NAME ...]`.

The source is formatted and run first; then both forms are written, formatted and run by the same tool. `derived` alone
is the comparison that the tests make: what the two forms must hold, without outputs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from exercises.authors import overview
from exercises.checker import book

ROOT = book.HERE.parent
FORMS = ("student", "solutions")
OURS = ("wrong-answer", "alternative", "equivalent")  # cells that stay in the source


def folder_of(form: str) -> Path:
    """The folder of the notebooks of a form."""
    return book.HERE if form == "student" else book.HERE / "authors" / form


def stored_in(form: str) -> list[Path]:
    """The stored notebooks of a form."""
    return sorted(folder_of(form).glob("[0-9][0-9]_*.ipynb"))


def student(cell: dict[str, Any]) -> list[str]:
    """The source of a cell in the student form, in lines. Its notebook is two folders higher than the source."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return _lines(_marked(source).replace("](../../../", "](../"))
    return _lines(book.stub(source) if _is_answer(cell) else source)


def solutions(cell: dict[str, Any]) -> list[str]:
    """The source of a cell in the solution form, in lines."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return _lines(_marked(source))
    return _lines(book.solved(source) if _is_answer(cell) else source)


def _marked(text: str) -> str:
    """The text of an exercise, with a note if it is on the core path."""
    heading = book.HEADING.search(text)
    core = heading is not None and heading[1] in book.CORE
    return (
        book.FACTS.sub(lambda line: line[0][:-1] + " · core path*", text) if core else text
    )


def derived(source: Path, form: str) -> dict[str, Any]:
    """A source notebook in the student or the solution form, with no outputs."""
    notebook: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    written = {"student": student, "solutions": solutions}[form]
    kept = [cell for cell in notebook["cells"] if not set(OURS) & set(_tags(cell))]
    predictions = {facts.id for facts in book.read_facts(source) if facts.kind == "predict"}
    for cell in kept:
        cell["metadata"] = _folded(cell, form, predictions)
        cell["source"] = written(cell)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    notebook["cells"] = kept
    return notebook


def _folded(cell: dict[str, Any], form: str, predictions: set[str]) -> dict[str, Any]:
    """The metadata of a cell: solutions fold the answer of a prediction, and the verdict on it; a student's cells are open."""
    metadata = {key: value for key, value in cell["metadata"].items() if key != "jupyter"}
    if form == "student":
        return metadata
    if _is_answer(cell) and predictions & set(_tags(cell)):
        return metadata | {"jupyter": {"source_hidden": True}}
    return dict(cell["metadata"])


def faults(form: str, folder: Path) -> list[str]:
    """The notebooks of a form that are not what the source gives, also those too many and too few. `folder` is for drafts."""
    sources = sorted(book.SOURCE.glob("*.ipynb"))
    for path in sources:
        _write(folder / path.name, derived(path, form))
    _ruff(folder)
    wanted = {path.name: _cells(folder / path.name) for path in sources}
    stored = {path.name: _cells(path) for path in stored_in(form)}
    return sorted(name for name in wanted | stored if wanted.get(name) != stored.get(name))


def main(names: list[str]) -> int:
    """Write the notebooks whose names hold one of `names`, all of them without names."""
    sources = [
        path
        for path in sorted(book.SOURCE.glob("*.ipynb"))
        if not names or any(n in path.name for n in names)
    ]
    if not sources:
        print("No source notebook has such a name.")
        return 1
    if code := _executed(sources):
        return code
    overview.write()
    made = []
    with tempfile.TemporaryDirectory() as scratch:
        for form in FORMS:
            drafts = Path(scratch) / form
            drafts.mkdir()
            for path in sources:
                _write(drafts / path.name, derived(path, form))
            _ruff(drafts)
            folder_of(form).mkdir(exist_ok=True)
            for path in sources:
                made.append(folder_of(form) / path.name)
                made[-1].write_bytes((drafts / path.name).read_bytes())
    if not names:
        for form in FORMS:
            for path in stored_in(form):
                if path not in made:
                    path.unlink()
                    print(f"{path.relative_to(ROOT)}: removed, it has no source")
    return _executed(made)


def _executed(paths: list[Path]) -> int:
    """Run notebooks in place and bring them into normal form."""
    tool = [sys.executable, str(ROOT / ".ci" / "notebooks.py"), *map(str, paths)]
    return subprocess.run(tool, cwd=ROOT, check=False).returncode


def _ruff(folder: Path) -> None:
    config = [
        "--config",
        str(ROOT / "exercises" / ".ruff.toml"),
        "--quiet",
        "--no-cache",
        str(folder),
    ]
    for command in (["check", "--select", "I", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *config], check=True)


def _write(path: Path, notebook: dict[str, Any]) -> None:
    path.write_text(
        json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n",
        encoding="utf-8",
    )


def _cells(path: Path) -> list[tuple[str, str, dict[str, Any], str]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [
        (cell["id"], cell["cell_type"], cell["metadata"], "".join(cell["source"]))
        for cell in notebook["cells"]
    ]


def _tags(cell: dict[str, Any]) -> list[str]:
    return list(cell["metadata"].get("tags", []))


def _is_answer(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "code" and "answer" in _tags(cell)


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
