"""Pictures of many numbers: a table whose cells hold a bar and its number, and bars made of named parts.

The look is the one of the kit's own figures (planexec_lite.views.theme). Every bar stands beside its number and the name
of its row, so that nothing rests on colour. The same numbers always give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planexec_lite.views.canvas import Box, Canvas
from planexec_lite.views.theme import BODY, HAIR, LINE, LOOKS, MARGIN, MUTED, SMALL, TITLE, WIDEST
from planexec_lite.views.words import width, wrap

OURS, PLAIN, FRAMEWORK = LOOKS["done"], LOOKS["skipped"], LOOKS["failed"]
ROW, BAR, GAP = 26.0, 14.0, 14.0
Numbers = Mapping[str, Mapping[str, float]]  # column -> row -> number


@dataclass(frozen=True)
class Scale:
    """Where a number stands between 0 and 1: even steps from 0, or, where `tenfold`, steps of ten times from `low`."""

    low: float
    high: float
    tenfold: bool = False

    def place(self, value: float) -> float:
        """Where `value` stands."""
        if not self.tenfold:
            return value / self.high
        return max(math.log10(value / self.low), 0.0) / math.log10(self.high / self.low)

    @property
    def ticks(self) -> list[float]:
        """Where hair lines are drawn: each tenfold, or nowhere."""
        if not self.tenfold:
            return []
        return [self.low * 10**n for n in range(round(math.log10(self.high / self.low)) + 1)]


def lens(
    title: str,
    rows: Mapping[str, str],
    numbers: Numbers,
    scale: Scale,
    notes: Sequence[str] = (),
    mark: float | None = None,
    gaps: Sequence[str] = (),
) -> str:
    """Return an SVG: a row for each contender, a column for each case, a bar and its number in each cell.

    Args:
        title: the finding.
        rows: contender -> kind, "ours", "plain" or "framework"; in the order of the rows.
        numbers: column -> contender -> number; a number that is not there leaves its cell empty.
        scale: of all columns.
        notes: written below.
        mark: a number that a dashed line marks in every column.
        gaps: rows that stand a little further down, to part groups.
    """
    sheet, top = _titled(title)
    names = max(width(name, SMALL, bold=kind == "ours") for name, kind in rows.items())
    left = MARGIN + names + GAP
    wide = (WIDEST - MARGIN - left) / len(numbers)
    said = max(width(_said(value), SMALL) for column in numbers.values() for value in column.values())
    long = wide - said - 4 - GAP
    first = top + 24
    lines = {
        name: first + ROW * n + 10 * sum(gap in list(rows)[: n + 1] for gap in gaps) for n, name in enumerate(rows)
    }
    bottom = max(lines.values()) + ROW
    for name, y in lines.items():
        bold = name if rows[name] == "ours" else ""
        sheet.text(left - GAP, y + 17, name, anchor="end", bold=bold)
    for n, (column, values) in enumerate(numbers.items()):
        x = left + wide * n
        sheet.text(x, top + 12, column, size=BODY, bold=column)
        for tick in scale.ticks:
            at = x + long * scale.place(tick)
            sheet.line(f"M{at:g} {first:g}V{bottom:g}", ink=HAIR, thick=1)
        for name, y in lines.items():
            if name in values:
                look = {"ours": OURS, "plain": PLAIN, "framework": FRAMEWORK}[rows[name]]
                end = x + max(long * scale.place(values[name]), 2)
                box = Box(round(x, 1), y + (ROW - BAR) / 2, round(end - x, 1), BAR, name)
                sheet.box(box, fill=look.fill, ink=look.ink)
                sheet.text(round(end + 5, 1), y + 17, _said(values[name]), ink=look.ink)
        if mark is not None:
            at = round(x + long * scale.place(mark), 1)
            sheet.line(f"M{at:g} {first - 2:g}V{bottom:g}", ink=LINE, thick=1, dashed=True)
    return _noted(sheet, bottom, notes)


def parts(title: str, bars: Mapping[str, Mapping[str, float]], unit: str, notes: Sequence[str] = ()) -> str:
    """Return an SVG: bars made of named parts, one beside the other, with the sum at the end."""
    sheet, top = _titled(title)
    left = MARGIN + max(width(name, SMALL) for name in bars) + GAP
    room = WIDEST - MARGIN - left - width(f"1,000 {unit}", SMALL) - 8
    most = max(math.fsum(bar.values()) for bar in bars.values())
    looks = [LOOKS["waiting"], LOOKS["judging"], OURS]
    y = top
    for n, (name, bar) in enumerate(bars.items()):
        y = top + (ROW + 2) * n + 10 * (n // 2)
        sheet.text(left - GAP, y + 17, name, anchor="end", bold=name if n % 2 == 0 else "")
        x = left
        for part, look in zip(bar, looks[-len(bar) :] if len(bar) < 3 else looks, strict=True):
            long = room * bar[part] / most
            fill, ink = (look.fill, look.ink) if n % 2 == 0 else (PLAIN.fill, PLAIN.ink)
            sheet.box(Box(round(x, 1), y + 3, round(max(long, 2), 1), ROW - 6, part), fill=fill, ink=ink)
            words = next(
                (w for w in (f"{part} {_said(bar[part])}", _said(bar[part])) if width(w, SMALL) < long - 8), ""
            )
            sheet.text(round(x + long / 2, 1), y + 17, words, ink=ink, anchor="middle")
            x += long
        sheet.text(round(x + 6, 1), y + 17, f"{_said(math.fsum(bar.values()))} {unit}")
    return _noted(sheet, y + ROW, notes)


def _titled(title: str) -> tuple[Canvas, float]:
    sheet, y = Canvas(), float(MARGIN)
    for line in wrap(title, WIDEST - 2 * MARGIN, TITLE, bold=True):
        sheet.text(MARGIN, y + TITLE, line, size=TITLE, bold=line)
        y += 21
    return sheet, y + 14


def _noted(sheet: Canvas, y: float, notes: Sequence[str]) -> str:
    y += 12
    for note in notes:
        for line in wrap(note, WIDEST - 2 * MARGIN, SMALL):
            sheet.text(MARGIN, y + SMALL, line, ink=MUTED)
            y += 16
    return sheet.svg(WIDEST, y + MARGIN - 4) + "\n"


def _said(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")
