"""The pristine side of grading: what each lesson's notebook contains, and the job for a learner's answers."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from exercises.checker import book
from exercises.grade.rules import means

CPU = 10.0  # seconds of CPU time for the cell of an answer
OTHER_ANSWERS = {"wrong-answer", "alternative", "equivalent"}


@dataclass(frozen=True)
class Task:
    """An exercise as the grader needs it; `right` are the solution and the listed alternatives."""

    facts: book.Facts
    stub: str
    right: tuple[str, ...]
    control: str

    @property
    def points(self) -> int:
        """The points of a right answer: the difficulty."""
        return self.facts.difficulty


@cache
def tasks(lesson: str) -> dict[str, Task]:
    """Return the tasks of a lesson by id."""
    cells = book.cells(book.source_of(lesson))
    by_id = {}
    for facts in book.facts(lesson):
        of = [(cell.source, set(cell.tags)) for cell in cells if facts.id in cell.tags]
        (answer,) = (source for source, tags in of if "answer" in tags)
        wrong = [source for source, tags in of if "wrong-answer" in tags]
        alternatives = tuple(source for source, tags in of if "alternative" in tags)
        by_id[facts.id] = Task(facts, book.stub(answer), (book.solved(answer), *alternatives), wrong[0])
    return by_id


@cache
def all_tasks() -> dict[str, Task]:
    """Return all tasks by id."""
    return {id: task for lesson in book.lessons() for id, task in tasks(lesson).items()}


@cache
def ids_of_cells() -> dict[str, str]:
    """Return the exercise of each answer cell by the cell's own id, for notebooks that have lost their tags."""
    by_cell = {}
    for lesson in book.lessons():
        for cell in json.loads(book.source_of(lesson).read_text(encoding="utf-8"))["cells"]:
            tags = cell["metadata"].get("tags", ())
            if "answer" in tags:
                by_cell[cell["id"]] = next(tag for tag in tags if tag != "answer")
    return by_cell


def digest(answers: dict[str, str]) -> str:
    """Return the hash of a notebook's answers."""
    return hashlib.sha256(repr(sorted(answers.items())).encode()).hexdigest()


def is_python(source: str) -> bool:
    """Return whether a cell is Python, without magics."""
    return _tree(source) is not None


def unchanged(id: str, source: str) -> bool:
    """Return whether an answer is empty or still the stub."""
    return not source.strip() or _tree(source) == _tree(all_tasks()[id].stub)


def _tree(source: str) -> str | None:
    """Return the syntax tree as a text, or None if the source has none or is too deep."""
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def job(
    lesson: str, answers: dict[str, str], seed: str = "", trusted: Collection[str] = (), student: str = ""
) -> dict[str, Any]:
    """Return what the worker needs to judge a notebook's answers.

    Args:
        lesson: "01" to "16".
        answers: the sources by exercise.
        seed: varies the random values of the checks.
        trusted: exercises whose answers a teacher has read.
        student: whose own numbers the predictions have; "" for the numbers of the notebook.
    """
    cells = []
    for cell in book.cells(book.source_of(lesson)):
        id = next((tag for tag in cell.tags if tag in tasks(lesson)), "")
        if cell.kind == "code" and not OTHER_ANSWERS & set(cell.tags):
            cells.append({"id": id, "source": "" if id else cell.source})
    tried = {id: task for id, task in tasks(lesson).items() if not unchanged(id, answers.get(id, ""))}
    return {
        "seed": seed,
        "student": student,
        "cpu": CPU,
        "answers": {id: answers[id] for id in tried},
        "cells": cells,
        "stubs": {id: task.stub for id, task in tried.items()},
        "controls": {id: task.control for id, task in tried.items()},
        "predictions": [id for id, task in tried.items() if task.facts.kind == "predict"],
        "suspicious": [id for id in tried if id not in trusted and means(answers[id])],
    }
