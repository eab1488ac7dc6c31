"""The texts that `compare` prints below an outcome, and a solution for the coding task of each lesson.

``NN.md`` has one section for each prediction, headed ``## NN.1``, and one for each task, headed ``## task``. The text of a
prediction is not in the lesson itself, so a learner reads it only after a guess.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from textwrap import fill

COLUMNS = 92
FOLDER = Path(__file__).parent
_HEADING = re.compile(r"^## (.+)$", re.M)


def reveal(id: str) -> str:
    """Return the text for a prediction such as "02.1", in lines of at most 92 columns; "" for an unknown id."""
    text = sections(id.partition(".")[0]).get(id, "")
    return (
        "\n\n".join(fill(paragraph, COLUMNS) for paragraph in text.split("\n\n"))
        if text
        else ""
    )


@cache
def sections(lesson: str) -> dict[str, str]:
    """Return the sections of a lesson's file by their headings; an empty dict if there is no file."""
    path = FOLDER / f"{lesson}.md"
    if not path.is_file():
        return {}
    _, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
    return {
        heading: body.strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)
    }
