"""Charts: bars, one for each name; lines over the same counts; and tallies with a row for each case, a column for each outcome.

Every number and name is next to its bar or line, so no chart needs a legend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log10

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.svg_canvas import Box, Canvas
from planexec_lab.views.drawing.text_fitting import aligned, clean, fit, width
from planexec_lab.views.drawing.theme import BODY, LOOKS, MARGIN, SMALL
from planexec_lab.views.drawing.wording import numeral

BAR_ROW, BAR_HIGH = 24.0, 14.0  # from one bar to the next, and of a bar
BAR_NAMES, BAR_LEAST = 240.0, 120.0  # the most room for names, and the least for bars
PLOT_HIGH, NAMES_APART = 200.0, 14.0  # of the plot, and from one name of a line to the next
INKS = (LOOKS["done"].ink, LOOKS["failed"].ink, theme.MUTED, LOOKS["running"].ink)
TALLY_ROW, TALLY_BAR, TALLY_NAMES = 24.0, 16.0, 170.0  # from row to row, how high a bar is, and the room of the names


def bars(values: Mapping[str, float], title: str, unit: str, *, remarks: Mapping[str, str] | None = None) -> Figure:
    """Draw a bar for each name, from zero, in the order given.

    Args:
        values: name -> number, zero or more.
        title: the finding, in one sentence.
        unit: what the numbers are, such as "seconds".
        remarks: name -> a few words after the bar.

    Raises:
        ValueError: when there is no bar, or a number is below zero.
    """
    if not values or min(values.values()) < 0:
        raise ValueError("bars: give at least one number, and none below zero")
    said = {name: clean((remarks or {}).get(name, "")) for name in values}
    rows = [[f"  {clean(name)}", numeral(value), said[name]] for name, value in values.items()]
    text = "\n".join([clean(title), *aligned([["", unit, ""], *rows])])
    told = "; ".join(" ".join(part.strip() for part in row if part.strip()) for row in rows)
    canvas, high = _bars(values, clean(title), said)
    return Figure(clean(title), text, f"Bars: {clean(title)}. {unit}: {told}.", f"{unit.capitalize()}.", theme.WIDEST,
                  svg=canvas.svg(theme.WIDEST, high))  # fmt: skip


def _bars(values: Mapping[str, float], title: str, said: Mapping[str, str]) -> tuple[Canvas, int]:
    canvas = Canvas()
    top, _ = canvas.heading(title)
    names = {name: fit(clean(name), BAR_NAMES, BODY) for name in values}
    left = MARGIN + max(width(name, BODY) for name in names.values()) + 10
    numbers = {name: numeral(value) for name, value in values.items()}
    wide = max(width(number, SMALL) for number in numbers.values()) + 8
    rest = max(width(words, SMALL) for words in said.values())
    room = max(theme.WIDEST - MARGIN - left - wide - (rest + 14 if rest else 0), BAR_LEAST)
    most = max(values.values()) or 1.0
    for place, (name, value) in enumerate(values.items()):
        y = top + 4 + BAR_ROW * place
        long = round(max(room * value / most, 1.0), 1)
        canvas.text(left - 10, y + BAR_HIGH - 3, names[name], size=BODY, anchor="end")
        canvas.box(Box(left, y, long, BAR_HIGH, name), fill=LOOKS["done"].fill, ink=LOOKS["done"].ink)
        canvas.text(left + long + 8, y + BAR_HIGH - 3, numbers[name])
        if said[name]:
            at = theme.WIDEST - MARGIN
            canvas.text(
                at, y + BAR_HIGH - 3, fit(said[name], at - left - room - wide, SMALL), ink=theme.MUTED, anchor="end"
            )
    return canvas, int(top + BAR_ROW * len(values) + MARGIN / 2)


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
    canvas, wide, high = _curves(clean(title), names, counts, points, across, up)
    return Figure(clean(title), text, alt, f"{up.capitalize()} over {across}.", wide, svg=canvas.svg(wide, high))


def _curves(
    title: str, names: Sequence[str], counts: Sequence[int], points: Sequence[Sequence[float]], across: str, up: str
) -> tuple[Canvas, int, int]:
    canvas = Canvas()
    top, _ = canvas.heading(title)
    step = _step(max(max(line) for line in points))
    most = step * max(ceil(max(max(line) for line in points) / step), 1)
    left = MARGIN + width(f"{most:,g}", SMALL) + 10
    right = theme.WIDEST - MARGIN - 12 - max(width(name, SMALL) for name in names)
    apart = (right - left - 40) / max(len(counts) - 1, 1)
    xs = [round(left + 20 + apart * place, 1) for place in range(len(counts))]

    def height(value: float) -> float:
        return round(top + 8 + PLOT_HIGH * (1 - value / most), 1)

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
    """The names at the ends of their lines, moved down where two names would overlap."""
    placed: list[tuple[str, float, str]] = []
    for number in sorted(range(len(names)), key=lambda number: ends[number]):
        y = max(ends[number], placed[-1][1] + NAMES_APART) if placed else ends[number]
        placed.append((names[number], y, INKS[number % len(INKS)]))
    return placed


def _step(most: float) -> float:
    """A round number of which about five make `most`."""
    power: float = 10 ** (ceil(log10(most)) - 1) if most > 0 else 1.0
    return next(power * part for part in (0.2, 0.5, 1, 2, 5) if power * part * 6 >= most)


def tallies(rows: Mapping[str, Mapping[str, int]], title: str, *, wanted: str, of: str) -> Figure:
    """Draw how often each outcome occurred, with a row for each case; the wanted outcome has its own symbol, word and fill.

    Args:
        rows: name of a case -> (outcome -> count). All cases have the same outcomes, in the same order.
        title: the finding, in one sentence.
        wanted: the desired outcome.
        of: what is counted, such as "answers".

    Raises:
        ValueError: there is no row, rows have different outcomes, the wanted outcome is missing, or a count is below
            zero.
    """
    outcomes = list(next(iter(rows.values()), {}))
    if wanted not in outcomes or any(list(row) != outcomes for row in rows.values()):
        raise ValueError("tallies: give at least one row, every row the same outcomes, and the wanted one among them")
    if min(min(row.values()) for row in rows.values()) < 0:
        raise ValueError("tallies: a count is below zero")
    heads = [str(_outcome(outcome, wanted)) for outcome in outcomes]
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
    canvas, high = _tallies(clean(title), names, counts, outcomes, wanted)
    caption = f"Each row: {of} of one case, by outcome; the bars of a row add up to the total."
    return Figure(clean(title), text, alt, caption, theme.WIDEST, svg=canvas.svg(theme.WIDEST, high))


def _outcome(outcome: str, wanted: str) -> theme.Look:
    like = LOOKS["done" if outcome == wanted else "failed"]
    return like._replace(word=clean(outcome))


def _tallies(
    title: str, names: Sequence[str], counts: Sequence[Sequence[int]], outcomes: Sequence[str], wanted: str
) -> tuple[Canvas, int]:
    canvas = Canvas()
    top, _ = canvas.heading(title)
    left = MARGIN + min(TALLY_NAMES, 16 + max(width(name, SMALL) for name in names))
    column = (theme.WIDEST - MARGIN - left) / len(outcomes)
    room = column - 34  # room for the number of the longest bar
    for place, outcome in enumerate(outcomes):
        look = _outcome(outcome, wanted)
        canvas.text(left + place * column, top + 6, fit(str(look), column - 8, SMALL), ink=look.ink)
    top += 16
    for name, row in zip(names, counts, strict=True):
        canvas.text(MARGIN, top + TALLY_BAR - 4, fit(name, left - MARGIN - 10, SMALL))
        for place, (outcome, count) in enumerate(zip(outcomes, row, strict=True)):
            look, x = _outcome(outcome, wanted), left + place * column
            canvas.line(f"M{x:g} {top:g}v{TALLY_BAR:g}", ink=theme.HAIR, thick=1)
            if count:
                wide = round(room * count / sum(row), 1)
                canvas.line(f"M{x:g} {top + TALLY_BAR / 2:g}h{wide:g}", ink=look.ink, thick=TALLY_BAR - 4)
                canvas.text(x + wide + 5, top + TALLY_BAR - 4, f"{count:,}", ink=look.ink)
        top += TALLY_ROW
    return canvas, int(top + MARGIN / 2)
