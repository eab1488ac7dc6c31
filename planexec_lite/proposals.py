"""What the planner proposed, and what the reviewer said to it: which plan counts, and which is approved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from planexec_lite.events import Grant, Reviewed
from planexec_lite.plan import Call, Plan, Problem, Step
from planexec_lite.standing import Standing


class Granted(NamedTuple):
    """What a reviewer granted: the bounds, the steps that stood when it was granted, who granted it, and the rollback."""

    grant: Grant
    steps: tuple[Step, ...]
    by: str
    rollback: tuple[Call, ...]


@dataclass(slots=True, init=False, repr=False, eq=False)
class Proposals(Standing):
    """The latest fit plan, what was wrong with a later answer, the reviews, and the hashes that are approved."""

    goal: str = ""
    proposal: Plan | None = None
    problems: tuple[Problem, ...] = ()
    refused_text: str = ""
    refused_in_a_row: int = 0
    changes_asked: int = 0
    reviews: list[Reviewed] = field(default_factory=list)
    approved: set[str] = field(default_factory=set)
    granted: Granted | None = None
    opened: set[str] = field(default_factory=set)

    @property
    def plan(self) -> Plan:
        """The merged plan: the done steps, and those of the latest plan."""
        steps = tuple(step for id, step in self.steps.items() if self.state[id] != "superseded")
        latest = self.proposal or Plan()
        return latest.changed(goal=latest.goal or self.goal, steps=steps)

    def accept(self, plan: Plan) -> None:
        """A fit plan takes the place of what is not done; every gate is closed again."""
        self.proposal, self.problems, self.refused_text, self.refused_in_a_row = plan, (), "", 0
        self.opened.clear()
        self.replace(plan)

    def refuse(self, problems: tuple[Problem, ...], text: str) -> None:
        """An answer of the planner is no fit plan."""
        self.withdraw()
        self.problems, self.refused_text = problems, text
        self.refused_in_a_row += 1

    def review(self, event: Reviewed) -> None:
        """A reviewer approves, perhaps after an edit; or asks for a change, which makes the plan unfit; or rejects."""
        self.reviews.append(event)
        if event.step is None or event.verdict == "change":
            self.granted = self.begun = None
        if event.verdict == "approve":
            if event.plan is not None:
                self.accept(event.plan)
            self.approved.add(event.plan_hash)
            self.opened |= {event.step} if event.step else set()
            if event.grant is not None:
                self.granted = Granted(event.grant, self.plan.steps, event.by, self.plan.rollback)
                self.begun = []
        elif event.verdict == "change":
            self.changes_asked += 1
            self.approved.discard(event.plan_hash)
            hint = "change the plan accordingly"
            text = self.proposal.to_json(indent=None) if self.proposal else ""
            self.refuse((Problem("change_asked", None, event.comment, hint),), text)
