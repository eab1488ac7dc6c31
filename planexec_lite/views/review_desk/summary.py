"""What stands on the desk in words: the head, a step in its row, how the draft stands, the question before a yes, the end."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planexec_lite.events import gate_in_words
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Effects
from planexec_lite.views.drawing.theme import CHANGES
from planexec_lite.views.drawing.visible import call, visible
from planexec_lite.views.drawing.wording import count, listed
from planexec_lite.views.review_desk import marks
from planexec_lite.views.review_desk.calls import in_html, isolated, seen
from planexec_lite.views.review_desk.draft import Draft, Row
from planexec_lite.views.review_desk.look import CHOSEN, EFFECTS, RISKS, WANTED, bullets, pill, problems

COUNTED: dict[Effects, tuple[str, str]] = {
    "none": ("only reads", "only read"), "idempotent": ("may be repeated", "may be repeated"),
    "unknown": ("declares no effects", "declare no effects"), "once": ("runs at most once", "run at most once"),
}  # fmt: skip
WEIGHS = {
    "destructive": "may delete or overwrite something and can't be undone",
    "once": "runs at most once and can't be undone",
    "unknown": "declares no effects and has no undo",
    "open": "changes something and has no undo",
}


def step(draft: Draft, row: Row, faults: Sequence[Problem], closed: bool) -> str:
    """A step: what it is for and its call; what it waits for, what it does to the world, how that is taken back."""
    came = next((one for one in draft.received.steps if one.id == row.id), None)
    edited = came is not None and repr(came.model_dump()) != repr(dict(row.step))
    risk = marks.risk(row, draft.toolbox)
    looks = [CHANGES["added"]] * (came is None) + [CHANGES["changed"]] * edited + ([RISKS[risk]] if risk else [])
    looks += [CHOSEN] * marks.chosen(row, draft)
    name = isolated(row.step["description"]) if row.step["description"].strip() else "<i>no description</i>"
    lines = [
        " ".join([name, *map(pill, looks)]),
        f"{in_html(*_call(row), f'step {row.id}')} {_meta(about(draft, row))}",
    ]
    if row.step["undo"]:
        asks = " · asks before it is called" if row.call("undo").get("gate") else ""
        lines.append(_meta("undo: ") + in_html(*_call(row, "undo"), f"the undo of step {row.id}") + _meta(asks))
    if criterion := row.step["success_criteria"]:
        lines.append(_meta("done when ") + isolated(criterion))
    if remark := draft.comments.get(row.key, "").strip():
        lines.append(_meta("to the planner: ") + isolated(remark))
    below = problems(faults, hints=False) if closed else ""
    inner = "".join(f"<div>{line}</div>" for line in lines)
    return f'<div class="pxl-step"><b>{seen(row.id)}</b><div>{inner}{below}</div></div>'


def about(draft: Draft, row: Row) -> str:
    """What a step waits for, what it does to the world, when it is given up, tried again and asked about."""
    waits = f"after {listed(map(visible, row.step['depends_on']))}" if row.step["depends_on"] else "starts at once"
    return " · ".join([waits, EFFECTS[marks.effects(row, draft.toolbox)], *marks.bounds(row)])


def head(draft: Draft, since: Sequence[str]) -> str:
    """The goal, how many steps do what, what nothing takes back, and what the planner changed since the last round."""
    risky = [row.id for row in draft.rows if marks.risk(row, draft.toolbox)]
    done = [marks.effects(row, draft.toolbox) for row in draft.rows]
    clauses = [
        ", ".join(f"{done.count(one)} {words[done.count(one) > 1]}" for one, words in COUNTED.items() if one in done)
    ]
    clauses += (
        [f"{'step' if len(risky) == 1 else 'steps'} {listed(map(visible, risky))} can't be undone"] if risky else []
    )
    chosen = [row.id for row in draft.rows if marks.chosen(row, draft)]
    clauses += [f"a model chooses the calls of {'step' if len(chosen) == 1 else 'steps'} {listed(chosen)}"] * bool(
        chosen
    )
    clauses += [f"done already: {listed(draft.done)}"] if draft.done else []
    sentence = escape(f"{count(len(draft.rows), 'step')}: {'; '.join(part for part in clauses if part)}")
    goal = seen(draft.received.goal) if draft.received.goal.strip() else "A plan to review"
    more = bullets("Changed since the last plan:", since, most=len(since))
    return f'<h3 dir="auto">{goal}</h3><p>{sentence}</p>{more}'


def beside_steps(plan: Plan) -> str:
    """What a plan holds beside its steps: what a rollback calls, what the answer is, whether more is to come."""
    paragraphs = []
    if plan.rollback:
        calls = "".join(
            f"<li>{in_html(one.tool, one.params, 'the rollback')}{_meta(' · asks before it is called') if one.gate else ''}</li>"
            for one in plan.rollback
        )
        paragraphs.append(f"<p>If the run is rolled back:</p><ol>{calls}</ol>")
    paragraphs += [f"<p>The answer is {isolated(plan.answer)}</p>"] if plan.answer is not None else []
    paragraphs += [] if plan.complete else ["<p>The planner is asked again when these steps are done.</p>"]
    return "".join(paragraphs)


def stand(draft: Draft, commented: bool, odd_grant: bool, unseen: Sequence[str]) -> str:
    """How the draft stands, in a sentence that a screen reader reads out when it changes; and its problems."""
    steps = count(len(draft.rows), "step")
    if draft.problems:
        title = f"{steps}, {count(len(draft.problems), 'problem')}: the plan can't be approved yet."
        places = (
            ("plan" if one.step is None else f"step {visible(one.step)}") + f": {visible(one.message)}"
            for one in draft.problems
        )
        return bullets(title, list(places))
    if odd_grant:
        return "<p>“Later plans” takes a number of steps, or nothing: the plan can't be approved yet.</p>"
    if unseen:
        what = f"step {unseen[0]} was" if len(unseen) == 1 else f"steps {unseen[0]} to {unseen[-1]} were"
        return f"<p>{steps}: {escape(what)} not shown yet, so the plan can't be approved yet.</p>"
    stand = f"{steps}, valid, {'edited by you' if draft.edited else 'as the planner wrote it'}."
    return f"<p>{stand}{'' if commented else WANTED}</p>"


def head_at_gate(draft: Draft, what: str) -> str:
    """The goal, and before what the run waits."""
    goal = seen(draft.received.goal) if draft.received.goal.strip() else "A gate"
    if what.endswith("in doubt"):
        step = what.partition(",")[0]
        return f'<h3 dir="auto">{goal}</h3><p>The run was left while {escape(step)} was under way. Was it done?</p>'
    return f'<h3 dir="auto">{goal}</h3><p>The run waits before {escape(what)}.</p>'


def head_at_budget(draft: Draft, gate: str) -> str:
    """The goal, and that the budget is used up, of the run itself or of the one inside a step."""
    goal = seen(draft.received.goal) if draft.received.goal.strip() else "A budget"
    whose = "The budget" if gate == "budget" else f"The budget of the run inside step {escape(gate)}"
    return f'<h3 dir="auto">{goal}</h3><p>{whose} is used up:</p>'


def stand_at_gate(gate: str, commented: bool) -> str:
    """What a yes means before the gate of a step, or before an undo."""
    what = escape(gate_in_words(gate))
    meaning = f"{what[0].upper()}{what[1:]} {'starts' if what.startswith('step') else 'is made'} when you approve"
    meaning += (
        "; the yes opens this gate alone."
        if what.startswith("step")
        else "; a no leaves it out, and the rollback goes on."
    )
    return f"<p>{meaning}{'' if commented else WANTED}</p>"


def question(draft: Draft, only: str | None = None) -> str:
    """What is asked before a yes that nothing takes back, to the plan or to the step `only`; "" where there is nothing to ask."""
    asked = [(risk, row) for risk, rows in marks.risks(draft).items() for row in rows if only in (None, row.id)]
    lines = [f"<li>Step {seen(row.id)} {WEIGHS[risk]}: <bdi>{escape(_line(row))}</bdi></li>" for risk, row in asked]
    return f"<p><strong>Approve all the same?</strong></p><ul>{''.join(lines)}</ul>" if lines else ""


def closed(headline: str, more: Sequence[str] = ()) -> str:
    """What stands on a desk where nothing can be changed any more: what was decided, and what goes with it."""
    below = "".join(f"<p>{isolated(line)}</p>" for line in more)
    return f"<p><strong>{escape(headline)}</strong></p>{below}"


def _line(row: Row) -> str:
    return call(*_call(row)) if row.step["tool"] else visible(row.step["description"])


def _call(row: Row, side: str = "") -> tuple[str | None, dict[str, object]]:
    one = row.call("undo" if side else "")
    return one["tool"], dict(one["params"])


def _meta(words: str) -> str:
    return f'<span class="pxl-meta">{escape(words)}</span>'
