"""The plan under review as a table, in text and in HTML: for viewers that show no widgets. Nothing of it is cut."""

from __future__ import annotations

from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.table import WHOLE, Row, table
from planexec_lite.views.drawing.theme import LOOKS
from planexec_lite.views.drawing.visible import call, visible
from planexec_lite.views.drawing.wording import count
from planexec_lite.views.review_desk import marks
from planexec_lite.views.review_desk.draft import Draft
from planexec_lite.views.review_desk.draft import Row as Line
from planexec_lite.views.review_desk.look import EFFECTS, RISKS

HEAD = ("step", "what", "call", "waits for", "effects")


def figure(draft: Draft, verdict: str = "") -> Figure:
    """Return the plan as it came: the steps, what they wait for, what they do to the world; and what is beside them.

    Args:
        draft: the plan under review.
        verdict: what was decided, in words; "" while nobody has decided.
    """
    rows = [
        Row(
            [row.id, visible(row.step["description"]), call(row.step["tool"], row.step["params"]),
             ", ".join(row.step["depends_on"]), _effects(draft, row)],
            LOOKS["waiting"],
        )
        for row in draft.rows
    ]  # fmt: skip
    plan = draft.received
    title = f"To review: {count(len(rows), 'step')}" + (f" to “{visible(plan.goal)}”" if plan.goal else "")
    sentences = [f"{verdict}"] if verdict else []
    sentences += [f"✗ {visible(problem)}." for problem in draft.problems]
    sentences += [f"Rolled back by {', '.join(call(one.tool, one.params) for one in plan.rollback)}."] * bool(
        plan.rollback
    )
    sentences += [f"The answer is {visible(plan.answer)}"] if plan.answer is not None else []
    sentences += [] if plan.complete else ["The planner is asked again when these steps are done."]
    return table(title, HEAD, rows, " ".join(sentences), lines=WHOLE)


def _effects(draft: Draft, row: Line) -> str:
    """What a step does to the world, and what else changes what happens."""
    one, risk = row.step, marks.risk(row, draft.toolbox)
    effects = [RISKS[risk].word if risk else EFFECTS[marks.effects(row, draft.toolbox)]]
    effects += [f"undo: {call(one['undo']['tool'], one['undo']['params'])}"] if one["undo"] else []
    effects += [f"done when {visible(one['success_criteria'])}"] if one["success_criteria"] else []
    return ", ".join([*effects, *marks.bounds(row)])
