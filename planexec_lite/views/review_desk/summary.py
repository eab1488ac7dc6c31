"""A plan on the desk in words: its head, a step in its row, what is beside the steps, and what can't be undone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Effects
from planexec_lite.views.drawing.theme import CHANGES
from planexec_lite.views.drawing.visible import call, visible
from planexec_lite.views.drawing.wording import count, listed
from planexec_lite.views.review_desk import marks
from planexec_lite.views.review_desk.draft import Draft, Row
from planexec_lite.views.review_desk.looks import CHOSEN, EFFECTS, RISKS
from planexec_lite.views.review_desk.markup import bullets, call_in_full, isolated, meta, pill, problems, seen

COUNTED: dict[Effects, tuple[str, str]] = {
    "none": ("only reads", "only read"), "idempotent": ("may be repeated", "may be repeated"),
    "unknown": ("declares no effects", "declare no effects"), "once": ("runs at most once", "run at most once"),
}  # fmt: skip
WEIGHS: dict[marks.Risk, str] = {
    "destructive": "may delete or overwrite something and can't be undone",
    "once": "runs at most once and can't be undone",
    "unknown": "declares no effects and has no undo",
    "open": "changes something and has no undo",
}


def title(goal: str) -> str:
    """The goal as a headline."""
    return f'<h3 dir="auto">{seen(goal) if goal.strip() else "A plan without a goal"}</h3>'


def head(draft: Draft) -> str:
    """The goal, how many steps do what, what nothing takes back, and what the planner changed since the last round."""
    done = [marks.effects(row, draft.toolbox) for row in draft.rows]
    clauses = [", ".join(f"{(n := done.count(one))} {words[n > 1]}" for one, words in COUNTED.items() if one in done)]
    if risky := [visible(row.id) for row in draft.rows if marks.risk(row, draft.toolbox)]:
        clauses.append(f"{_steps(risky)} can't be undone")
    if chosen := [visible(row.id) for row in draft.rows if marks.chosen(row, draft)]:
        clauses.append(f"a model chooses the calls of {_steps(chosen)}")
    if draft.done:
        clauses.append(f"done already: {listed(map(visible, draft.done))}")
    sentence = escape(f"{count(len(draft.rows), 'step')}: {'; '.join(part for part in clauses if part)}")
    since = marks.changes(draft.before, draft.received) if draft.before is not None else []
    goal = title(draft.received.goal)
    return f"{goal}<p>{sentence}</p>{bullets('Changed since the last plan:', since)}"


def changed(draft: Draft) -> str:
    """What the reviewer changed."""
    return bullets("You changed:", marks.changes(draft.received, draft.plan) if draft.plan is not None else [])


def step(draft: Draft, row: Row, faults: Sequence[Problem] = ()) -> str:
    """A step: what it is for and its call; what it waits for, what it does to the world, how that is taken back."""
    one = row.step
    came = next((step for step in draft.received.steps if step.id == row.id), None)
    edited = came is not None and repr(came.model_dump()) != repr(dict(one))
    risk = marks.risk(row, draft.toolbox)
    looks = [CHANGES["added"]] * (came is None) + [CHANGES["changed"]] * edited + ([RISKS[risk]] if risk else [])
    looks += [CHOSEN] * marks.chosen(row, draft)
    name = isolated(one["description"]) if one["description"].strip() else "<i>no description</i>"
    waits = f"after {listed(map(visible, one['depends_on']))}" if one["depends_on"] else "starts at once"
    about = " · ".join([waits, EFFECTS[marks.effects(row, draft.toolbox)], *marks.bounds(row)])
    lines = [" ".join([name, *map(pill, looks)]), f"{call_in_full(one['tool'], one['params'])} {meta(about)}"]
    if undo := one["undo"]:
        asks = meta(" · asks before it is called") if undo.get("gate") else ""
        lines.append(meta("undo: ") + call_in_full(undo["tool"], undo["params"]) + asks)
    if one["success_criteria"]:
        lines.append(meta("done when ") + isolated(one["success_criteria"]))
    inner = "".join(f"<div>{line}</div>" for line in lines) + problems(faults, hints=False)
    return f'<div class="pxl-step"><b>{seen(row.id)}</b><div>{inner}</div></div>'


def beside_steps(plan: Plan) -> str:
    """What a plan holds beside its steps: what a rollback calls, what the answer is, whether more is to come."""
    paragraphs = []
    if plan.rollback:
        calls = "".join(
            f"<li>{call_in_full(one.tool, one.params)}{meta(' · asks before it is called') if one.gate else ''}</li>"
            for one in plan.rollback
        )
        paragraphs.append(f"<p>If the run is rolled back:</p><ol>{calls}</ol>")
    if plan.answer is not None:
        paragraphs.append(f"<p>The answer is {isolated(plan.answer)}</p>")
    if not plan.complete:
        paragraphs.append("<p>The planner is asked again when these steps are done.</p>")
    return "".join(paragraphs)


def warning(draft: Draft, only: str | None = None) -> str:
    """What is asked before a yes that nothing takes back, to the plan or to the step `only`; "" where there is nothing to ask."""
    lines = [
        f"<li>Step {seen(row.id)} {WEIGHS[risk]}: <bdi>{escape(_line(row))}</bdi></li>"
        for risk, row in marks.risks(draft)
        if only in (None, row.id)
    ]
    return f"<p><strong>Approve all the same?</strong></p><ul>{''.join(lines)}</ul>" if lines else ""


def _line(row: Row) -> str:
    return call(row.step["tool"], row.step["params"]) if row.step["tool"] else visible(row.step["description"])


def _steps(ids: list[str]) -> str:
    return f"{'step' if len(ids) == 1 else 'steps'} {listed(ids)}"
