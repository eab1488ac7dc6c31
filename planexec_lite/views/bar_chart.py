"""A chart of bars, one a name, with the numbers beside them: what is compared stands in one column, the remarks in another."""

from __future__ import annotations

from collections.abc import Mapping

from planexec_lite.views.drawing import theme
from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.svg_canvas import Box, Canvas
from planexec_lite.views.drawing.text_fitting import aligned, clean, fit, width, wrap_to
from planexec_lite.views.drawing.theme import BODY, LOOKS, MARGIN, SMALL, TITLE
from planexec_lite.views.drawing.wording import numeral

ROW, HIGH = 24.0, 14.0  # from one bar to the next, and of a bar
NAMES, LEAST = 240.0, 120.0  # the most room for names, and the least for bars


def bars(
    values: Mapping[str, float], title: str, unit: str, *, remarks: Mapping[str, str] | None = None, marked: str = ""
) -> Figure:
    """Draw a bar for each name, from zero, in the order given.

    Args:
        values: name -> number, zero or more.
        title: the finding, in one sentence.
        unit: what the numbers are, such as "seconds".
        remarks: name -> a few words that stand behind the bar.
        marked: the name whose bar is darker; "": none.

    Raises:
        ValueError: when there is no bar, or a number is below zero.
    """
    if not values or min(values.values()) < 0:
        raise ValueError("bars: give at least one number, and none below zero")
    said = {name: clean((remarks or {}).get(name, "")) for name in values}
    rows = [[f"  {clean(name)}", numeral(value), said[name]] for name, value in values.items()]
    text = "\n".join([clean(title), *aligned([["", unit, ""], *rows])])
    told = "; ".join(" ".join(part.strip() for part in row if part.strip()) for row in rows)
    canvas, high = _sketch(values, clean(title), said, marked)
    return Figure(clean(title), text, f"Bars: {clean(title)}. {unit}: {told}.", f"{unit.capitalize()}.", theme.WIDEST,
                  svg=canvas.svg(theme.WIDEST, high))  # fmt: skip


def _sketch(values: Mapping[str, float], title: str, said: Mapping[str, str], marked: str) -> tuple[Canvas, int]:
    canvas, top = Canvas(), float(MARGIN + TITLE)
    for words in wrap_to(title, theme.WIDEST - 2 * MARGIN, TITLE, 3, bold=True):
        canvas.text(MARGIN, top, words, size=TITLE, bold=words)
        top += 20.0
    names = {name: fit(clean(name), NAMES, BODY) for name in values}
    left = MARGIN + max(width(name, BODY) for name in names.values()) + 10
    numbers = {name: numeral(value) for name, value in values.items()}
    wide = max(width(number, SMALL) for number in numbers.values()) + 8
    rest = max(width(words, SMALL) for words in said.values())
    room = max(theme.WIDEST - MARGIN - left - wide - (rest + 14 if rest else 0), LEAST)
    most = max(values.values()) or 1.0
    for place, (name, value) in enumerate(values.items()):
        y = top + 4 + ROW * place
        look = LOOKS["running"] if name == marked else LOOKS["done"]
        long = round(max(room * value / most, 1.0), 1)
        canvas.text(left - 10, y + HIGH - 3, names[name], size=BODY, anchor="end")
        canvas.box(Box(left, y, long, HIGH, name), fill=look.fill, ink=look.ink, thick=2 if name == marked else 1)
        canvas.text(left + long + 8, y + HIGH - 3, numbers[name])
        if said[name]:
            at = theme.WIDEST - MARGIN
            canvas.text(
                at, y + HIGH - 3, fit(said[name], at - left - room - wide, SMALL), ink=theme.MUTED, anchor="end"
            )
    return canvas, int(top + ROW * len(values) + MARGIN / 2)
