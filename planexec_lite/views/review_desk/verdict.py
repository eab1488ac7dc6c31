"""A decision in words, as the closed desk says it back: what was decided, by whom, about which plan. No widgets here."""

from __future__ import annotations

from planexec_lite.budget import in_words
from planexec_lite.events import gate_in_words
from planexec_lite.plan import Plan
from planexec_lite.review.reviewers import Decision
from planexec_lite.views.drawing.text_fitting import clean
from planexec_lite.views.drawing.visible import visible
from planexec_lite.views.drawing.wording import count, value

VERDICTS = {
    "approve": "Approved", "reject": "Rejected", "change": "Changes asked for", "done": "Said to be done",
    "not done": "Said not to be done", "roll back": "Rollback asked for",
}  # fmt: skip


def lines(decision: Decision, shown: Plan) -> list[str]:
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
        return [f"It may use {more} more."]
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
