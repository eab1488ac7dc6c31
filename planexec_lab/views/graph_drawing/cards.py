"""The size of a graph's cards: equal for all cards of a figure, as large as their words and the plate allow."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.text_fitting import fit, whole, width, wrap, wrap_to
from planexec_lab.views.drawing.theme import Look
from planexec_lab.views.graph_drawing.layers import Band

PAD, ROW = 6.0, 14.0
GAP, WIDEST_GAP = 22.0, 72.0
PORT = 50.0
NARROWEST, WRAPPED, WIDEST = 76.0, 150.0, 250.0
MOST_ROWS = 7
ROOM = theme.WIDEST - 2 * theme.MARGIN


class Card(NamedTuple):
    """The words on a card: id and name, the state if there is one, a note such as ``45 s``, and a `mark` on the state."""

    id: str
    name: str
    look: Look | None = None
    note: str = ""
    thick: bool = False
    mark: str = ""

    @property
    def feet(self) -> list[str]:
        """The lines below the name."""
        return [words for words in (str(self.look) if self.look else "", self.mark, self.note) if words]


class Measures(NamedTuple):
    """The size of the cards, how many lines their names and feet have, and how far the columns are apart."""

    width: float
    height: float
    name_rows: int
    foot_rows: int
    gap: float

    @property
    def room(self) -> float:
        """The width for words on a card."""
        return self.width - 2 * PAD


def measure(cards: Sequence[Card], bands: Sequence[Band], margin: float) -> Measures:
    """Choose the size of the cards; `margin` is the room for edges of cycles on both sides."""
    ports = 2 if len(bands) > 1 else 0
    columns = max((len(band.columns) - _ports(band) for band in bands), default=1) + ports
    rows = max((len(column) for band in bands for column in band.columns), default=1)
    room = ROOM - margin - ports * PORT - (columns - 1) * GAP
    widest = max(min(room / max(columns - ports, 1), WIDEST), 1.0)
    marked = max((width(card.mark, theme.SMALL) for card in cards), default=0.0)
    one_row = rows > MOST_ROWS and widest >= 120 + marked
    if one_row:
        wide = min(widest, max((_long(card) for card in cards), default=NARROWEST))
        name_rows, foot_rows = 1, 0
    else:
        wide, name_rows = _narrowest(cards, widest, 2 if rows > MOST_ROWS else 3 if rows > 3 else 4)
        together = all(width("  ".join(card.feet), theme.SMALL) <= wide - 2 * PAD for card in cards)
        feet = max((len(card.feet) for card in cards), default=0)
        foot_rows = min(feet, 1) if together else feet
    left = ROOM - margin - ports * PORT - (columns - ports) * wide
    gap = min(WIDEST_GAP, left / (columns - 1)) if columns > 1 else 0.0
    return Measures(float(int(wide)), 10 + ROW * (name_rows + foot_rows), name_rows, foot_rows, float(int(gap)))


def lines(card: Card, measures: Measures) -> tuple[str, list[str]]:
    """Return the id, shortened if needed, and the lines that begin with it."""
    room = measures.room
    if not measures.foot_rows:
        room -= fsum(width(words, theme.SMALL) + 8 for words in card.feet)
    id = fit(card.id, max(room * 0.6, 20), theme.SMALL, bold=True)
    bold = width(id, theme.SMALL, bold=True) - width(id, theme.SMALL)
    return id, wrap_to(f"{id} {card.name}".strip(), room - bold, theme.SMALL, measures.name_rows)


def _ports(band: Band) -> int:
    return sum(column[0].kind not in ("step", "unknown", "via") for column in band.columns)


def _long(card: Card) -> float:
    words = [card.name, *card.feet]
    return 2 * PAD + 4 + width(card.id, theme.SMALL, bold=True) + fsum(width(word, theme.SMALL) + 8 for word in words)


def _narrowest(cards: Sequence[Card], widest: float, most_rows: int) -> tuple[float, int]:
    """The narrowest card that shows every name whole, on one line or on as few as possible; else the widest card."""
    feet = max((width(words, theme.SMALL) for card in cards for words in card.feet), default=0)
    texts = [f"{card.id[:40]} {card.name[:200]}" for card in cards]
    for rows in range(1, most_rows + 1):
        limit = widest - 14 if rows == 1 else min(widest, WRAPPED)  # long cards leave the edges more room
        wide = min(max(NARROWEST, feet + 2 * PAD + 1), limit)
        while wide < limit + 4:
            room = min(wide, limit) - 2 * PAD - 3
            if all(whole(text, room, theme.SMALL) and len(wrap(text, room, theme.SMALL)) <= rows for text in texts):
                return min(wide, limit), rows
            wide += 4
    return min(widest, WRAPPED), most_rows
