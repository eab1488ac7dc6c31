"""Versions of prompts, numbered and never changed, and the labels that point to them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from difflib import unified_diff

from planexec_lab.prompts.file import RegistryError, digest
from planexec_lite.tools import escaped, suggest


@dataclass(frozen=True, slots=True)
class PromptVersion:
    """One text of a prompt.

    Args:
        name: of the prompt, such as "planner".
        number: of the version, from 1.
        text: the prompt, with its fields if it has any.
        note: why it was saved; "" for none.
        saved: when, as "2026-11-25T10:00:00+00:00".
    """

    name: str
    number: int
    text: str
    note: str = ""
    saved: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


@dataclass(frozen=True, slots=True)
class Release:
    """A label was moved to a version: which, whereto, why and when."""

    name: str
    label: str
    number: int
    note: str = ""
    at: str = ""


_COLUMNS = "prompt, number, text, note, at, digest"


def save(db: sqlite3.Connection, name: str, text: str, note: str, at: str) -> PromptVersion:
    """Return the version with this text; create it if needed."""
    asked = f"SELECT {_COLUMNS} FROM versions WHERE prompt = ? AND digest = ?"
    if row := db.execute(asked, (name, digest(text))).fetchone():
        return _read(row)
    (number,) = db.execute("SELECT coalesce(max(number), 0) + 1 FROM versions WHERE prompt = ?", (name,)).fetchone()
    row = (name, number, text, note, at, digest(text))
    db.execute(f"INSERT INTO versions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", row)
    return _read(row)


def names(db: sqlite3.Connection) -> list[str]:
    """Return the names of all prompts, in the order in which they were first saved."""
    return [name for (name,) in db.execute("SELECT prompt FROM versions GROUP BY prompt ORDER BY min(rowid)")]


def of(db: sqlite3.Connection, name: str) -> list[PromptVersion]:
    """Return the versions of a prompt in order. Raises `RegistryError` for an unknown name."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM versions WHERE prompt = ? ORDER BY number", (name,)).fetchall()
    if not rows:
        known = names(db)
        near = suggest(name, known)
        raise RegistryError(
            f"there is no prompt {name!r}{near}; there are: {', '.join(map(repr, known[:20])) or 'none'}"
        )
    if [row[1] for row in rows] != list(range(1, len(rows) + 1)):
        raise RegistryError(f"versions of the prompt {name!r} are missing: the file is damaged")
    return [_read(row) for row in rows]


def get(db: sqlite3.Connection, name: str, which: int | str | None) -> PromptVersion:
    """Return a version by its number or label; None: the newest. Raises `RegistryError` if it does not exist."""
    known = of(db, name)
    if which is None:
        return known[-1]
    number = labels(db, name).get(which) if isinstance(which, str) else which
    if isinstance(which, str) and number is None:
        there = ", ".join(map(repr, labels(db, name))) or "none"
        raise RegistryError(f"the prompt {name!r} has no label {which!r}; it has: {there}")
    if number is None or not 1 <= number <= len(known):
        raise RegistryError(f"the prompt {name!r} has no version {number}; it has 1 to {len(known)}")
    return known[number - 1]


def release(db: sqlite3.Connection, one: PromptVersion, label: str, note: str, at: str) -> Release:
    """Let a label point to a version from now on."""
    row = (one.name, label, one.number, note, at)
    db.execute("INSERT INTO releases (prompt, label, number, note, at) VALUES (?, ?, ?, ?, ?)", row)
    return Release(*row)


def labels(db: sqlite3.Connection, name: str) -> dict[str, int]:
    """Return where each label of a prompt points."""
    return {one.label: one.number for one in history(db, name)}


def history(db: sqlite3.Connection, name: str) -> list[Release]:
    """Return every move of a label of a prompt, oldest first."""
    asked = "SELECT prompt, label, number, note, at FROM releases WHERE prompt = ? ORDER BY id"
    return [Release(*row) for row in db.execute(asked, (name,))]


def diff(old: PromptVersion, new: PromptVersion) -> str:
    """Return what is different, line by line, as unified diff; "" for equal texts."""
    before, after = (map(escaped, version.text.split("\n")) for version in (old, new))
    return "\n".join(unified_diff([*before], [*after], str(old), str(new), lineterm=""))


def _read(row: tuple[str, int, str, str, str, str]) -> PromptVersion:
    name, number, text, note, at, written = row
    if digest(text) != written:
        raise RegistryError(
            f"the text of {name!r}, version {number}, was changed in the file; nothing else may write there"
        )
    return PromptVersion(name, number, text, note, at)
