"""The board as a table: how every step stands, what it waits for, and what came of it. No times."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planexec_lite.board import Board
from planexec_lite.run import Run
from planexec_lite.views import theme
from planexec_lite.views.figure import Figure
from planexec_lite.views.theme import BODY, LOOKS
from planexec_lite.views.words import clean, count, fit, fit_columns, listed, name_of, table, value, width

HEAD = ("step", "status", "what", "waits for", "attempt", "result")
WIDEST = {"step": 80.0, "status": 110.0, "waits for": 90.0, "attempt": 60.0}
SPACE, PILL = 16.0, 16.0  # what a cell, and the mark of a state, have beside their words
CELL = f"padding:5px {SPACE:g}px 5px 0;text-align:left;vertical-align:top;font-size:{BODY}px;background-color:{theme.PLATE}"


def board(shown: Run | Board) -> Figure:
    """Show where a run stands, step by step, as a table that says the same in text and in HTML.

    A result is shown as JSON, an error as it was reported; long ones are shortened in the middle.
    """
    stand = shown.board if isinstance(shown, Run) else shown
    title, caption = _finding(stand), _caption(stand)
    rows = [_row(stand, id) for id in stand.steps]
    kept = [
        number for number, name in enumerate(HEAD) if name in ("step", "status") or any(row[number] for row in rows)
    ]
    head, rows = [HEAD[number] for number in kept], [[row[number] for number in kept] for row in rows]
    texts = [[fit_columns(cell, 60 if name in ("what", "result") else 1000) for name, cell in zip(head, row, strict=True)]
             for row in rows]  # fmt: skip
    lines = [f"  {line}" for line in table([head, *texts])] if rows else []
    text = "\n".join([title, *lines, *([caption] if caption else [])])
    states = [stand.state[id] for id in stand.steps]
    wide = _widths(head, rows)
    across = sum(wide) + SPACE * len(wide) + 2 * theme.MARGIN
    across = max(440, across, width(title, theme.TITLE, bold=True) + 2 * theme.MARGIN)
    whole = min(int(across), theme.WIDEST)
    return Figure(title, text, title, caption, whole, table=_html(title, head, rows, states, wide))


def _widths(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[float]:
    """The width of each column: as wide as its words; where that is too much, names and results share what is left."""
    natural = [max(width(cell, BODY, bold=name == "step") for cell in column) + (PILL if name == "status" else 0)
               for name, column in zip(head, zip(head, *rows, strict=True), strict=True)]  # fmt: skip
    wide = [min(room, WIDEST.get(name, room)) for name, room in zip(head, natural, strict=True)]
    elastic = [number for number, name in enumerate(head) if name not in WIDEST]
    left = theme.WIDEST - 2 * theme.MARGIN - SPACE * len(wide) - sum(wide)
    for number in sorted(elastic, key=lambda number: -wide[number]):
        if left < 0:
            least = min(wide[number], 240.0)
            cut = max(least, wide[number] + left)
            left, wide[number] = left + wide[number] - cut, cut
    return wide


def _row(stand: Board, id: str) -> list[str]:
    state = stand.state[id]
    attempt, attempts = stand.attempt.get(id, (1, 1))
    came = value(stand.results[id]) if id in stand.results else clean(stand.errors.get(id, ""))
    tried = f"{attempt} of {attempts}" if attempts > 1 else ""
    return [id, str(LOOKS[state]), name_of(stand.steps[id]), ", ".join(stand.steps[id].depends_on), tried, came]


def _finding(stand: Board) -> str:
    states = [state for state in stand.state.values() if state != "superseded"]
    done = f"{states.count('done')} of {count(len(states), 'step')} done" if states else "no plan yet"
    if stand.ended:
        if stand.ended.status == "failed" and stand.failed:
            skipped = states.count("skipped")
            return f"Step {listed(stand.failed)} failed: {done}" + (f", {skipped} skipped" if skipped else "")
        return f"{stand.ended.status.capitalize()}: {done}"
    if stand.paused:
        what = f"before step {stand.paused.step}" if stand.paused.step else "for approval of the plan"
        return f"Paused {what}: {done}"
    return done[0].upper() + done[1:]


def _caption(stand: Board) -> str:
    said = []
    if stand.ended and stand.ended.status != "finished":
        said.append(f"Ended: {clean(stand.ended.reason)}.")
    if stand.problems:
        said.append(f"The planner's last answer was refused: {'; '.join(clean(fault) for fault in stand.problems)}.")
    return fit_columns(" ".join(said), 400)


def _html(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], states: Sequence[str], wide: Sequence[float]
) -> str:
    shown = [[fit(cell, room, BODY) for room, cell in zip(wide, row, strict=True)] for row in rows]
    lines = [f'<table style="{_TABLE}">', f'<caption style="{_TITLE}">{escape(title)}</caption>']
    if rows:
        style = f"{CELL};color:{theme.MUTED};font-weight:normal;white-space:nowrap;border-bottom:1px solid {theme.LINE}"
        names = "".join(f'<th scope="col" style="{style}">{name}</th>' for name in head)
        lines.append(f"<thead><tr>{names}</tr></thead>\n<tbody>")
    for cells, state in zip(shown, states, strict=True):
        faint = theme.MUTED if state in ("skipped", "superseded") else theme.TEXT
        style = f"{CELL};color:{faint};border-bottom:1px solid {theme.HAIR}"
        inner = [_pill(state) if name == "status" else _bold(cell) if name == "step" else escape(cell)
                 for name, cell in zip(head, cells, strict=True)]  # fmt: skip
        whole = [f"{style};white-space:nowrap" if room < 120 else style for room in wide]
        tds = (f'<td style="{how}">{cell}</td>' for how, cell in zip(whole, inner, strict=True))
        lines.append(f'<tr style="background-color:{theme.PLATE}">{"".join(tds)}</tr>')
    return "\n".join([*lines, *(["</tbody>"] if rows else []), "</table>"])


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


def _pill(state: str) -> str:
    look = LOOKS[state]
    line = "dashed" if state == "skipped" else "solid"
    style = (
        f"background-color:{look.fill};color:{look.ink};border:1px {line} {look.ink};"
        f"border-radius:{theme.RADIUS}px;padding:1px 7px;white-space:nowrap"
    )
    return f'<span style="{style}">{look}</span>'
