"""What a planner has written so far: the steps of a streamed plan, and which of them may start before it is finished."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from planexec_lite.board import Board
from planexec_lite.meter import emit
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.planning.new_effects import added_effects
from planexec_lite.policy import Policy
from planexec_lite.references import find
from planexec_lite.tools import Toolbox


class StepReady(NamedTuple):
    """Said inside a planner: this step of its plan may start before the rest is written."""

    step: Step


class StreamBuffer:
    """Listens to a planner that writes, and emits each step that may start early, as soon as it may.

    A step may start early when no approval is asked for, its own part is valid, everything that it waits for may start
    early too or is done, a repeat of its effects does no harm, and it has an undo, and adds no new effects, where the policy wants
    that. The others wait until the whole plan is there.
    """

    def __init__(self, board: Board, tools: Toolbox, policy: Policy) -> None:
        self.board, self.tools, self.policy = board, tools, policy
        self.early, self.effects = not board.has_reviewer, board.once.effects
        self.done = frozenset(board.results)
        self.arrived: dict[str, Step] = {}
        self.held: list[Step] = []
        self.emitted: dict[str, Step] = {}

    def all(self, parts: Iterable[Step | Plan]) -> Plan:
        """Hear the planner out and return its plan, the last of the parts. Raises `PlanError` when there is none."""
        plan = None
        for part in parts:
            if isinstance(part, Plan):
                plan = part
            elif self.early and len(self.arrived) < self.policy.max_steps:
                self._take(part)
        if plan is None:
            raise PlanError(
                [Problem("cut_off", None, "the planner stopped before its plan was finished", "write it again")]
            )
        return plan

    def dangling(self) -> list[Problem]:
        """What the steps that arrived wait for and what never came, for a plan that broke off."""
        there = {*self.arrived, *self.done}
        problems = []
        for step in self.arrived.values():
            needs = dict.fromkeys(step.depends_on, "unknown_dependency")
            needs |= dict.fromkeys(
                (named.step for named in find(step.params) if named.step not in needs), "dangling_reference"
            )
            for id, code in needs.items():
                if id not in there:
                    message = f"it needs step {id!r}, which never came"
                    problems.append(Problem(code, step.id, message, f"write step {id!r} too"))
        return problems

    def missing_in(self, plan: Plan) -> list[Problem]:
        """The steps that were emitted, and that the finished plan no longer has, or has otherwise."""
        last = {step.id: step for step in plan.steps}
        return [
            Problem(
                "taken_back", id, "the step was streamed, and the finished plan has it otherwise", "keep it as it was"
            )
            for id, step in self.emitted.items()
            if last.get(id) != step
        ]

    def _take(self, step: Step) -> None:
        (step,) = Plan.received(Plan.model_construct(steps=(step,)), "the planner").steps
        if step.id in self.arrived or step.id in self.done:
            return
        self.arrived[step.id] = step
        self.held.append(step)
        while ready := [step for step in self.held if self._may_start(step)]:
            for step in ready:
                self.held.remove(step)
                self.emitted[step.id] = step
                emit(StepReady(step))

    def _may_start(self, step: Step) -> bool:
        # a step that is held back does not count as arrived: what waits for it waits for the whole plan
        before = {*self.done, *self.emitted}
        return (
            not step.gate
            and step.effects_with(self.effects) in ("none", "idempotent")
            and before.issuperset(step.depends_on)
            and not Plan(steps=(step,)).problems(self.tools, done=before)
            and not (self.policy.no_new_effects and any(added_effects(Plan(steps=(step,)), self.board, self.tools)))
            and not (self.policy.require_undo and Plan(steps=(step,)).without_undo(self.tools))
        )
