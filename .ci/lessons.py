"""What the lessons state of themselves: number, title, question, minutes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Lesson:
    """A notebook, by its path in the checkout, and its texts."""

    path: str
    texts: str

    @property
    def number(self) -> str:
        return Path(self.path).name.partition("_")[0]

    @property
    def title(self) -> str:
        return plain(self._first(r"^# (?:\w\d · )?(.+)$"))

    @property
    def question(self) -> str:
        question = plain(self._first(r"\*\*The question: (.+?)\*\*"))
        return question[:1].upper() + question[1:]

    @property
    def minutes(self) -> int:
        """The minutes that the notebook states first."""
        return int(self._first(r"(\d+) minutes") or 0)

    def _first(self, pattern: str) -> str:
        match = re.search(pattern, self.texts, re.M)
        return match[1] if match else ""


def read(path: Path) -> Lesson:
    """Read a notebook of this checkout."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return Lesson(path.relative_to(ROOT).as_posix(), "\n".join(texts))


def below(folder: str) -> list[Lesson]:
    """The notebooks in a folder of the checkout, in order."""
    return [read(path) for path in sorted((ROOT / folder).glob("*.ipynb"))]


def plain(text: str) -> str:
    """Text without the signs of Markdown."""
    return re.sub(r"[`*]", "", text)
