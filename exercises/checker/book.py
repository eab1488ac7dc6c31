"""The exercises: their facts and stubs from `exercises.json`, their answers from the source notebooks.

`exercises.json` is made from the sources, so a checkout without them can still tell whether an answer was started.

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
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
SOURCE = HERE / "authors" / "source"
FILE = Path(__file__).with_name("exercises.json")
STUB = "...  # your code goes here"
VALUE = "...  # your answer goes here"
CORE = frozenset(
    "01.2 02.2 03.2 03.5 04.3 05.2 05.3 06.2 06.5 07.3 08.2 08.4 09.1 09.2 10.1 11.3 12.3 13.2 14.2 15.1 16.1".split()
)
PATHS = {  # the README's paths, with their lessons
    "two evenings": "02 06",
    "one week": "02 03 04 06 07 08 09",
    "six sessions": "01 02 03 04 05 06 07 08 09 10 11 13",
}
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
    id: str = ""


@dataclass(frozen=True)
class Facts:
    """The facts in the heading of an exercise and in the line below it."""

    id: str
    title: str
    kind: str
    difficulty: int
    minutes: int
    lines: int
    cell: str

    @property
    def core(self) -> bool:
        """Whether it is on the core path: the exercises to solve if you solve only some."""
        return self.id in CORE


@cache
def cells(path: Path) -> tuple[Cell, ...]:
    """Return the cells of a notebook file; an empty tuple if the file does not exist."""
    if not path.is_file():
        return ()
    raw = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return tuple(
        Cell(one["cell_type"], tuple(one["metadata"].get("tags", ())), "".join(one["source"]), one.get("id", ""))
        for one in raw
    )


@cache
def source_of(lesson: str) -> Path:
    """Return the path of a lesson's source notebook."""
    return next(iter(sorted(SOURCE.glob(f"{lesson}_*.ipynb"))), SOURCE / f"{lesson}.ipynb")


@cache
def stored() -> dict[str, dict[str, Any]]:
    """Return the content of `exercises.json`: for each notebook its exercises, with their facts and stubs."""
    stored: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def notebook(lesson: str) -> str:
    """Return the file name of a lesson's notebook, or "" if the lesson has none."""
    return next((name for name in stored() if name.startswith(f"{lesson}_")), "")


def lessons() -> list[str]:
    """Return the lessons with exercises, "01" to "16"."""
    return [name.partition("_")[0] for name in stored()]


def facts(lesson: str) -> list[Facts]:
    """Return the facts of a lesson's exercises."""
    listed = stored().get(notebook(lesson), {})
    return [Facts(id, **{name: value for name, value in one.items() if name != "stub"}) for id, one in listed.items()]


def given(id: str) -> str | None:
    """Return the source of the answer cell as a learner gets it, or None for an unknown exercise."""
    one = stored().get(notebook(id.partition(".")[0]), {}).get(id)
    return one and str(one["stub"])


def summary() -> dict[str, dict[str, Any]]:
    """Return what `exercises.json` must contain, read from the sources."""
    return {
        path.name: {
            one.id: {name: value for name, value in asdict(one).items() if name != "id"}
            | {"stub": stub(answer(one.id) or "")}
            for one in read_facts(path)
        }
        for path in sorted(SOURCE.glob("*.ipynb"))
    }


def read_facts(path: Path) -> list[Facts]:
    """Return the facts of the exercises of a source notebook."""
    listed = []
    for cell in cells(path):
        heading, line = HEADING.search(cell.source), FACTS.search(cell.source)
        if cell.kind == "markdown" and heading and line:
            kind, difficulty, minutes, lines = line.groups()
            id, title = heading.groups()
            listed.append(Facts(id, title, kind.lower(), int(difficulty), int(minutes), int(lines), cell.id))
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
    source = dict(zip(cells[::2], map(str.strip, cells[1::2]), strict=True)).get(id)
    return source and re.sub(r"(?m)\n*^from exercises\.capstone\.program import (.+)$", _of_program, source).strip()


def _of_program(imported: re.Match[str]) -> str:
    """Return the definitions of our program that a part imports."""
    program = (HERE / "capstone" / "program.py").read_text(encoding="utf-8")
    nodes = {getattr(node, "name", ast.unparse(node).partition(" = ")[0]): node for node in ast.parse(program).body}
    return "\n\n\n" + "\n\n\n".join(
        str(ast.get_source_segment(program, nodes[name])) for name in imported[1].split(", ")
    )


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
