"""Habits that make a sentence hard to read, and a count of them in a notebook or a Markdown file."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HABITS = {
    "a clause instead of a noun as the subject": r"(?<![^.:;!?\n] )\b(?:What|Who|Where|Whoever|Whatever)\b [^.!?]{8,}[.!]",
    "whoever, whatever": r"\b(?:who|what|where|which|whom)(?:ever|soever)\b",
    "nobody, somebody": r"\b(?:no|some)body\b",
    "things that stand": r"\b(?:stands?|stood|standing)\b(?! (?:for|out|in for)\b)",
    "mend, dear, shall, beside, in words": r"\b(?:mend(?:s|ed|ing)?|dear(?:er|est)?|shall|beside|in words)\b",
    "circle for cycle": r"\bcircles?\b",
    "under way, for ever, as it is": r"\b(?:under way|for ever|as it (?:is|stands)|as they (?:are|stand))\b",
    "so many, so much": r"\bso (?:many|much|often|long|few)\b(?! (?:that|as|time)\b)",
    "may for might": r"\bmay (?:be|have|not|do|run|fail|come|go|use|start|call|change|differ)\b",
    "must not": r"\bmust not\b",
    "taken back, given up, goes on": r"\b(?:tak(?:e|es|en) back|given up|go(?:es|ne)? on|went on)\b",
    "told, said, heard out": r"\b(?:(?:is|are|was|were) (?:told|said)|heard out|can't be told)\b",
    "of its own": r"\bof (?:its|their|one's|your|our) own\b",
    "is none, nothing follows": r"\b(?:is|are|was|were) none\b|\bnothing (?:follows|can) ",
    "a test that is red": r"\b(?:is|are|turns?|goes) red\b",
}
_PATTERNS = [
    re.compile(pattern, re.M | (0 if name.startswith("a clause") else re.I)) for name, pattern in HABITS.items()
]


class Count(NamedTuple):
    """Words of a text, and the sentences that show a habit."""

    words: int
    sentences: list[str]

    @property
    def rate(self) -> float:
        """Sentences with a habit per 1,000 words."""
        return 1000 * len(self.sentences) / max(self.words, 1)


def prose(path: Path) -> str:
    """The prose of a notebook or a Markdown file, without code and addresses."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", "X", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"^[ \t]*(?:[#>|*-]|\d+\.)+[ \t]*", "", text, flags=re.M)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a cell of a table and a heading count as sentences."""
    for piece in re.split(r"(?<=[.!?])\s+|\n\s*\n|\|", text):
        if len(piece.split()) > 2:
            yield " ".join(piece.split())


def count(path: Path) -> Count:
    """Count the sentences of a file that show at least one habit."""
    every = list(sentences(prose(path)))
    return Count(
        sum(len(one.split()) for one in every), [one for one in every if any(rule.search(one) for rule in _PATTERNS)]
    )
