"""The learner's progress and guesses, in one small file, and the board that shows the progress.

The file is in the folder `exercises` of the checkout that contains the notebook; outside of a checkout, in the folder of
this package. `PLANEXEC_PROGRESS` names another file; if it is set but empty, no file is used and progress lasts as long as the
kernel. The same is true in the folders `source` and `solutions`, because running a solution is not solving.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import Row, table
from planexec_lab.views.drawing.theme import LOOKS, Look

from exercises.checker import book
from exercises.checker.exercise import Unknown

_SESSION: dict[str, Any] = {}
VERDICTS = {
    "right": LOOKS["done"]._replace(word="right"),
    "wrong": LOOKS["failed"]._replace(word="wrong"),
    "raised": LOOKS["failed"]._replace(word="raised an error"),
    "not started": LOOKS["waiting"]._replace(word="not started"),
}


def place() -> Path | None:
    """Return the progress file, or None if progress is not stored."""
    told = os.environ.get("PLANEXEC_PROGRESS")
    if told is not None:
        return Path(told) if told else None
    here = Path.cwd()
    if here.name in ("source", "solutions") and here.parent.name == "authors":
        return None
    for folder in (here, *here.parents):
        for home in (folder, folder / "exercises"):
            if home.name == "exercises" and (home / "checker" / "record.py").is_file():
                return home / "progress.json"
    return book.HERE / "progress.json"


def marked(look: Look, words: str) -> str:
    """Return a verdict with the symbol and the colours of its state where a notebook's page shows it to a learner.

    Stored outputs and other text have only the words: the cells are run by a program then.
    """
    ipython = sys.modules.get("IPython")
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        return words
    from planexec_lab.views.review_desk import presence  # needs ipywidgets

    asked = presence.request()
    if asked is None or presence.by_a_program(asked):
        return words
    return look.in_colour(words)


def known() -> dict[str, str]:
    """Return the status of each exercise that was tried."""
    return {id: status for id, status in kept().items() if isinstance(status, str)}


def remember(id: str, status: str) -> None:
    """Store the status of the last trial; a solved exercise stays solved."""
    if status != "not started" and known().get(id) != "right":
        keep(id, status)


def kept() -> dict[str, Any]:
    """Return all stored entries by name; a missing or unreadable file counts as empty."""
    path = place()
    try:
        stored = json.loads(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError, RecursionError):
        stored = {}
    entries = (stored if isinstance(stored, dict) else {}) | _SESSION
    return {
        str(name): value for name, value in entries.items() if _is_status(value) or _is_guess(value) or _is_card(value)
    }


def keep(name: str, value: Any) -> None:
    """Store one entry in the file, or in memory if the file can't be written."""
    path = place()
    if path is None:
        _SESSION[name] = value
        return
    entries = dict(sorted((kept() | {name: value}).items()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}.new")  # two notebooks can write at the same time
        draft.write_text(json.dumps(entries, indent=0) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError:
        _SESSION[name] = value


def _is_status(value: Any) -> bool:
    return isinstance(value, str) and value in VERDICTS


def _is_guess(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"guess", "outcome", "verdict"}


def exercises(lesson: str | None = None) -> list[book.Facts]:
    """Return the exercises of a lesson or of all lessons, or the core exercises of one of the README's paths."""
    path = book.PATHS.get(lesson or "", "")
    if not path and lesson not in (None, *book.lessons()):
        raise Unknown(
            f'There is no lesson or path {lesson!r}. Write a lesson, such as "01", or {", ".join(book.PATHS)}.'
        )
    chosen = [each for each in book.lessons() if lesson in (None, each) or each in path]
    return [one for each in chosen for one in book.facts(each) if one.core or not path]


def unsolved(lesson: str = "") -> book.Facts | None:
    """Return the first unsolved exercise, or None: of a path, or from a lesson on and then from the start."""
    status = known()
    left = [one for one in exercises(lesson if lesson in book.PATHS else None) if status.get(one.id) != "right"]
    return min(left, key=lambda one: (one.id < lesson and lesson not in book.PATHS, one.id), default=None)


def _is_card(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"card", "score"}


def board(lesson: str | None = None) -> Figure:
    """Show the exercises of a lesson or a path with their status, or all exercises."""
    status, facts = known(), exercises(lesson)
    right = sum(status.get(one.id) == "right" for one in facts)
    rows = [
        Row(
            [
                f"{one.id} {one.title}",
                "",
                one.kind,
                f"{one.minutes} min",
                f"{one.difficulty} of 5",
                "core" if one.core else "",
            ],
            VERDICTS[status.get(one.id, "not started")],
        )
        for one in facts
    ]
    name = f"Lesson {lesson}" if lesson else "All lessons"
    name = lesson.capitalize() if lesson in book.PATHS else name
    scores = [value["score"] for value in kept().values() if _is_card(value)]
    note = (
        f"Interview cards: {len(scores)} practised, {sum(scores) // len(scores)} of 100 points."
        if scores and not lesson
        else ""
    )
    return table(
        f"{name}: {right} of {len(facts)} right",
        ("exercise", "status", "kind", "time", "difficulty", "path"),
        rows,
        note,
    )
