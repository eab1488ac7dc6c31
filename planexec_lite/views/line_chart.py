"""A chart of a few lines over the same counts, such as minutes over cooks: each line has its name at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log10

from planexec_lite.views.drawing import theme
from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.svg_canvas import Canvas
from planexec_lite.views.drawing.text_fitting import aligned, clean, width, wrap_to
from planexec_lite.views.drawing.theme import LOOKS, MARGIN, SMALL, TITLE
from planexec_lite.views.drawing.wording import numeral

HIGH, LEAST = 200.0, 14.0  # of the plot, and from one name to the next
INKS = (LOOKS["done"].ink, LOOKS["failed"].ink, theme.MUTED, LOOKS["running"].ink)


def curves(lines: Mapping[str, Mapping[int, float]], title: str, *, across: str, up: str) -> Figure:
    """Draw numbers over counts, one line a name: the first is drawn solid with its points, the others dashed.

    Args:
        lines: name of a line -> (count -> number). All lines have the same counts.
        title: the finding, in one sentence.
        across: what is counted, such as "cooks".
        up: what the numbers are, such as "minutes".

    Raises:
        ValueError: when there is no line, a number is below zero, or two lines have different counts.
    """
    counts = sorted(next(iter(lines.values()), {}))
    if not counts or any(sorted(line) != counts for line in lines.values()):
        raise ValueError("curves: give at least one line, and every line the same counts")
    if min(min(line.values()) for line in lines.values()) < 0:
        raise ValueError("curves: a line goes below zero, where this chart ends")
    names = [clean(name) for name in lines]
    rows = [[f"  {across}", *(f"{count:,}" for count in counts)]]
    rows += [
        [f"  {name}", *(numeral(line[count]) for count in counts)]
        for name, line in zip(names, lines.values(), strict=True)
    ]
    text = "\n".join([clean(title), *aligned(rows)])
    told = [f"{name}: {', '.join(row[1:])}" for name, row in zip(names, rows[1:], strict=True)]
    alt = f"Chart: {clean(title)}. {up} over {', '.join(rows[0][1:])} {across}. {'; '.join(told)}."
    points = [[line[count] for count in counts] for line in lines.values()]
    canvas, wide, high = _sketch(clean(title), names, counts, points, across, up)
    return Figure(clean(title), text, alt, f"{up.capitalize()} over {across}.", wide, svg=canvas.svg(wide, high))


def _sketch(
    title: str, names: Sequence[str], counts: Sequence[int], points: Sequence[Sequence[float]], across: str, up: str
) -> tuple[Canvas, int, int]:
    canvas, top = Canvas(), float(MARGIN + TITLE)
    for words in wrap_to(title, theme.WIDEST - 2 * MARGIN, TITLE, 3, bold=True):
        canvas.text(MARGIN, top, words, size=TITLE, bold=words)
        top += 20.0
    step = _step(max(max(line) for line in points))
    most = step * max(ceil(max(max(line) for line in points) / step), 1)
    left = MARGIN + width(f"{most:,g}", SMALL) + 10
    right = theme.WIDEST - MARGIN - 12 - max(width(name, SMALL) for name in names)
    apart = (right - left - 40) / max(len(counts) - 1, 1)
    xs = [round(left + 20 + apart * place, 1) for place in range(len(counts))]

    def height(value: float) -> float:
        return round(top + 8 + HIGH * (1 - value / most), 1)

    for number in range(round(most / step) + 1):
        y = height(step * number)
        canvas.line(f"M{left:g} {y:g}H{right:g}", ink=theme.HAIR, thick=1)
        canvas.text(left - 6, y + 4, f"{step * number:,g}", ink=theme.MUTED, anchor="end")
    for x, count in zip(xs, counts, strict=True):
        canvas.text(x, height(0) + 18, f"{count:,}", ink=theme.MUTED, anchor="middle")
    canvas.text(right, height(0) + 34, f"{across} →", ink=theme.MUTED, anchor="end")
    canvas.text(left, height(0) + 34, f"↑ {up}", ink=theme.MUTED)
    for number, line in enumerate(points):
        ink = INKS[number % len(INKS)]
        way = "L".join(f"{x:g} {height(value):g}" for x, value in zip(xs, line, strict=True))
        canvas.line(f"M{way}", ink=ink, thick=1.25 if number else 2.5, dashed=bool(number))
        for x, value in zip(xs, line, strict=True) if not number else ():
            canvas.line(f"M{x - 3:g} {height(value):g}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", ink=ink, thick=3)
    for name, y, ink in _spread(names, [height(line[-1]) for line in points]):
        canvas.text(right + 8, y + 4, name, ink=ink)
    return canvas, theme.WIDEST, int(height(0) + 34 + MARGIN / 2)


def _spread(names: Sequence[str], ends: Sequence[float]) -> list[tuple[str, float, str]]:
    """The names at the ends of their lines, moved down where two would stand on each other."""
    placed: list[tuple[str, float, str]] = []
    for number in sorted(range(len(names)), key=lambda number: ends[number]):
        y = max(ends[number], placed[-1][1] + LEAST) if placed else ends[number]
        placed.append((names[number], y, INKS[number % len(INKS)]))
    return placed


def _step(most: float) -> float:
    """A round number of which about five make `most`."""
    power: float = 10 ** (ceil(log10(most)) - 1) if most > 0 else 1.0
    return next(power * part for part in (0.2, 0.5, 1, 2, 5) if power * part * 6 >= most)
