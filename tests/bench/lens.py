"""Pictures of many numbers: a table whose cells hold a bar and its number, and bars made of named parts.

The look is the one of the kit's own figures (planexec_lab.views.drawing.theme). Every bar stands beside its number and
the name of its row, so that nothing rests on colour. The same numbers always give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planexec_lab.views.drawing.svg_canvas import Canvas
from planexec_lab.views.drawing.text_fitting import width
from planexec_lab.views.drawing.theme import BODY, HAIR, LINE, LOOKS, MARGIN, MUTED, SMALL, TITLE, WIDEST, Look

KINDS = {"ours": LOOKS["done"], "plain": LOOKS["skipped"], "framework": LOOKS["failed"]}
PARTS = (LOOKS["waiting"], LOOKS["judging"], LOOKS["done"])
ROW, BAR, GAP, GROUP = 26.0, 14.0, 14.0, 10.0  # pixels
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
        """Where hair lines are drawn: at each tenfold, or nowhere."""
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
    places: int = 1,
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
        places: of the numbers, behind the point.
    """
    sheet, top = _titled(title)
    left = MARGIN + max(width(name, SMALL, bold=kind == "ours") for name, kind in rows.items()) + GAP
    wide = (WIDEST - MARGIN - left) / len(numbers)
    widest = max(width(_said(value, places), SMALL) for column in numbers.values() for value in column.values())
    long, first = wide - widest - 5 - GAP, top + 24
    order = list(rows)
    lines = {name: first + ROW * n + GROUP * sum(gap in order[: n + 1] for gap in gaps) for n, name in enumerate(order)}
    bottom = first + ROW * len(rows) + GROUP * len(gaps)
    for name, y in lines.items():
        sheet.text(left - GAP, y + 17, name, anchor="end", bold=name if rows[name] == "ours" else "")
    for n, (column, values) in enumerate(numbers.items()):
        x = left + wide * n
        sheet.text(round(x, 1), top + 12, column, size=BODY, bold=column)
        for tick in scale.ticks:
            sheet.line(f"M{round(x + long * scale.place(tick), 1):g} {first:g}V{bottom:g}", ink=HAIR, thick=1)
        for name in values:
            look, y = KINDS[rows[name]], lines[name]
            pixels = max(long * scale.place(values[name]), 2)
            _bar(sheet, x, y + (ROW - BAR) / 2, pixels, BAR, look)
            sheet.text(round(x + pixels + 5, 1), y + 17, _said(values[name], places), ink=look.ink, halo=True)
        if mark is not None:
            at = round(x + long * scale.place(mark), 1)
            sheet.line(f"M{at:g} {first - 2:g}V{bottom:g}", ink=LINE, thick=1, dashed=True)
    return _noted(sheet, bottom, notes)


def parts(title: str, groups: Mapping[str, Numbers], unit: str, notes: Sequence[str] = ()) -> str:
    """Return an SVG: for each group two bars made of named parts, ours and plain, with the sum at the end."""
    sheet, top = _titled(title)
    names = [f"{group}: {who}" for group, bars in groups.items() for who in bars]
    left = MARGIN + max(width(name, SMALL, bold=True) for name in names) + GAP
    room = WIDEST - MARGIN - left - width(f"100.0 {unit}", SMALL) - 8
    most = max(math.fsum(bar.values()) for bars in groups.values() for bar in bars.values())
    y = top - GROUP
    for group, bars in groups.items():
        y += GROUP
        for n, (who, bar) in enumerate(bars.items()):
            sheet.text(left - GAP, y + 17, f"{group}: {who}", anchor="end", bold="" if n else f"{group}: {who}")
            x = left
            for (part, value), look in zip(bar.items(), [KINDS["plain"]] * len(bar) if n else PARTS, strict=True):
                long = room * value / most
                _bar(sheet, x, y + 3, max(long, 2), ROW - 6, look)
                fitting = [name for name in _names(part, value) if width(name, SMALL) < long - 8]
                sheet.text(round(x + long / 2, 1), y + 17, (*fitting, "")[0], ink=look.ink, anchor="middle")
                x += long
            sheet.text(round(x + 6, 1), y + 17, f"{_said(math.fsum(bar.values()))} {unit}")
            y += ROW
    return _noted(sheet, y, notes)


def _names(part: str, value: float) -> Iterator[str]:
    """What may be written into a part, the best first."""
    yield f"{part} {_said(value)}"
    yield _said(value)


def _bar(sheet: Canvas, x: float, y: float, wide: float, high: float, look: Look) -> None:
    sheet.elements.append(
        f'<rect x="{round(x, 1):g}" y="{y:g}" width="{round(wide, 1):g}" height="{high:g}" rx="2"'
        f' fill="{look.fill}" stroke="{look.ink}" stroke-width="1"/>'
    )


def _titled(title: str) -> tuple[Canvas, float]:
    sheet, y = Canvas(), float(MARGIN)
    for line in _wrapped(title, TITLE, bold=True):
        sheet.text(MARGIN, y + TITLE, line, size=TITLE, bold=line)
        y += 21
    return sheet, y + 14


def _noted(sheet: Canvas, y: float, notes: Sequence[str]) -> str:
    y += 12
    for note in notes:
        for line in _wrapped(note, SMALL):
            sheet.text(MARGIN, y + SMALL, line, ink=MUTED)
            y += 16
    return sheet.svg(WIDEST, y + MARGIN - 4) + "\n"


def _wrapped(words: str, size: float, bold: bool = False) -> list[str]:
    """The words in lines that are broken at blanks alone, so that a number stays in one piece."""
    lines = [""]
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if width(longer, size, bold) <= WIDEST - 2 * MARGIN:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _said(value: float, places: int = 1) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.{places}f}"
