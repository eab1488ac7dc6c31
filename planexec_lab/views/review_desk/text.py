"""The subject of a review as an uncut table, in text and in HTML, for viewers without widgets."""

from __future__ import annotations

from planexec_lab.views.board_table import finding, order
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import WHOLE, Row, table
from planexec_lab.views.drawing.theme import LOOKS
from planexec_lab.views.drawing.visible import call, visible, written
from planexec_lab.views.drawing.wording import count
from planexec_lab.views.review_desk import marks
from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.draft import Row as Line
from planexec_lab.views.review_desk.looks import CHOSEN, EFFECTS, RISKS
from planexec_lab.views.step_remarks import mark
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.capabilities.undo import Undo
from planexec_lite.plan import Plan
from planexec_lite.tools import Toolbox

HEAD = ("step", "what", "call", "waits for", "effects")


def figure(draft: Draft) -> Figure:
    """Return the draft: its steps with dependencies and effects, and the plan's other parts."""
    rows = [Row([*_cells(row), _effects(draft, row)], LOOKS["waiting"]) for row in draft.rows]
    goal = f" to “{visible(draft.received.goal)}”" if draft.received.goal else ""
    sentences = [f"✗ {visible(problem)}." for problem in draft.problems]
    caption = " ".join([*sentences, *_beside(draft.received)])
    return table(f"To review: {count(len(rows), 'step')}{goal}", HEAD, rows, caption, lines=WHOLE)


def standing(stand: Board, toolbox: Toolbox) -> Figure:
    """Return a run that waits for a person: each step with its state, its call, and its whole result.

    Args:
        stand: the board of the run.
        toolbox: the tools that the steps can call.
    """
    draft = Draft.of(stand.plan.changed(steps=tuple(stand.steps[id] for id in order(stand))), toolbox)
    rows = []
    for row in draft.rows:
        id, *cells = _cells(row)
        cells += [_effects(draft, row), _came(stand, row.id)]
        rows.append(Row([id, "", *cells], LOOKS[stand.state[row.id]], mark(stand, row.id)))
    undos = [undo(one) for one in reversed(stand[Rollback].left)]
    sentences = [f"Taken back next: {'; '.join(undos)}."] if stand.paused and stand.paused.reason == "undo" else []
    rejected = stand[Judging].rejected
    sentences += [f"The result of step {id} was rejected: {visible(why)}." for id, why in rejected.items()]
    sentences += [f"News: “{visible(news)}”." for news in stand[News].texts]
    caption = " ".join([*sentences, *_beside(stand.plan)])
    return table(finding(stand), (HEAD[0], "status", *HEAD[1:], "result"), rows, caption, 40, WHOLE)


def undo(one: Undo) -> str:
    """The next undo and its call."""
    return f"{one.name}: {call(one.call.tool, one.call.params)}" if one.call else one.name


def _cells(row: Line) -> list[str]:
    one = row.step
    waits_for = ", ".join(map(visible, one["depends_on"]))
    return [visible(row.id), visible(one["description"]), call(one["tool"], one["params"]), waits_for]


def _came(stand: Board, id: str) -> str:
    """The whole result, or the claim that an evaluator judges, or the error."""
    known = stand.results if id in stand.results else stand[Judging].results
    return written(known[id]) if id in known else visible(stand.errors.get(id, ""))


def _beside(plan: Plan) -> list[str]:
    """The sentences about the rollback, the answer, and the steps that the planner still has to plan."""
    calls = ", ".join(call(one.tool, one.params) for one in plan.rollback)
    sentences = [f"Rolled back by {calls}."] if calls else []
    sentences += [f"The answer is {visible(plan.answer)}"] if plan.answer is not None else []
    return sentences + ([] if plan.complete else ["The planner is asked again when these steps are done."])


def _effects(draft: Draft, row: Line) -> str:
    """A step's effects and other settings."""
    one, risk = row.step, marks.risk(row, draft.toolbox)
    effects = [RISKS[risk].word if risk else EFFECTS[marks.effects(row, draft.toolbox)]]
    effects += [f"undo: {call(one['undo']['tool'], one['undo']['params'])}"] if one["undo"] else []
    effects += [CHOSEN.word] * marks.chosen(row, draft)
    effects += [f"done when {visible(one['success_criteria'])}"] if one["success_criteria"] else []
    return ", ".join([*effects, *marks.bounds(row)])
