"""The file of a journal: its schema; how it is opened is `sqlite_file`'s."""

from __future__ import annotations

from planexec_lite.sqlite_file import SQLiteFile, Synchronous, WritingConnection, alone, transaction

SCHEMA = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    goal TEXT NOT NULL,
    status TEXT NOT NULL,
    holder TEXT NOT NULL
) STRICT;
CREATE TABLE events (
    run INTEGER NOT NULL REFERENCES runs,
    number INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE news (
    run INTEGER NOT NULL REFERENCES runs,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
"""


class JournalError(RuntimeError):
    """A journal can't be read or written, or holds what it can't hold; what was committed stays as it is."""


FILE = SQLiteFile(
    "journal",
    0x504C584C,
    SCHEMA,
    JournalError,
    made="it is made when the first run is written to it",
    then="resume the run",
)
in_words = FILE.in_words

__all__ = ["FILE", "JournalError", "Synchronous", "WritingConnection", "alone", "in_words", "transaction"]
