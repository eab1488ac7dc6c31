"""Correct and wrong fixes of the programs. An answer contains the changed definitions."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass

import yaml

from exercises.hunts.catalogue import Hunt


@dataclass(frozen=True)
class Answer:
    """One fix of a program: its name, the changed definitions, and the tests' message if the fix is wrong."""

    name: str
    code: str
    says: str = ""
    hangs: bool = False


def answers(hunt: Hunt, kind: str) -> list[Answer]:
    """Return the answers of a kind, "right" or "wrong"; learners see the first right answer."""
    stored = yaml.safe_load(hunt.answers.read_text(encoding="utf-8"))
    return [Answer(**one) for one in stored[kind]]


def mended(source: str, part: str) -> str:
    """Return the program with the definitions of `part`: they replace those of the same name, and new ones come first.

    Raises `ValueError` if the program has none of the definitions.
    """
    lines, new = source.splitlines(), part.splitlines()
    places = {_name(node): node for node in ast.parse(source).body if _name(node)}
    changes: dict[str, list[str]] = {}
    ahead: list[str] = []
    imports: list[str] = []
    for node in ast.parse(part).body:
        text = new[node.lineno - 1 : node.end_lineno]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports += text
        elif _name(node) in places:
            changes[_name(node)] = [*ahead, *text]
            ahead = []
        else:
            ahead += [*text, "", ""]
    if not changes or ahead:
        raise ValueError("a changed part must contain a definition of the program, and end with it")
    for name, text in sorted(changes.items(), key=lambda change: -places[change[0]].lineno):
        node = places[name]
        lines[node.lineno - 1 : node.end_lineno] = text
    docstring = ast.parse(source).body[0]
    at = docstring.end_lineno or 1
    lines[at:at] = ["", *imports] if imports else []
    return "\n".join(lines) + "\n"


def difference(hunt: Hunt) -> str:
    """Return the changes of the first right answer, as a diff."""
    source = hunt.program.read_text(encoding="utf-8")
    better = mended(source, answers(hunt, "right")[0].code)
    lines = difflib.unified_diff(source.splitlines(), better.splitlines(), "defect", "fixed", lineterm="", n=2)
    return "\n".join(lines)


def changed_lines(hunt: Hunt) -> int:
    """Return about how many lines the first right answer changes or adds."""
    return max(1, sum(line.startswith("+") for line in difference(hunt).splitlines()[2:]))


def _name(node: ast.stmt) -> str:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""
