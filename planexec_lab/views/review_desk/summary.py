"""The words about a plan on the desk: its summary, its steps, its other parts, its dangers; and about a decision."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import get_args

from planexec_lab.views.drawing.text_fitting import clean
from planexec_lab.views.drawing.theme import CHANGES
from planexec_lab.views.drawing.visible import call, visible
from planexec_lab.views.drawing.wording import count, listed, seconds, value
from planexec_lab.views.review_desk import looks, marks
from planexec_lab.views.review_desk.draft import Draft, Row
from planexec_lite.capabilities.budget import SHARED, in_words, used
from planexec_lite.core.questions import Verb
from planexec_lite.plan import Plan, Problem
from planexec_lite.run import Run
from planexec_lite.run.events import Decision, Question

VERDICTS: dict[Verb, str] = {
    "approve": "Approved", "reject": "Rejected", "change": "Changes asked for", "done": "Said to be done",
    "not done": "Said not to be done", "roll back": "Rollback asked for",
}  # fmt: skip


def title(question: Question) -> str:
    """The subject as a headline: "To review: 3 steps to “Go to Lima” inside step 1", "To review: the undo of step 3"."""
    plan = question.plan
    if plan is None:
        return f"To review: {visible(question.about)}"
    goal = f" to “{visible(plan.goal)}”" if plan.goal.strip() else ""
    return f"To review: {question.about.replace('the plan', count(len(plan.steps), 'step') + goal, 1)}"


def sentence(draft: Draft) -> str:
    """How many steps do what to the world, which can't be undone, whose calls a model chooses, and what is done."""
    done = [marks.effects(row, draft.toolbox) for row in draft.rows]
    numbers = {effects: done.count(effects) for effects in looks.EFFECTS}
    counts = [f"{number} {looks.EFFECTS[effects][number > 1]}" for effects, number in numbers.items() if number]
    fate = "no undo of their own" if draft.received.rollback else "can't be undone"
    some = {
        fate: [row.id for row in draft.rows if marks.risk(row, draft.toolbox)],
        "a model chooses the calls": [row.id for row in draft.rows if marks.chosen(row, draft)],
        "done already": draft.done,
    }
    clauses = [", ".join(counts), *(f"{what}: {listed(map(visible, ids))}" for what, ids in some.items() if ids)]
    return "; ".join(clause for clause in clauses if clause)


def amounts(draft: Draft, run: Run | None) -> list[str]:
    """The least time that the plan takes, and the time, tokens and cost of the run until now, each where it is known."""
    lines = []
    if draft.plan is not None and draft.durations:
        length = draft.plan.critical_path(draft.durations)[1]
        lines.append(f"By its tools' declared times, the plan takes at least {seconds(length)}.")
    if run is not None and run.usage.calls:
        spent = []
        for name in SHARED:
            with suppress(ValueError):  # a model without a price
                spent.append(in_words(name, used(run.board, name)))
        lines.append(f"The run has used {listed(spent)} until now.")
    return lines


def changed(draft: Draft) -> str:
    """The reviewer's changes."""
    return looks.bullets("You changed:", marks.changes(draft.received, draft.plan) if draft.plan is not None else [])


def step(draft: Draft, row: Row, faults: Sequence[Problem] = ()) -> str:
    """A step: its description and call, its dependencies, its effects and its undo."""
    one = row.step
    warning, edit = looks.warning(draft, row), marks.edit(draft, row)
    pills = ([CHANGES[edit]] if edit else []) + ([warning] if warning else [])
    pills += [looks.CHOSEN] * marks.chosen(row, draft)
    waits = [f"after {listed(map(visible, one['depends_on']))}"] if one["depends_on"] else []
    effects = [] if warning else [looks.EFFECTS[marks.effects(row, draft.toolbox)][0]]  # else the warning says it
    about = " · ".join([*waits, *effects, *marks.bounds(row)])
    lines = [
        " ".join([looks.isolated(one["description"]), *map(looks.pill, pills)]),
        f"{looks.call_in_full(one['tool'], one['params'])} {looks.meta(about)}",
    ]
    if undo := one["undo"]:
        asks = looks.meta(" · asks before it is called") if undo.get("gate") else ""
        lines.append(looks.meta("undo: ") + looks.call_in_full(undo["tool"], undo["params"]) + asks)
    if one["success_criteria"]:
        lines.append(looks.meta("done when ") + looks.isolated(one["success_criteria"]))
    inner = "".join(f"<div>{line}</div>" for line in lines) + looks.problems(faults, hints=False)
    return f'<div class="pxl-step"><b>{looks.seen(row.id)}</b><div>{inner}</div></div>'


def beside(plan: Plan) -> list[str]:
    """The parts of a plan apart from its steps in sentences: rollback calls, answer, and whether it is complete."""
    calls = [call(one.tool, one.params) + (" (asks before it is called)" if one.gate else "") for one in plan.rollback]
    sentences = [f"If the run is rolled back: {', '.join(calls)}."] if calls else []
    sentences += [f"The answer is {visible(plan.answer)}"] if plan.answer is not None else []
    return sentences + ([] if plan.complete else ["The planner is asked again when these steps are done."])


def warning(draft: Draft) -> str:
    """The second question before a yes that can't be undone, the gravest step first; "" if none is needed."""
    risky = [(risk, row) for row in draft.rows if (risk := marks.risk(row, draft.toolbox))]
    lines = []
    for _, row in sorted(risky, key=lambda one: get_args(marks.Risk).index(one[0])):
        what = call(row.step["tool"], row.step["params"]) if row.step["tool"] else visible(row.step["description"])
        look = looks.warning(draft, row)
        lines.append(
            f"<li><b>{looks.seen(row.id)}</b> <bdi>{escape(what)}</bdi> {looks.pill(look) if look else ''}</li>"
        )
    return f"<p><strong>Approve all the same?</strong></p><ul>{''.join(lines)}</ul>" if lines else ""


def verdict(decision: Decision, question: Question) -> list[str]:
    """Return a decision line by line: the verdict, by whom and about what; what it does; and what goes with it."""
    plan = decision.plan or question.plan
    about = question.about if plan is None else question.about.replace("the plan", f"plan {plan.hash[:8]}", 1)
    head = f"{VERDICTS[decision.verdict]} by {clean(decision.by)}: {visible(about)}"
    comments = [f"Comment: {visible(line)}" for line in decision.comment.splitlines() if line.strip()]
    return [head, question.verdicts[decision.verdict], *with_it(decision, question.plan), *comments]


def with_it(decision: Decision, shown: Plan | None) -> list[str]:
    """Return what goes with the verdict: a result, more budget; or whose plan it is, and what later plans may add unasked."""
    if decision.budget is not None:
        more = ", ".join(in_words(name, amount) for name, amount in decision.budget.bounds.items())
        return [f"The run gets {more} more."]
    if decision.verdict == "done":
        return [f"Its result: {visible(value(decision.result))}"]
    plan = decision.plan or shown
    if decision.verdict != "approve" or plan is None or shown is None:
        return []
    whose = f"as edited here (the planner wrote {shown.hash[:8]})" if decision.plan else "as the planner wrote it"
    later = "Every later plan is asked about."
    if decision.grant is not None:
        steps = count(decision.grant.new_steps, "step")
        later = f"Later plans may add up to {steps} without asking, none that runs at most once."
    return [f"{count(len(plan.steps), 'step')}, {whose}.", later]
