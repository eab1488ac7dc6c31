"""What the reviewer said: which plans are approved, which gates are open, and what an approval covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from planexec_lite.board.part import Part
from planexec_lite.board.step_table import StepTable
from planexec_lite.events import Grant, Reviewed
from planexec_lite.plan import Call, Plan, Step, lineages, word_for_word
from planexec_lite.tools import MadeCall


class ChosenCalls(NamedTuple):
    """The calls of a step that its executor chose: the one that waits for a person, those allowed, those made."""

    waits: str
    allowed: tuple[str, ...] = ()
    made: tuple[MadeCall, ...] = ()


class GrantScope(NamedTuple):
    """What a reviewer granted: the bounds, the steps that stood when it was granted, who granted it, and the rollback."""

    grant: Grant
    steps: tuple[Step, ...]
    by: str
    rollback: tuple[Call, ...]


@dataclass(slots=True)
class Approvals(Part):
    """The reviews so far, and what follows from them."""

    reviews: list[Reviewed] = field(default_factory=list)
    approved: set[str] = field(default_factory=set)  # hashes of plans
    rejected: Reviewed | None = None  # the no that ends the run
    changes_asked: int = 0
    grant_scope: GrantScope | None = None
    begun: list[Step] | None = None  # steps since the grant, None where there is none
    opened: set[str] = field(default_factory=set)  # gates
    held: dict[str, str] = field(default_factory=dict)  # steps that ask a person first, and why
    chosen: dict[str, ChosenCalls] = field(default_factory=dict)  # by step that paused before a call
    questions: Counter[str] = field(default_factory=Counter)  # how often a step paused before such a call
    covered: set[str] = field(default_factory=set)  # lineages of the steps that the latest approval lets be done once
    seen: set[str] = field(default_factory=set)  # the steps that were done when it was given
    given: int = 0  # how often a reviewer approved a plan; what a grant lets through does not count
    received: dict[str, str] = field(default_factory=dict)  # where there is a reviewer: each step as it came in
    _lineages: dict[str, str] = field(default_factory=dict, compare=False)  # by id, as the steps stand now; a memory

    def covers(self, id: str, table: StepTable) -> bool:
        """Whether the latest approval was of this step, and of all that it depends on, as they are now."""
        return self.covered >= lineages(table.steps, [id], self._lineages)

    def cover(self, ids: list[str], table: StepTable) -> None:
        """The approval that is given now lets these steps be done once."""
        self.covered, self.seen = lineages(table.steps, ids, self._lineages), set(table.results)
        self.given += 1

    def grant(self, event: Reviewed, plan: Plan) -> None:
        """An approval comes with a grant for later plans; what `plan` holds stands."""
        if event.grant is not None:
            self.grant_scope = GrantScope(event.grant, plan.steps, event.by, plan.rollback)
            self.begun = []

    def revoke(self) -> None:
        """What was granted to later plans counts no longer."""
        self.grant_scope = self.begun = None

    def receive(self, steps: Iterable[Step]) -> None:
        """Steps came in: what they say now is what is approved. Whoever changes one in place is found out by that."""
        self.received |= {step.id: word_for_word(step) for step in steps}

    def stands(self, step: Step) -> bool:
        """Whether the step still says what it said when it came in."""
        return step.id not in self.received or self.received[step.id] == word_for_word(step)

    def wait_for_call(self, id: str, call: str, made: tuple[MadeCall, ...]) -> None:
        """The step's executor chose a call that waits for a person; these calls were made before."""
        self.chosen[id] = ChosenCalls(call, made=made)
        self.questions[id] += 1

    def open(self, id: str) -> None:
        """A person lets the step start; where a call waited, exactly that call may run."""
        self.opened.add(id)
        if id in self.chosen:
            chosen = self.chosen[id]
            self.chosen[id] = chosen._replace(waits="", allowed=(chosen.waits,) if chosen.waits else chosen.allowed)

    def close_gates(self, still_held: dict[str, str]) -> None:
        """Another plan stands: every gate is closed again, and of the steps that ask a person, only some still do."""
        self.opened.clear()
        self.received.clear()
        self.chosen.clear()
        self._lineages.clear()
        self.held = still_held

    def close_gate(self, id: str) -> None:
        """A step is to be carried out otherwise from now on: its gate is closed again."""
        self.opened.discard(id)
        self._lineages.clear()
