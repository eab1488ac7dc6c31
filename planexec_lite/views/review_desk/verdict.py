"""A decision in words, as the closed desk says it back: what was decided, by whom, about which plan. No widgets here."""

from __future__ import annotations

from planexec_lite.budget import in_words
from planexec_lite.events import gate_in_words
from planexec_lite.plan import Plan
from planexec_lite.review.reviewers import Answer, Decision
from planexec_lite.views.drawing.text_fitting import clean
from planexec_lite.views.drawing.visible import visible
from planexec_lite.views.drawing.wording import count, value

BUTTONS: dict[Answer, str] = {"approve": "Approve", "reject": "Reject", "change": "Ask for changes"}
AT_DOUBT: dict[Answer, str] = {"done": "It was done", "not done": "It was not done", "roll back": "Roll back"}
AT_BUDGET: dict[Answer, str] = {"approve": "Grant more", "reject": "Stop", "roll back": "Roll back"}
VERDICTS = {
    "approve": "Approved", "reject": "Rejected", "change": "Changes asked for", "done": "Said to be done",
    "not done": "Said not to be done", "roll back": "Rollback asked for",
}  # fmt: skip


def lines(decision: Decision, shown: Plan) -> list[str]:
    """Return a decision about the plan that was `shown`, line by line, the verdict first."""
    return [_head(decision), *_body(decision, shown)]


def _head(decision: Decision) -> str:
    """Return the verdict, who gave it, and the hash of the plan that it is about."""
    gate = gate_in_words(decision.gate) if decision.gate else ""
    about = (
        f"{'the gate of ' if decision.gate and decision.gate == gate.removeprefix('step ') else ''}{gate}, "
        if gate
        else ""
    )
    about += f"plan {(decision.plan.hash if decision.plan else decision.of)[:8]}"
    return f"{VERDICTS[decision.verdict]} by {clean(decision.by)}: {about}"


def _body(decision: Decision, shown: Plan) -> list[str]:
    """Return what goes with the verdict: whose plan it is, what later plans may add unasked, and the comment."""
    lines = []
    if decision.budget is not None:
        more = ", ".join(in_words(name, amount) for name, amount in decision.budget.bounds.items())
        lines.append(f"It may use {more} more.")
    elif decision.verdict == "done":
        lines.append(f"Its result: {visible(value(decision.result))}")
    elif decision.verdict == "not done":
        lines.append("It is carried out again.")
    elif decision.gate is not None and decision.gate != "budget":
        lines.append("Only this gate; the next one asks again." if decision.verdict == "approve" else "")
    elif decision.verdict == "approve":
        plan = decision.plan or shown
        whose = f"as edited here (the planner wrote {decision.of[:8]})" if decision.plan else "as the planner wrote it"
        lines.append(f"{count(len(plan.steps), 'step')}, {whose}.")
        steps = decision.grant.new_steps if decision.grant else None
        lines.append(
            "Every later plan is asked about."
            if steps is None
            else f"Later plans may add up to {count(steps, 'step')} without asking, none that runs at most once."
        )
    lines += [f"Comment: {visible(line)}" for line in decision.comment.splitlines() if line.strip()]
    return [line for line in lines if line]
