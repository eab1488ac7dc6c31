"""The texts of a plan on the desk: its head, its steps, its other parts, the steps that can't be undone; and of a decision."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planexec_lab.views.drawing.text_fitting import clean
from planexec_lab.views.drawing.theme import CHANGES
from planexec_lab.views.drawing.visible import call, visible
from planexec_lab.views.drawing.wording import count, listed, value
from planexec_lab.views.review_desk import looks, marks
from planexec_lab.views.review_desk.draft import Draft, Row
from planexec_lite.capabilities.budget import in_words
from planexec_lite.decisions import Decision
from planexec_lite.events import gate_in_words
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Effects

COUNTED: dict[Effects, tuple[str, str]] = {
    "none": ("only reads", "only read"), "idempotent": ("may be repeated", "may be repeated"),
    "unknown": ("declares no effects", "declare no effects"), "once": ("runs at most once", "run at most once"),
}  # fmt: skip
WEIGHS: dict[marks.Risk, str] = {
    "destructive": "might delete or overwrite something and can't be undone",
    "once": "runs at most once and can't be undone",
    "unknown": "declares no effects and has no undo",
    "open": "changes something and has no undo",
}


def title(goal: str) -> str:
    """The goal as a headline."""
    return f'<h3 dir="auto">{looks.seen(goal) if goal.strip() else "A plan without a goal"}</h3>'


def head(draft: Draft) -> str:
    """The goal, the number of steps by effect, the steps that can't be undone, and the planner's changes since the last round."""
    clauses = [_counted(draft)]
    if risky := [visible(row.id) for row in draft.rows if marks.risk(row, draft.toolbox)]:
        clauses.append(f"{_steps(risky)} can't be undone")
    if chosen := [visible(row.id) for row in draft.rows if marks.chosen(row, draft)]:
        clauses.append(f"a model chooses the calls of {_steps(chosen)}")
    if draft.done:
        clauses.append(f"done already: {listed(map(visible, draft.done))}")
    sentence = escape(f"{count(len(draft.rows), 'step')}: {'; '.join(part for part in clauses if part)}")
    since = marks.changes(draft.before, draft.received) if draft.before is not None else []
    goal = title(draft.received.goal)
    return f"{goal}<p>{sentence}</p>{looks.bullets('Changed since the last plan:', since)}"


def changed(draft: Draft) -> str:
    """The reviewer's changes."""
    return looks.bullets("You changed:", marks.changes(draft.received, draft.plan) if draft.plan is not None else [])


def step(draft: Draft, row: Row, faults: Sequence[Problem] = ()) -> str:
    """A step: its description and call, its dependencies, its effects and its undo."""
    one = row.step
    came = next((step for step in draft.received.steps if step.id == row.id), None)
    edited = came is not None and repr(came.model_dump()) != repr(dict(one))
    risk = marks.risk(row, draft.toolbox)
    pills = [CHANGES["added"]] * (came is None) + [CHANGES["changed"]] * edited + ([looks.RISKS[risk]] if risk else [])
    pills += [looks.CHOSEN] * marks.chosen(row, draft)
    name = looks.isolated(one["description"]) if one["description"].strip() else "<i>no description</i>"
    waits = f"after {listed(map(visible, one['depends_on']))}" if one["depends_on"] else "starts at once"
    about = " · ".join([waits, looks.EFFECTS[marks.effects(row, draft.toolbox)], *marks.bounds(row)])
    lines = [
        " ".join([name, *map(looks.pill, pills)]),
        f"{looks.call_in_full(one['tool'], one['params'])} {looks.meta(about)}",
    ]
    if undo := one["undo"]:
        asks = looks.meta(" · asks before it is called") if undo.get("gate") else ""
        lines.append(looks.meta("undo: ") + looks.call_in_full(undo["tool"], undo["params"]) + asks)
    if one["success_criteria"]:
        lines.append(looks.meta("done when ") + looks.isolated(one["success_criteria"]))
    inner = "".join(f"<div>{line}</div>" for line in lines) + looks.problems(faults, hints=False)
    return f'<div class="pxl-step"><b>{looks.seen(row.id)}</b><div>{inner}</div></div>'


def beside_steps(plan: Plan) -> str:
    """The parts of a plan apart from its steps: rollback calls, answer, and whether it is complete."""
    paragraphs = []
    if plan.rollback:
        calls = "".join(
            f"<li>{looks.call_in_full(one.tool, one.params)}{looks.meta(' · asks before it is called') if one.gate else ''}</li>"
            for one in plan.rollback
        )
        paragraphs.append(f"<p>If the run is rolled back:</p><ol>{calls}</ol>")
    if plan.answer is not None:
        paragraphs.append(f"<p>The answer is {looks.isolated(plan.answer)}</p>")
    if not plan.complete:
        paragraphs.append("<p>The planner is asked again when these steps are done.</p>")
    return "".join(paragraphs)


def warning(draft: Draft, only: str | None = None) -> str:
    """The second question before a yes that can't be undone, about the plan or the step `only`; "" if none is needed."""
    lines = [
        f"<li>Step {looks.seen(row.id)} {WEIGHS[risk]}: <bdi>{escape(_line(row))}</bdi></li>"
        for risk, row in marks.risks(draft)
        if only in (None, row.id)
    ]
    return f"<p><strong>Approve all the same?</strong></p><ul>{''.join(lines)}</ul>" if lines else ""


def _counted(draft: Draft) -> str:
    """How many steps do what to the world."""
    done = [marks.effects(row, draft.toolbox) for row in draft.rows]
    numbers = {effects: done.count(effects) for effects in COUNTED}
    words = (f"{number} {COUNTED[effects][number > 1]}" for effects, number in numbers.items() if number)
    return ", ".join(words)


def _line(row: Row) -> str:
    return call(row.step["tool"], row.step["params"]) if row.step["tool"] else visible(row.step["description"])


def _steps(ids: list[str]) -> str:
    return f"{'step' if len(ids) == 1 else 'steps'} {listed(ids)}"


VERDICTS = {
    "approve": "Approved", "reject": "Rejected", "change": "Changes asked for", "done": "Said to be done",
    "not done": "Said not to be done", "roll back": "Rollback asked for",
}  # fmt: skip


def verdict(decision: Decision, shown: Plan) -> list[str]:
    """Return a decision about the plan that was `shown`, line by line: the verdict, by whom, about which hash; then the rest."""
    about = f"plan {(decision.plan.hash if decision.plan else decision.of)[:8]}"
    if decision.gate:
        gate = gate_in_words(decision.gate)
        about = f"{'the gate of ' if gate == f'step {decision.gate}' else ''}{gate}, {about}"
    head = f"{VERDICTS[decision.verdict]} by {clean(decision.by)}: {about}"
    comments = [f"Comment: {visible(line)}" for line in decision.comment.splitlines() if line.strip()]
    return [head, *_with_it(decision, shown), *comments]


def _with_it(decision: Decision, shown: Plan) -> list[str]:
    """Return what goes with the verdict: a result, more budget; or whose plan it is, and what later plans may add unasked."""
    if decision.budget is not None:
        more = ", ".join(in_words(name, amount) for name, amount in decision.budget.bounds.items())
        return [f"The run gets {more} more."]
    if decision.verdict == "done":
        return [f"Its result: {visible(value(decision.result))}"]
    if decision.verdict == "not done":
        return ["It is carried out again."]
    if decision.verdict != "approve":
        return []
    if decision.gate is not None:
        return ["Only this gate; the next one asks again."]
    plan = decision.plan or shown
    whose = f"as edited here (the planner wrote {decision.of[:8]})" if decision.plan else "as the planner wrote it"
    later = "Every later plan is asked about."
    if decision.grant is not None:
        steps = count(decision.grant.new_steps, "step")
        later = f"Later plans may add up to {steps} without asking, none that runs at most once."
    return [f"{count(len(plan.steps), 'step')}, {whose}.", later]
