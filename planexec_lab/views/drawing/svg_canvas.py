"""An SVG canvas with a few kinds of elements; it records the places of texts and boxes for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Literal, NamedTuple

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.text_fitting import width, wrap_to
from planexec_lab.views.drawing.theme import MARGIN, TITLE, WIDEST

Anchor = Literal["start", "middle", "end"]


class Box(NamedTuple):
    """A rectangle on the canvas, in pixels, and what it holds."""

    x: float
    y: float
    width: float
    height: float
    holds: str


class Canvas:
    """A canvas that grows while it is drawn on; `svg` cuts it to size."""

    def __init__(self) -> None:
        self.elements: list[str] = []
        self.texts: list[Box] = []
        self.boxes: list[Box] = []

    def heading(self, title: str) -> tuple[float, float]:
        """Write the title in at most three lines, and return the baseline of the next line, and where the longest ends."""
        top, right = float(MARGIN + TITLE), 0.0
        for words in wrap_to(title, WIDEST - 2 * MARGIN, TITLE, 3, bold=True):
            self.text(MARGIN, top, words, size=TITLE, bold=words)
            right = max(right, MARGIN + width(words, TITLE, bold=True))
            top += 20.0
        return top, right

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = theme.SMALL,
        ink: str = theme.TEXT,
        bold: str = "",
        anchor: Anchor = "start",
        halo: bool = False,
    ) -> None:
        """Write a line of text whose baseline is at `y`; if it begins with `bold`, that part is bold.

        A `halo` keeps it readable where lines cross it; draw it after them.
        """
        wide = width(words, size) + (width(bold, size, bold=True) - width(bold, size))
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        self.texts.append(Box(left, y - size * 0.8, wide, size, words))
        inner = escape(words, quote=False)
        if bold and words.startswith(bold):
            rest = escape(words[len(bold) :], quote=False)
            inner = f'<tspan font-weight="bold">{escape(bold, quote=False)}</tspan>{rest}'
        more = "" if anchor == "start" else f' text-anchor="{anchor}"'
        more += f' paint-order="stroke" stroke="{theme.PLATE}" stroke-width="4"' if halo else ""
        self.elements.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{ink}"{more} xml:space="preserve">{inner}</text>'
        )

    def box(self, box: Box, *, fill: str, ink: str, thick: float = 1, dashed: bool = False) -> None:
        """Draw a rectangle with round corners."""
        self.boxes.append(box)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.elements.append(
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="{theme.RADIUS}"'
            f' fill="{fill}" stroke="{ink}" stroke-width="{thick:g}"{dash}/>'
        )

    def line(self, way: str, *, ink: str, thick: float = 1.25, dashed: bool = False) -> None:
        """Draw a line along an SVG path."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.elements.append(f'<path d="{way}" fill="none" stroke="{ink}" stroke-width="{thick:g}"{dash}/>')

    def head(self, x: float, y: float, *, ink: str, thick: float = 1.25) -> None:
        """Draw the head of an arrow that points right, with its tip at (x, y)."""
        long, half = 6 + thick, 2.5 + thick
        way = f"M{x:g} {y:g}l{-long:g} {-half:g}v{2 * half:g}z"
        self.elements.append(f'<path d="{way}" fill="{ink}"/>')

    @contextmanager
    def step(self, id: str, words: str) -> Iterator[None]:
        """What is drawn inside shows the step `id`: in a page it has `words` as its title, and is marked with the step's row."""
        self.elements.append(f'<g data-step="{escape(id)}"><title>{escape(words)}</title>')
        yield
        self.elements.append("</g>")

    def svg(self, wide: float, high: float) -> str:
        """Return the canvas as an SVG on a light plate of `wide` by `high` pixels."""
        font = escape(theme.FONT)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high:g}"'
                f' viewBox="0 0 {wide:g} {high:g}" font-family="{font}">',
                f'<rect width="{wide:g}" height="{high:g}" rx="8" fill="{theme.PLATE}"/>',
                *self.elements,
                "</svg>",
            ]
        )
