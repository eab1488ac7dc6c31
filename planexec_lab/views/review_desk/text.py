"""A question in text and in HTML: its subject uncut, why it is asked, the verdicts, and the board of the run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planexec_lab.views.board_table import in_full
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import WHOLE, Row, table
from planexec_lab.views.drawing.theme import LOOKS
from planexec_lab.views.drawing.visible import call, visible
from planexec_lab.views.review_desk import looks, marks, summary
from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.draft import Row as Line
from planexec_lab.views.review_desk.questions import Sheet
from planexec_lite.plan import Problem
from planexec_lite.run.events import Decision

HEAD = ("step", "what", "call", "waits for", "effects")


def parts(sheet: Sheet, decision: Decision | None = None) -> list[str | Figure]:
    """What the desk shows, in order. A decision comes first, and replaces the verdicts that were possible."""
    question = sheet.question
    verdicts = [f"{label}: {question.verdicts[verdict]}" for verdict, label in sheet.labels.items()]
    asks = "\n".join([*why(sheet), *verdicts])
    if decision is not None:
        return ["\n".join(summary.verdict(decision, question)), *subject(sheet), *board(sheet)]
    return [*subject(sheet), asks, *board(sheet)]


def subject(sheet: Sheet) -> list[str | Figure]:
    """The plan as a table, or the call and the amounts line by line; calls are never broken."""
    if sheet.question.plan is not None:
        details = "\n".join(sheet.details())
        return [_plan(sheet), details] if details else [_plan(sheet)]
    lines = [summary.title(sheet.question)]
    for row in sheet.draft.rows:
        tool, what = row.step["tool"], row.step["description"]
        lines += [call(tool, row.step["params"])] if tool is not None else []
        lines += [visible(what)] if what.strip() else []
        lines.append(_effects(sheet.draft, row))
    return ["\n  ".join([*lines, *sheet.details(), *summary.beside(sheet.draft.received)])]


def head(sheet: Sheet) -> str:
    """The subject in HTML, apart from the rows of a plan that can be edited."""
    draft, question = sheet.draft, sheet.question
    inside = question.plan is not None and not sheet.editable
    html = _plan(sheet)._repr_html_() if inside else f'<h3 dir="auto">{escape(summary.title(question))}</h3>'
    if question.plan is not None:
        since = marks.changes(draft.before, draft.received) if draft.before is not None else []
        html += looks.paragraphs([summary.sentence(draft)]) + looks.bullets("Changed since the last plan:", since)
    else:
        html += "".join(summary.step(draft, row) for row in draft.rows)
        html += looks.paragraphs(summary.beside(draft.received))
    return html + looks.bullets("", sheet.details())


def why(sheet: Sheet) -> list[str]:
    """Why the run asks, as a sentence; nothing if no reason is given."""
    reason = visible(sheet.question.why)
    return [f"{reason[0].upper()}{reason[1:]}."] if reason else []


def board(sheet: Sheet) -> list[Figure]:
    """The board of the run that asks, unless it would only repeat the plan."""
    run, is_plan = sheet.run, sheet.question.plan is not None
    return [] if run is None or (is_plan and not run.board.results) else [in_full(run.board, sheet.question.step)]


def figure(draft: Draft, title: str = "To review", faults: Sequence[Problem] = ()) -> Figure:
    """Return a plan with its faults: its steps with dependencies and effects, and its other parts."""
    rows = [Row([*_cells(row), _effects(draft, row)], LOOKS["waiting"]) for row in draft.rows]
    caption = " ".join([*(f"✗ {visible(fault)}." for fault in faults), *summary.beside(draft.received)])
    return table(title, HEAD, rows, caption, lines=WHOLE)


def _plan(sheet: Sheet) -> Figure:
    faults = sheet.draft.problems if sheet.editable else ()
    return figure(sheet.draft, summary.title(sheet.question), faults)


def _cells(row: Line) -> list[str]:
    one = row.step
    waits_for = ", ".join(map(visible, one["depends_on"]))
    return [visible(row.id), visible(one["description"]), call(one["tool"], one["params"]), waits_for]


def _effects(draft: Draft, row: Line) -> str:
    """A step's effects and other settings."""
    one, warning = row.step, looks.warning(draft, row)
    effects = [warning.word if warning else looks.EFFECTS[marks.effects(row, draft.toolbox)][0]]
    effects += [f"undo: {call(one['undo']['tool'], one['undo']['params'])}"] if one["undo"] else []
    effects += [looks.CHOSEN.word] * marks.chosen(row, draft)
    effects += [f"done when {visible(one['success_criteria'])}"] if one["success_criteria"] else []
    return ", ".join([*effects, *marks.bounds(row)])
