"""The hunts: one module each, with the program, its test and its texts; the fixes are in `exercises/authors/hunts.yaml`."""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from exercises.hunts.judge import LIMIT, Verdict, judge, run

HERE = Path(__file__).parent
FIXES = HERE.parent / "authors" / "hunts.yaml"
BEST = (
    "no_backup",
    "skipped_for_ever",
    "deployed_all_the_same",
    "paid_twice",
    "migrated_without_backup",
    "back_by_a_year",
    "two_rooms",
    "waits_for_ever",
    "never_sent",
    "forgets_the_goal",
    "mailed_to_a_stranger",
    "the_old_version_is_back",
)
"""The dozen to do first: the defects that agents in use have most often, and that interviewers ask about."""

_HEAD = re.compile(
    r"(.+)\n\nLesson (\d\d) · difficulty ([1-5]) of 5 · (5|10|20) minutes\n\n(.+?)\n\n((?:    .+\n)+)",
    re.S,
)
_PARTS = re.compile(r"^# %% (?:program|test|hints)\n", re.M)


@dataclass(frozen=True)
class Fix:
    """One fix of a program: its name, the changed definitions, and words of the test's message if the fix is wrong."""

    name: str
    code: str
    says: str = ""


@dataclass(frozen=True)
class Hunt:
    """One hunt.

    Args:
        name: the module's name.
        title: the symptom in a few words.
        lesson: the lesson that it belongs to, in two digits.
        difficulty: from 1 to 5.
        minutes: 5, 10 or 20.
        symptom: the symptom in a sentence or two, without the cause.
        expected: the output of the correct program.
        program: the source of the program with the defect.
        test: the source of the test: functions `test_…(program)`.
        hints: a nudge, then a question.
        seen: where the defect was seen; this reveals the cause, so it is shown afterwards.
    """

    name: str
    title: str
    lesson: str
    difficulty: int
    minutes: int
    symptom: str
    expected: str
    program: str
    test: str
    hints: tuple[str, str]
    seen: str

    @property
    def red(self) -> str:
        """Words of the test's message for the unchanged program."""
        return str(_fixes()[self.name]["red"])

    def fixes(self, kind: str) -> list[Fix]:
        """Return the fixes of a kind, "right" or "wrong"; learners see the first right one."""
        return [Fix(**one) for one in _fixes()[self.name][kind]]

    def fixed(self, fix: Fix | None = None) -> str:
        """Return the program with a fix, the one that learners see by default."""
        return merged(self.program, (fix or self.fixes("right")[0]).code)

    def difference(self, source: str | None = None) -> str:
        """Return what leads from a program, by default the one with the defect, to ours, as a diff."""
        old = (self.program if source is None else source).splitlines()
        names = "the defect" if source is None else "yours", "ours"
        return "\n".join(difflib.unified_diff(old, self.fixed().splitlines(), *names, lineterm="", n=2))

    def judged(self, program: str | bytes, limit: float = LIMIT) -> Verdict:
        """Judge a program by the test; then run it with the last lines of the given program, and compare the output."""
        verdict = judge(self.test, program, limit)
        if verdict.word != "right":
            return verdict
        printed, name = run(self.with_our_end(program), limit), "the program prints what is expected"
        if not printed.ended:
            return Verdict("late", name, "all tests pass, but the program itself did not end")
        if printed.error:
            return Verdict("raised", name, printed.error)
        if printed.text.rstrip() != self.expected.rstrip():
            lines = difflib.ndiff(self.expected.splitlines(), printed.text.splitlines())
            differ = [f"{line[0]} {line[2:]}" for line in lines if line[0] in "+-"]
            told = "all tests pass, but the program prints something else (- expected, + yours): "
            return Verdict("wrong", name, told + " | ".join(differ[:8]))
        return verdict

    def with_our_end(self, program: str | bytes) -> str:
        """Return a program whose part below `if __name__` is that of the given program."""
        text = program.decode("utf-8", "replace") if isinstance(program, bytes) else program
        return _end(text)[0] + "\n\n" + _end(self.program)[1]

    @property
    def lines(self) -> int:
        """About how many lines our fix changes or adds."""
        return max(1, sum(line.startswith("+") for line in self.difference().splitlines()[2:]))


@cache
def hunts() -> dict[str, Hunt]:
    """Return every hunt by its name: the best dozen, then the others in the order of the lessons."""
    modules = [path for path in HERE.glob("*.py") if _PARTS.search(path.read_text(encoding="utf-8"))]
    catalogue = {path.stem: read(path) for path in modules}
    others = sorted(
        (hunt for hunt in catalogue.values() if hunt.name not in BEST),
        key=lambda one: (one.lesson, one.name),
    )
    return {name: catalogue[name] for name in (*BEST, *(hunt.name for hunt in others))}


def _end(source: str) -> tuple[str, str]:
    """Return a program without its parts below `if __name__`, and the first of these parts."""
    lines = source.splitlines(keepends=True)
    ends = [
        node for node in ast.parse(source).body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
    ]
    first = "".join(lines[ends[0].lineno - 1 : ends[0].end_lineno]) if ends else ""
    for node in reversed(ends):
        del lines[node.lineno - 1 : node.end_lineno]
    return "".join(lines), first


def read(path: Path) -> Hunt:
    """Read the module of a hunt. Raises `ValueError` if a part is missing."""
    head, *parts = _PARTS.split(path.read_text(encoding="utf-8"))
    facts = _HEAD.fullmatch(ast.get_docstring(ast.parse(head), clean=False) or "")
    if not facts or len(parts) != 3:
        raise ValueError(f"{path.name}: expected a head with its facts, then `# %% program`, `# %% test`, `# %% hints`")
    title, lesson, difficulty, minutes, symptom, expected = facts.groups()
    program, test, hints = (part.strip("\n") + "\n" for part in parts)
    texts = [
        " ".join(str(ast.literal_eval(node.value)).split())
        for node in ast.parse(hints).body
        if isinstance(node, ast.Assign)
    ]
    nudge, question, seen = texts
    symptom, expected = " ".join(symptom.split()), textwrap.dedent(expected)
    return Hunt(
        path.stem,
        title,
        lesson,
        int(difficulty),
        int(minutes),
        symptom,
        expected,
        program,
        test,
        (nudge, question),
        seen,
    )


def merged(source: str, part: str) -> str:
    """Return the program with the definitions of `part`: they replace those of the same name, and new ones come first.

    A definition without a docstring keeps the one that it replaces.

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
    return _documented("\n".join(lines) + "\n", source)


def _documented(fixed: str, source: str) -> str:
    """Return a program with the docstrings of another one in definitions that have none."""
    lines, old = fixed.splitlines(), source.splitlines()
    known = {name: node.body[0] for name, node in _definitions(ast.parse(source)) if ast.get_docstring(node)}
    for name, node in reversed(list(_definitions(ast.parse(fixed)))):
        doc, first = known.get(name), node.body[0].lineno - 1
        if doc and not ast.get_docstring(node) and first >= node.lineno:
            lines[first:first] = old[doc.lineno - 1 : doc.end_lineno]
    return "\n".join(lines) + "\n"


def _definitions(tree: ast.Module | ast.ClassDef, inside: str = "") -> Iterator[tuple[str, Any]]:
    """Yield functions, classes and methods with their names, in order."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield inside + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node, f"{node.name}.")


def _name(node: ast.stmt) -> str:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


@cache
def _fixes() -> dict[str, Any]:
    stored: dict[str, Any] = yaml.safe_load(FIXES.read_text(encoding="utf-8"))
    return stored
