"""The plan under review as a table, in text and in HTML: for viewers that show no widgets."""

from __future__ import annotations

from planexec_lite.views.figure import Figure
from planexec_lite.views.review_desk import look, marks
from planexec_lite.views.review_desk.draft import Draft
from planexec_lite.views.sheet import Row, sheet
from planexec_lite.views.theme import LOOKS
from planexec_lite.views.words import clean, count

HEAD = ("step", "what", "call", "waits for", "effects")


def figure(draft: Draft) -> Figure:
    """Return the plan as it came: the steps, what they wait for, and what they do to the world."""
    rows = []
    for row in draft.rows:
        done = (
            look.DANGER.word if marks.dangerous(row, draft.toolbox) else look.EFFECTS[marks.effects(row, draft.toolbox)]
        )
        done += f", undo: {look.call(row, 'undo')}" if row.step["undo"] else ""
        name, waits = clean(row.step["description"]), ", ".join(row.step["depends_on"])
        rows.append(Row([row.id, name, look.call(row), waits, done], LOOKS["waiting"]))
    title = f"To review: {count(len(rows), 'step')}" + (
        f" to “{clean(draft.received.goal)}”" if draft.received.goal else ""
    )
    caption = " ".join(f"✗ {clean(problem)}." for problem in draft.problems[:6])
    return sheet(title, HEAD, rows, caption, lines=2)
