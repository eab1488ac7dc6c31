"""The library: documents in a SQLite full-text index (FTS5), searched by bm25."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, NamedTuple

from planexec_lab.worlds.research.words import content_words, sentences

_HEADING = re.compile(r"^## (?P<id>doc-\d+) \((?P<year>\d{4})\) (?P<title>.+)$", re.M)
_RANKED = """
    SELECT id, title, highlight(documents, 3, char(2), char(3)) FROM documents WHERE documents MATCH ?
    ORDER BY round(bm25(documents, 0, 0, 3, 1), 6), rowid LIMIT ?
"""


class Document(NamedTuple):
    """One document of the library."""

    id: str
    year: int
    title: str
    text: str


def parse(corpus: str) -> Iterator[Document]:
    """Read documents, each below a heading such as ``## doc-1 (2025) Two layers catch more light``."""
    headings = list(_HEADING.finditer(corpus))
    ends = [heading.start() for heading in headings[1:]] + [len(corpus)]
    for heading, end in zip(headings, ends, strict=False):
        text = " ".join(corpus[heading.end() : end].split())
        yield Document(heading["id"], int(heading["year"]), heading["title"].strip(), text)


class Library:
    """Documents in an index, in the file that `create` made."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, corpus: str) -> None:
        """Make the file, with the documents of a corpus."""
        with self.opened() as db, db:
            columns = "id UNINDEXED, year UNINDEXED, title, text, tokenize = 'porter unicode61'"
            db.execute(f"CREATE VIRTUAL TABLE documents USING fts5({columns})")
            db.executemany("INSERT INTO documents VALUES (?, ?, ?, ?)", parse(corpus))

    def opened(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open the index; it is closed when the block is left."""
        return closing(sqlite3.connect(self.path))

    def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """The best matching documents with their best sentence; ties are sorted by number.

        Raises `ValueError` for a query without a word.
        """
        words = content_words(query)
        if not words:
            raise ValueError(f"there is no word to look for in {query!r}; write some, such as: solar power")
        wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        with self.opened() as db:
            hits = db.execute(_RANKED, (wanted, limit)).fetchall()
        return [{"id": id, "title": title, "snippet": _snippet(marked)} for id, title, marked in hits]

    def get(self, id: str) -> Document | None:
        """The document with this id, or None."""
        with self.opened() as db:
            row = db.execute("SELECT id, year, title, text FROM documents WHERE id = ?", (id,)).fetchone()
        return Document(*row) if row else None


def _snippet(marked: str) -> str:
    best = max(sentences(marked), key=lambda sentence: sentence.count("\2"), default="")
    return best.replace("\2", "").replace("\3", "")
