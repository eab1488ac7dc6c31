"""The spans of a run as a collector would show them: one row a span, inside each other, on one axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planexec_lab.spans import Span, names, of
from planexec_lab.spans.span import NANO
from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.svg_canvas import Box, Canvas
from planexec_lab.views.drawing.text_fitting import aligned, clean, fit, fit_columns, width
from planexec_lab.views.drawing.theme import LOOKS, MARGIN, PLANNER, SMALL
from planexec_lab.views.drawing.wording import count, seconds
from planexec_lite.run import Run

MOST = 40  # rows that are drawn
ROW, BAR, INDENT = 22.0, 14.0, 12.0
NAMES, WORDS = 255.0, 260.0  # the most room for names, left of the bars, and for seconds and tokens, right of them
DEEPEST = 8  # further in, rows are not indented more


class Row(NamedTuple):
    """A span: its depth, its seconds since the start of the run, and its words; what it took comes first."""

    span: Span
    depth: int
    start: float
    end: float
    told: str


def spans(run: Run) -> Figure:
    """Draw the spans of a run as `planexec_lab.spans.of` returns them and a collector would receive them.

    The timeline shows the workers; the spans show the inside of each job: calls of tools and models, and nested runs.
    Only the first 40 rows of a long run are drawn.

    Args:
        run: a run, ended or not.
    """
    return draw(run)[0]


def draw(run: Run) -> tuple[Figure, Canvas]:
    """Return the figure, and the canvas that it was drawn on."""
    rows = _rows(of(run), run.makespan)
    title = _finding(rows, run.makespan)
    shown, left_out = rows[:MOST], len(rows[MOST:])
    lines = aligned(_in_words(row, run.makespan) for row in shown)
    caption = "Each row is a span, inside the one that it is indented below. ✗ marks what failed."
    caption += f" Not drawn: {left_out:,} more spans." if left_out else ""
    alt = f"Spans: {title}. " + "; ".join(_alt(row, run.makespan) for row in shown[:8])
    canvas, high = _sketch(title, shown, run.makespan)
    svg = canvas.svg(theme.WIDEST, high)
    return Figure(title, "\n".join([title, *lines, caption]), alt, caption, theme.WIDEST, svg=svg), canvas


def _rows(made: Sequence[Span], longest: float) -> list[Row]:
    """The spans, each below its parent; spans with the same parent are in the order of time."""
    inside: dict[str | None, list[Span]] = {}
    for span in made:
        inside.setdefault(span.parent_id, []).append(span)
    waiting, rows = [(span, 0) for span in inside.get(None, ())], []
    while waiting:
        span, depth = waiting.pop()
        start, end = ((at - made[0].start) / NANO for at in (span.start, span.end))
        rows.append(
            Row(span, depth, start, end, " · ".join(filter(None, [seconds(end - start, longest), _told(span)])))
        )
        within = sorted(inside.get(span.span_id, ()), key=lambda one: one.start)
        waiting += [(one, depth + 1) for one in reversed(within)]
    return rows


def _told(span: Span) -> str:
    """Why it failed; else the tokens of a call, and its dollars where they are known."""
    if span.error is not None:
        return f"✗ {clean(span.attributes.get(names.ERROR, 'failed'))}"
    if names.TOKENS_IN not in span.attributes:
        return ""
    tokens = f"{span.attributes[names.TOKENS_IN]:,} in, {span.attributes[names.TOKENS_OUT]:,} out"
    cost = span.attributes.get(names.COST)
    return tokens if cost is None else f"{tokens}, ${cost:.4f}"


def _finding(rows: Sequence[Row], makespan: float) -> str:
    doing = [row.span.attributes.get(names.OPERATION) for row in rows]
    calls = f"{count(doing.count(names.EXECUTE_TOOL), 'tool call')}, {count(doing.count(names.CHAT), 'model call')}"
    return f"{count(len(rows), 'span')} in {seconds(makespan)}: {calls}"


def _in_words(row: Row, longest: float) -> list[str]:
    name = "  " * (min(row.depth, DEEPEST) + 1) + fit_columns(clean(row.span.name), 48)
    return [name, seconds(row.start, longest), f"– {seconds(row.end, longest)}", fit_columns(row.told, 60)]


def _alt(row: Row, longest: float) -> str:
    return f"{fit_columns(clean(row.span.name), 40)} {seconds(row.start, longest)} to {seconds(row.end, longest)}"


def _sketch(title: str, shown: Sequence[Row], longest: float) -> tuple[Canvas, int]:
    canvas = Canvas()
    top, _ = canvas.heading(title)
    names = max((_left(row) - MARGIN + width(clean(row.span.name), SMALL) for row in shown), default=0.0)
    words = max((width(row.told, SMALL) for row in shown), default=0.0)
    begin = round(MARGIN + min(names, NAMES) + 10)
    end = int(theme.WIDEST - MARGIN - min(words, WORDS) - 9)
    canvas.text(begin, top + 4, seconds(0.0, longest), ink=theme.MUTED)
    canvas.text(end, top + 4, seconds(longest, longest), ink=theme.MUTED, anchor="end")
    y = top + 12
    for x in (begin, end):
        canvas.line(f"M{x:g} {y:g}V{y + ROW * len(shown):g}", ink=theme.HAIR, thick=1)
    for row in shown:
        _row(canvas, row, y, longest, begin, end)
        y += ROW
    return canvas, int(y + MARGIN)


def _left(row: Row) -> float:
    return MARGIN + INDENT * min(row.depth, DEEPEST)


def _row(canvas: Canvas, row: Row, y: float, longest: float, first: float, last: float) -> None:
    look, left = _look(row.span), _left(row)
    canvas.text(left, y + 15, fit(clean(row.span.name), first - left - 10, SMALL))
    scale = (last - first) / longest if longest else 0.0
    # a model call's reported duration can exceed that of its job
    start, end = (min(first + at * scale, last) for at in (row.start, row.end))
    box = Box(min(start, last - 2), y + 4, max(end - start, 2.0), BAR, row.span.name)
    canvas.box(box, fill=look.fill, ink=look.ink)
    told = fit(row.told, theme.WIDEST - MARGIN - last - 8, SMALL)
    canvas.text(last + 8, y + 15, told, ink=look.ink if row.span.error is not None else theme.TEXT)


def _look(span: Span) -> theme.Look:
    if span.error is not None:
        return LOOKS["failed"]
    if span.attributes.get(names.OPERATION) in (names.PLAN, names.CHAT):
        return PLANNER
    return LOOKS["waiting" if span.attributes.get(names.OPERATION) == names.INVOKE_AGENT else "done"]
