"""A chart of counts: one row a case, one column an outcome, each cell a bar with its number. Columns need no legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planexec_lite.views.drawing import theme
from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.svg_canvas import Canvas
from planexec_lite.views.drawing.text_fitting import aligned, clean, fit, width, wrap_to
from planexec_lite.views.drawing.theme import LOOKS, MARGIN, SMALL, TITLE

ROW, BAR, NAMES = 24.0, 16.0, 170.0  # from row to row, how high a bar is, and the room of the names, in pixels


def tallies(rows: Mapping[str, Mapping[str, int]], title: str, *, wanted: str, of: str) -> Figure:
    """Draw how often each outcome came, a case a row; the outcome that is wanted is told by symbol, word and fill.

    Args:
        rows: name of a case -> (outcome -> count). All cases have the same outcomes, in the same order.
        title: the finding, in one sentence.
        wanted: the outcome that is hoped for.
        of: what is counted, such as "answers".

    Raises:
        ValueError: when there is no row, two rows have different outcomes, none of which is the wanted one, or a count
            is below zero.
    """
    outcomes = list(next(iter(rows.values()), {}))
    if wanted not in outcomes or any(list(row) != outcomes for row in rows.values()):
        raise ValueError("tallies: give at least one row, every row the same outcomes, and the wanted one among them")
    if min(min(row.values()) for row in rows.values()) < 0:
        raise ValueError("tallies: a count is below zero")
    heads = [str(_look(outcome, wanted)) for outcome in outcomes]
    names = [clean(name) for name in rows]
    counts = [list(row.values()) for row in rows.values()]
    cells = [[f"  {of}", *heads, "together"]]
    cells += [[f"  {name}", *map(str, row), str(sum(row))] for name, row in zip(names, counts, strict=True)]
    text = "\n".join([clean(title), *aligned(cells)])
    told = [
        f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in zip(outcomes, row, strict=True) if count)}"
        for name, row in zip(names, counts, strict=True)
    ]
    alt = f"Chart: {clean(title)}. {of.capitalize()} by outcome. {'; '.join(told)}."
    canvas, high = _sketch(clean(title), names, counts, outcomes, wanted)
    caption = f"Each row: {of} of one case, by what became of them; the bars of a row add up to all of them."
    return Figure(clean(title), text, alt, caption, theme.WIDEST, svg=canvas.svg(theme.WIDEST, high))


def _look(outcome: str, wanted: str) -> theme.Look:
    like = LOOKS["done" if outcome == wanted else "failed"]
    return like._replace(word=clean(outcome))


def _sketch(
    title: str, names: Sequence[str], counts: Sequence[Sequence[int]], outcomes: Sequence[str], wanted: str
) -> tuple[Canvas, int]:
    canvas, top = Canvas(), float(MARGIN + TITLE)
    for words in wrap_to(title, theme.WIDEST - 2 * MARGIN, TITLE, 3, bold=True):
        canvas.text(MARGIN, top, words, size=TITLE, bold=words)
        top += 20.0
    left = MARGIN + min(NAMES, 16 + max(width(name, SMALL) for name in names))
    column = (theme.WIDEST - MARGIN - left) / len(outcomes)
    room = column - 34  # beside the longest bar stands its number
    for place, outcome in enumerate(outcomes):
        look = _look(outcome, wanted)
        canvas.text(left + place * column, top + 6, fit(str(look), column - 8, SMALL), ink=look.ink)
    top += 16
    for name, row in zip(names, counts, strict=True):
        canvas.text(MARGIN, top + BAR - 4, fit(name, left - MARGIN - 10, SMALL))
        for place, (outcome, count) in enumerate(zip(outcomes, row, strict=True)):
            look, x = _look(outcome, wanted), left + place * column
            canvas.line(f"M{x:g} {top:g}v{BAR:g}", ink=theme.HAIR, thick=1)
            if count:
                wide = round(room * count / sum(row), 1)
                canvas.line(f"M{x:g} {top + BAR / 2:g}h{wide:g}", ink=look.ink, thick=BAR - 4)
                canvas.text(x + wide + 5, top + BAR - 4, f"{count:,}", ink=look.ink)
        top += ROW
    return canvas, int(top + MARGIN / 2)
