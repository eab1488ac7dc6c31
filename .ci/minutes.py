"""Compute the minutes of each notebook, and write them into its first cell, the README's tables and the tour's map.

usage: python .ci/minutes.py

The minutes count the guesses and the coding task, and neither cards nor exercises. After this, run `make notebooks ONLY=00`.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path += [str(folder) for folder in Path(__file__).resolve().parents[:2]]

from lessons import ROOT, below

from exercises.checker import book

README, TOUR = ROOT / "README.md", ROOT / "notebooks" / "00_tour.ipynb"
ROW = re.compile(
    r"^(?P<row>.*\]\((?:notebooks/)?(?P<lesson>\d\d_\w+\.ipynb)\).*\| )(?P<minutes>\d+)(?P<end>( \|)?)$", re.M
)
CORE = re.compile(r"core exercises \(\d+ minutes\)")
PATH = re.compile(
    r"^\| \*\*(?P<name>[^*|]+)\*\* \| (?P<hours>\d+ hours) \| (?P<lessons>[\d, ]+) \| (?P<then>.*) \|$", re.M
)
SUM = re.compile(r"\d+(?= minutes in total)")
STATED = re.compile(r"\d+(?= minutes)")

WORDS, PRINTED = 130, 200  # that are read in a minute: of the text, and of outputs
LINE, GUESS, TASK = 7 / 60, 40 / 60, 5.0  # minutes for a line of code, a guess, and a coding task


def needed(cells: Sequence[Mapping[str, Any]]) -> float:
    """The minutes that a reader needs for a notebook, without its cards and exercises."""
    minutes, cards = 0.0, False
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            minutes += len(source.split()) / WORDS
            continue
        lines = [line for line in source.splitlines() if line.strip()]
        minutes += len(lines) * LINE + source.startswith("guess = ") * GUESS + _is_task(source) * TASK
        cards = cards or "exercises.interview import show" in source
        if not cards:
            minutes += sum(map(_printed_words, cell["outputs"])) / PRINTED
    return minutes


def _is_task(source: str) -> bool:
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return any(isinstance(function, ast.Name) and function.id == "attempt" for function in calls)


def _printed_words(output: Mapping[str, Any]) -> int:
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return len("".join(text).split())


def stated() -> dict[str, int]:
    """The minutes that the first cell of each lesson states, by its file name."""
    return {Path(lesson.path).name: lesson.minutes for lesson in below("notebooks") if lesson.minutes}


def with_minutes(text: str, minutes: dict[str, int]) -> str:
    """The text with these minutes in the rows of its tables; other rows keep theirs."""
    return ROW.sub(
        lambda row: f"{row['row']}{minutes.get(row['lesson'], int(row['minutes']))}{row['end']}",
        text,
    )


def listed(text: str) -> dict[str, int]:
    """The minutes that the tables of a text give, by file name."""
    return {row["lesson"]: int(row["minutes"]) for row in ROW.finditer(text)}


def with_sum(text: str, total: int) -> str:
    """The text with this number of minutes in total."""
    return SUM.sub(str(total), text)


def with_hours(row: re.Match[str]) -> str:
    """A path of the README with its hours: its lessons, and the minutes of what follows them."""
    numbers = row["lessons"].split(", ")
    core = sum(one.minutes for number in numbers for one in book.facts(number) if one.core)
    then = CORE.sub(f"core exercises ({core} minutes)", row["then"])
    lessons = sum(time for name, time in stated().items() if name[:2] in numbers)
    hours = (lessons + sum(map(int, re.findall(r"(\d+) minutes", then)))) / 60
    return f"| **{row['name']}** | {hours:.0f} hours | {row['lessons']} | {then} |"


def state(path: Path) -> None:
    """Write the minutes that a notebook needs into its first cell."""
    lesson = json.loads(path.read_text(encoding="utf-8"))
    minutes = round(needed(lesson["cells"]))
    first = STATED.sub(str(minutes), "".join(lesson["cells"][0]["source"]), count=1)
    lesson["cells"][0]["source"] = first.splitlines(keepends=True)
    path.write_text(json.dumps(lesson, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            state(path)
    minutes = stated()
    readme = with_minutes(README.read_text(encoding="utf-8"), minutes)
    readme = PATH.sub(with_hours, readme)
    total = sum(listed(readme).values())
    README.write_text(with_sum(readme, total), encoding="utf-8", newline="\n")
    tour = json.loads(TOUR.read_text(encoding="utf-8"))
    for cell in tour["cells"]:
        if cell["cell_type"] == "markdown":
            text = with_sum(with_minutes("".join(cell["source"]), minutes), total)
            cell["source"] = text.splitlines(keepends=True)
    TOUR.write_text(json.dumps(tour, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    print(f"{len(minutes)} lessons, in total {total} minutes")


if __name__ == "__main__":
    main()
