"""Read the source notebooks: their exercises, and the three forms of an answer (source, student, solution).

A region between `# BEGIN SOLUTION` and `# END SOLUTION` is the answer: the solution form keeps it without the markers,
the student form has a stub instead. A commented-out region between `# BEGIN BROKEN` and `# END BROKEN` is the code
that the student form shows for repair.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
SOURCE = HERE / "authors" / "source"
STUB = "...  # your code goes here"
VALUE = "...  # your answer goes here"
HEADING = re.compile(r"^## (\w+\.\w+) · (.+)$", re.M)
FACTS = re.compile(
    r"^\*(Predict|Complete|Repair|Design) · difficulty ([1-5]) of 5 · (5|10|20) minutes · about (\d+) lines?\*$", re.M
)


@dataclass(frozen=True)
class Cell:
    """A cell: its kind ("code" or "markdown"), its tags and its source."""

    kind: str
    tags: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Facts:
    """The facts in the heading of an exercise and in the line below it."""

    id: str
    title: str
    kind: str
    difficulty: int
    minutes: int
    lines: int


@cache
def cells(path: Path) -> tuple[Cell, ...]:
    """Return the cells of a notebook file; an empty tuple if the file does not exist."""
    if not path.is_file():
        return ()
    raw = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return tuple(Cell(one["cell_type"], tuple(one["metadata"].get("tags", ())), "".join(one["source"])) for one in raw)


@cache
def source_of(lesson: str) -> Path:
    """Return the path of a lesson's source notebook."""
    return next(iter(sorted(SOURCE.glob(f"{lesson}_*.ipynb"))), SOURCE / f"{lesson}.ipynb")


def lessons() -> list[str]:
    """Return the lessons with exercises, "01" to "15"."""
    return [path.name.partition("_")[0] for path in sorted(SOURCE.glob("*.ipynb"))]


def facts(lesson: str) -> list[Facts]:
    """Return the facts of a lesson's exercises."""
    listed = []
    for cell in cells(source_of(lesson)):
        heading, line = HEADING.search(cell.source), FACTS.search(cell.source)
        if cell.kind == "markdown" and heading and line:
            kind, difficulty, minutes, lines = line.groups()
            id, title = heading.groups()
            listed.append(Facts(id, title, kind.lower(), int(difficulty), int(minutes), int(lines)))
    return listed


def answer(id: str) -> str | None:
    """Return the source of the cell with the tags `answer` and this id, or None."""
    answers = [cell.source for cell in cells(source_of(id.partition(".")[0])) if {"answer", id} <= set(cell.tags)]
    return answers[0] if answers else None


def part(id: str) -> str | None:
    """Return our part of the capstone with this id, "capstone.3", or None."""
    path = HERE / "authors" / "capstone.py"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    _, *cells = re.split(r"(?m)^# %% (capstone\.\d+)\n", text)
    return dict(zip(cells[::2], map(str.strip, cells[1::2]), strict=True)).get(id)


def solved(source: str) -> str:
    """Return the solution form of an answer."""
    return _replaced(_replaced(source, "BROKEN", lambda text, indent: ""), "SOLUTION", lambda text, indent: text)


def stub(source: str) -> str:
    """Return the student form of an answer."""
    if "# BEGIN BROKEN" not in source:
        return _replaced(source, "SOLUTION", _stub)
    bare = _replaced(source, "SOLUTION", lambda text, indent: "")
    return _replaced(bare, "BROKEN", lambda text, indent: re.sub(r"(?m)^([ ]*)# ?", r"\1", text))


def _replaced(source: str, region: str, form: Callable[[str, str], str]) -> str:
    """Return the source with each region of this name replaced by `form(lines, indentation)`."""
    lines = rf"(?m)^([ ]*)# BEGIN {region}\n((?:.*\n)*?)[ ]*# END {region}(?:\n|\Z)"
    text = re.sub(lines, lambda match: form(match[2], match[1]), source)
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n")


def _stub(region: str, indent: str) -> str:
    """Return the stub of a region: `...` inside a function; the same names without values at the top level."""
    if indent:
        return f"{indent}{STUB}\n"
    lines = []
    for node in ast.parse(textwrap.dedent(region)).body:
        if isinstance(node, ast.FunctionDef):
            head = ast.unparse(node.args)
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            doc = ast.get_docstring(node)
            quoted = [f'    """{doc}"""'] if doc else []
            lines += [f"def {node.name}({head}){returns}:", *quoted, f"    {STUB}", "", ""]
        elif isinstance(node, ast.Assign):
            names = [one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            lines += [f"{name} = {VALUE}" for name in names]
    return "\n".join(lines or [STUB]) + "\n"
