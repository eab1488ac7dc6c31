"""One look for all pictures: the colours, symbols and words of the states, the plate, the fonts and the sizes.

The hues are Okabe and Ito's, which colour-blind readers can tell apart ("Color Universal Design", 2008): a light tint as
the fill, a dark shade as the ink. A state is always symbol, word and fill together.
"""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """How a state is shown: a symbol and a word, drawn in `ink` on `fill`."""

    symbol: str
    word: str
    fill: str
    ink: str

    def __str__(self) -> str:
        return f"{self.symbol} {self.word}"

    def in_colour(self, words: str) -> str:
        """Return the symbol and `words` with escape codes for the colours, which notebooks and terminals draw."""
        ink, fill = (";".join(map(str, bytes.fromhex(colour[1:]))) for colour in (self.ink, self.fill))
        return f"\x1b[38;2;{ink};48;2;{fill}m {self.symbol} {words} \x1b[0m"


PLATE = "#E8EBEE"
TEXT = "#1F1F1F"
MUTED = "#505050"
LINE = "#6E6E6E"
HAIR = "#CDD2D7"
WHITE = "#FFFFFF"

LOOKS = {
    "waiting": Look("○", "waiting", WHITE, "#505050"),
    "running": Look("▸", "running", "#D3EAF9", "#00517F"),
    "judging": Look("?", "judging", "#FAF3B4", "#5F5700"),
    "in doubt": Look("!", "in doubt", "#F9D9E0", "#7E1A36"),
    "done": Look("✓", "done", "#CFEBE0", "#005A42"),
    "failed": Look("✗", "failed", "#FADBC8", "#8F3C00"),
    "skipped": Look("–", "skipped", "#D9DDE2", "#505050"),
    "superseded": Look("↷", "superseded", "#F3DFEA", "#7D3A60"),
    "undone": Look("↺", "undone", "#FBE7C0", "#6E4D00"),
}
PLANNER = Look("✎", "planning", "#FAF3B4", "#5F5700")
CHANGES = {
    "kept": Look("=", "kept", WHITE, "#505050"),
    "again": Look("↻", "planned again", "#D3EAF9", "#00517F"),
    "changed": Look("≠", "changed", "#FBE7C0", "#6E4D00"),
    "moved": Look("→", "moved", "#E9E0F2", "#4B2E6B"),
    "added": Look("+", "added", "#CFEBE0", "#005A42"),
    "removed": Look("–", "removed", "#D9DDE2", "#505050"),
}
TURNS = {
    "thought": Look("◇", "thought", WHITE, "#505050"),
    "action": Look("→", "action", "#D3EAF9", "#00517F"),
    "observation": Look("←", "observation", "#CFEBE0", "#005A42"),
    "error": Look("✗", "error", "#FADBC8", "#8F3C00"),
}
ALARM = "#8F3C00"

FAMILIES = ("DejaVu Sans", "Verdana", "sans-serif")
FONT = ", ".join(f'"{family}"' if " " in family else family for family in FAMILIES)
SMALL, BODY, TITLE = 11, 12, 15
WIDEST = 720
MARGIN = 20
RADIUS = 6
