"""The file of a registry: its schema and its allowed names."""

from hashlib import sha256

from planexec_lite.plan.data import as_words
from planexec_lite.storage.sqlite_file import SQLiteFile

# a line ends each statement; the triggers keep other programs from changing a version
SCHEMA = """
CREATE TABLE versions (
    prompt TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    digest TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (prompt, number),
    UNIQUE (prompt, digest)
) STRICT;
CREATE TRIGGER no_other_text BEFORE UPDATE ON versions BEGIN SELECT RAISE(ABORT, 'a version does not change'); END;
CREATE TRIGGER no_less BEFORE DELETE ON versions BEGIN SELECT RAISE(ABORT, 'a version is not deleted'); END;
CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    prompt TEXT NOT NULL,
    label TEXT NOT NULL,
    number INTEGER NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL,
    FOREIGN KEY (prompt, number) REFERENCES versions (prompt, number)
) STRICT;
CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    prompt TEXT,
    version INTEGER,
    model TEXT NOT NULL,
    status TEXT NOT NULL,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL,
    error TEXT NOT NULL DEFAULT ''
) STRICT;
"""
LONGEST_NAME = 200  # characters


class RegistryError(RuntimeError):
    """A prompt registry can't be read or written, or lacks the requested entry; committed data is unchanged."""


FILE = SQLiteFile(
    "prompt registry",
    0x504C5052,
    SCHEMA,
    RegistryError,
    made="it is made when the first version is saved",
    then="try again",
)


def name_of(name: object, what: str) -> str:
    """Return a valid name. Raises `ValueError`, which mentions `what` the name is for, for anything else."""
    text = as_words(name, what)
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > LONGEST_NAME:
        raise ValueError(
            f"{what} {text[:40]!r}: give it up to {LONGEST_NAME} characters that can be seen, none of them a space at an end"
        )
    return text


def digest(text: str) -> str:
    """Return what tells one text from all others."""
    return sha256(text.encode()).hexdigest()
