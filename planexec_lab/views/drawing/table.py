"""A figure that is a table: rows with a coloured state, in HTML and in text that say the same."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from math import fsum
from typing import NamedTuple

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.text_fitting import (
    LONG,
    aligned,
    fit,
    fit_columns,
    has_huge_word,
    isolated_lines,
    width,
    wrap_words,
)
from planexec_lab.views.drawing.theme import BODY, Look

WIDEST = {"step": 80.0, "status": 110.0, "change": 110.0, "event": 120.0, "waits for": 90.0, "attempt": 60.0}
PILLS = ("status", "change", "event")  # the column that shows the look of a row
FAINT = ("skipped", "superseded", "removed")
NARROWEST = 110.0  # of names and results
BROKEN = 0.9  # lines are broken at words, so that much of each is filled
SPACE, PILL = 16.0, 16.0  # the padding of a cell and of a state's mark
CELL = f"padding:5px {SPACE:g}px 5px 0;text-align:left;vertical-align:top;font-size:{BODY}px;background-color:{theme.PLATE}"


class Row(NamedTuple):
    """The cells of a row, its look, and the words of a `mark` below the look.

    `how` is the cell of that column in parts, each with whether it is struck out.
    """

    cells: Sequence[str]
    look: Look
    mark: str = ""
    how: Sequence[tuple[str, bool]] = ()


WHOLE = 0  # lines: as many as there are


def table(
    title: str, head: Sequence[str], rows: Sequence[Row], caption: str = "", columns: int = 60, lines: int = 1
) -> Figure:
    """Return the table as a figure. Columns without a word are left out.

    The cell of a row's look is written from the look. Long cells are shortened in the middle: to `columns` columns of
    the text, and to `lines` lines of the HTML. With `WHOLE` for `lines` cells show everything, in the text
    too.
    """
    written = [
        [_status(row) if name in PILLS else cell for name, cell in zip(head, row.cells, strict=True)] for row in rows
    ]
    kept = [
        number
        for number, name in enumerate(head)
        if name == "step" or name in PILLS or any(row[number] for row in written)
    ]
    head, cells = [head[number] for number in kept], [[row[number] for number in kept] for row in written]
    texts = [line for row in cells for line in _texts(head, row, columns, lines)]
    aligned_rows = [f"  {line}" for line in aligned([head, *texts])] if rows else []
    text = "\n".join(filter(None, [title, *aligned_rows, caption]))
    wide = _widths(head, cells, rows)
    across = max(400, fsum(wide) + SPACE * len(wide), width(title, theme.TITLE, bold=True)) + 2 * theme.MARGIN
    html = _html(title, head, cells, rows, wide, lines)
    return Figure(title, text, title, caption, min(int(across), theme.WIDEST), table=html)


def _texts(head: Sequence[str], row: Sequence[str], columns: int, lines: int) -> list[list[str]]:
    """A row of the text form: one line, or as many as its longest cell needs."""
    if lines != WHOLE:
        return [[fit_columns(cell, 1000 if name in WIDEST else columns) for name, cell in zip(head, row, strict=True)]]
    cells = [isolated_lines([part for line in cell.split("\n") for part in wrap_words(line, columns)]) for cell in row]
    return [list(line) for line in zip_longest(*cells, fillvalue="")]


def _status(row: Row) -> str:
    return f"{row.look}, {row.mark}" if row.mark else str(row.look)


def _widths(head: Sequence[str], cells: Sequence[Sequence[str]], rows: Sequence[Row]) -> list[float]:
    """The width of each column: as wide as its words; where that is too much, names and results share what is left."""
    natural = []
    for name, column in zip(head, zip(head, *cells, strict=True), strict=True):
        words = [name, *(part for row in rows for part in (str(row.look), row.mark))] if name in PILLS else column
        longest = max(width(line[:LONG], BODY, bold=name == "step") for cell in words for line in cell.split("\n"))
        natural.append(longest + (PILL if name in PILLS else 0))
    wide = [min(room, WIDEST.get(name, room)) for name, room in zip(head, natural, strict=True)]
    elastic = [number for number, name in enumerate(head) if name not in WIDEST]
    left = theme.WIDEST - 2 * theme.MARGIN - SPACE * len(wide) - fsum(wide)
    for number in sorted(elastic, key=lambda number: -wide[number]):
        if left < 0:
            least = min(wide[number], 240.0)
            cut = max(least, wide[number] + left)
            left, wide[number] = left + wide[number] - cut, cut
    return wide


def _html(
    title: str,
    head: Sequence[str],
    cells: Sequence[Sequence[str]],
    rows: Sequence[Row],
    wide: Sequence[float],
    lines: int,
) -> str:
    shown = cells if lines == WHOLE else [
        [fit(cell, room if lines == 1 else room * lines * BROKEN, BODY) for room, cell in zip(wide, row, strict=True)]
        for row in cells
    ]  # fmt: skip
    parts = [f'<table style="{_TABLE}">', f'<caption style="{_TITLE}">{escape(title)}</caption>']
    if rows:
        style = f"{CELL};color:{theme.MUTED};font-weight:normal;white-space:nowrap;border-bottom:1px solid {theme.LINE}"
        names = "".join(f'<th scope="col" style="{style}">{name}</th>' for name in head)
        parts.append(f"<thead><tr>{names}</tr></thead>\n<tbody>")
    for words, row in zip(shown, rows, strict=True):
        faint = theme.MUTED if row.look.word in FAINT else theme.TEXT
        style = f"{CELL};color:{faint};border-bottom:1px solid {theme.HAIR}"
        inner = [_pill(row) if name in PILLS else _bold(cell) if name == "step" else _struck(cell, row, name)
                 for name, cell in zip(head, words, strict=True)]  # fmt: skip
        whole = [_room(style, name, room, lines, cell) for name, room, cell in zip(head, wide, words, strict=True)]
        tds = (f'<td style="{how}">{cell}</td>' for how, cell in zip(whole, inner, strict=True))
        parts.append(f'<tr style="background-color:{theme.PLATE}">{"".join(tds)}</tr>')
    return "\n".join([*parts, *(["</tbody>"] if rows else []), "</table>"])


def _room(style: str, name: str, room: float, lines: int, cell: str) -> str:
    """How a cell breaks its words. Without a limit a browser would make the cell as narrow as a letter.

    A table that shows everything breaks only huge words.
    """
    anywhere = f"overflow-wrap:anywhere;min-width:{min(room, NARROWEST):.0f}px"
    if lines == WHOLE and name not in PILLS:
        return f"{style};{anywhere if has_huge_word(cell) else 'overflow-wrap:break-word'};white-space:pre-wrap"
    if room < 120:
        return f"{style};white-space:nowrap"
    return f"{style};{anywhere}" if lines > 1 and name not in WIDEST else style


_TABLE = (
    f"margin:0;width:100%;table-layout:auto;padding:6px {theme.MARGIN}px 12px;border-collapse:separate;border-spacing:0;border:0;"
    f"color:{theme.TEXT};background-color:{theme.PLATE};border-radius:8px"
)
_TITLE = (
    f"caption-side:top;text-align:left;padding:14px {theme.MARGIN}px 0;color:{theme.TEXT};"
    f"font-size:{theme.TITLE}px;font-weight:bold"
)


def _bold(words: str) -> str:
    return f'<strong style="color:{theme.TEXT}">{escape(words)}</strong>'


STRUCK = '<span style="text-decoration:line-through">'


def _struck(words: str, row: Row, name: str) -> str:
    if name == "what" and words and row.look.word in ("superseded", "removed"):
        return f"{STRUCK}{escape(words)}</span>"
    if name == "how":
        return "".join(f"{STRUCK}{escape(part)}</span>" if struck else escape(part) for part, struck in row.how)
    return escape(words)


def _pill(row: Row) -> str:
    look = row.look
    line = "dashed" if look.word == "skipped" else "solid"
    style = (
        f"background-color:{look.fill};color:{look.ink};border:1px {line} {look.ink};"
        f"border-radius:{theme.RADIUS}px;padding:1px 7px;white-space:nowrap"
    )
    below = f'<span style="display:block;padding:4px 0 0;color:{theme.ALARM}">{escape(row.mark)}</span>'
    return f'<span style="{style}">{look}</span>{below if row.mark else ""}'
