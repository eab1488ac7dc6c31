"""Copy the minutes that each lesson states into the README's table and the tour's map, and add them up; also for its paths.

usage: python .ci/minutes.py

A lesson states its minutes in its first cell, and a test compares them with the time that a reader needs. After this,
run `make notebooks ONLY=00`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

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


def main() -> None:
    minutes = stated()
    readme = with_minutes(README.read_text(encoding="utf-8"), minutes)
    readme = PATH.sub(with_hours, readme)
    total = sum(listed(readme).values())
    README.write_text(with_sum(readme, total), encoding="utf-8", newline="\n")
    book = json.loads(TOUR.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "markdown":
            text = with_sum(with_minutes("".join(cell["source"]), minutes), total)
            cell["source"] = text.splitlines(keepends=True)
    TOUR.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    print(f"{len(minutes)} lessons, in total {total} minutes")


if __name__ == "__main__":
    main()
