"""The night before: its stops exist, and each takes the minutes that it states, counted as for the lessons."""

import re
from typing import Any

from nbformat.v4 import new_markdown_cell

from exercises.interview import cards
from tests.guards.books import ROOT
from tests.guards.test_lessons import cells, minutes

FOLDER = ROOT / "exercises"
BOOK = cells(FOLDER / "night_before.ipynb")
STOP = re.compile(r"^## (.+) \((\d+) minutes\)$", re.M)
PART = re.compile(r"\[([^\]]+)\]\((\S+?\.ipynb)#cell-id=(.+?)\)")
SAID = 0.5  # minutes for an answer that is said aloud
WRITTEN = 0.5  # minutes for a line that is written from memory
UNDER = 5  # minutes that the whole evening can be shorter than it states


def parts(name: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"": []}
    for cell in cells((FOLDER / name).resolve()):
        pieces = re.split(r"(?m)^(?=## )", cell.source) if cell.cell_type == "markdown" else [None]
        for piece in pieces:
            if piece is not None and piece.startswith("## "):
                found[piece.splitlines()[0].removeprefix("## ")] = []
            found[[*found][-1]].append(cell if piece is None else new_markdown_cell(piece))
    return found


def needed(text: str, code: list[Any]) -> float:
    """The minutes for the parts that a stop links to, and for its cards, which are read and said aloud."""
    shown = [cell.source for cell in code if cell.source.startswith("show(")]
    ids = [id for source in shown for id in re.findall(r'"([\w-]+)"', source)]
    asked = cards.named(*ids) if ids else []
    for heading, name, id in PART.findall(text):
        (cell,) = (cell for cell in cells((FOLDER / name).resolve()) if cell.id == id)
        assert f"## {heading}" in cell.source.splitlines()
    spent = sum(minutes.needed(parts(name)[heading]) for heading, name, _ in PART.findall(text))
    return spent + sum(SAID + len(f"{card.question} {card.short}".split()) / minutes.WORDS for card in asked)


def test_each_stop_states_its_minutes_and_all_take_ninety() -> None:
    stops = [number for number, cell in enumerate(BOOK) if cell.cell_type == "markdown" and STOP.search(cell.source)]
    total = sum(len(cell.source.split()) for cell in BOOK if cell.cell_type == "markdown") / minutes.WORDS
    for number, end in zip(stops, [*stops[1:], len(BOOK)], strict=True):
        (title, stated), text = STOP.findall(BOOK[number].source)[0], BOOK[number].source
        spent = needed(text, BOOK[number + 1 : end])
        if title.startswith("The loop"):
            spent += len(BOOK[number + 1].source.splitlines()) * (2 * minutes.LINE + WRITTEN)
        if "CHEATSHEET.md" in text:
            spent += len((FOLDER / "CHEATSHEET.md").read_text(encoding="utf-8").split()) / minutes.WORDS
        assert int(stated) == round(spent), f"{title}: {spent:.1f}"
        total += spent
    assert BOOK[0].source.startswith("# The night before: ninety minutes")
    assert 90 - UNDER <= total <= 90, f"{total:.0f} minutes"
