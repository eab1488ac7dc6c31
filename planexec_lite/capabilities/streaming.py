"""Streaming (lesson 08): steps start while the planner is still writing the rest of its plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planexec_lite.capabilities.new_effects import added_effects
from planexec_lite.capabilities.undo import keeps_doubts
from planexec_lite.core import Board, Capability, Event
from planexec_lite.frozen import frozen
from planexec_lite.meter import emit
from planexec_lite.plan import Plan, PlanError, Problem, Step


@frozen
class StepProposed(Event):
    """The planner, which is still writing, has written a valid step. The steps that it depends on have arrived, so it can start."""

    step: Step


class StepReady(NamedTuple):
    """A report from inside a planner: this step of its plan can start before the rest is written."""

    step: Step


@dataclass
class StreamBuffer:
    """Reads the steps of a planner that is still writing, and emits each step that can start early.

    A step can start early if the run has no reviewer, the step is valid by itself, the steps that it depends on are done or have
    started early too, and a repeat does no harm. If the policy asks for it, the step must add no new effects.
    The other steps wait for the whole plan.

    Args:
        arrived: the steps that were read so far; `emitted`: those that have started.
    """

    board: Board
    executor: Any
    policy: Any
    arrived: dict[str, Step] = field(default_factory=dict)
    emitted: dict[str, Step] = field(default_factory=dict)

    def all(self, parts: Iterable[Step | Plan]) -> Plan:
        """Read the planner to its end and return its plan, the last of the parts. Raises `PlanError` if no part is a plan."""
        plan = None
        for part in parts:
            if isinstance(part, Plan):
                plan = part
            elif not self.board.has_reviewer and len(self.arrived) < self.policy.max_steps:
                self._take(part)
        if plan is None:
            what = "the planner stopped before its plan was finished"
            raise PlanError([Problem("cut_off", None, what, "write it again")])
        return plan

    def unfinished_problems(self) -> list[Problem]:
        """Return what is wrong with the steps of a plan that was cut off."""
        steps = tuple(self.arrived.values())
        return Plan(steps=steps).problems(self.executor.tools, self.board.results) if steps else []

    def missing_in(self, plan: Plan) -> Iterator[Problem]:
        """Yield a problem for each emitted step that the finished plan has dropped or changed."""
        last = {step.id: step for step in plan.steps}
        for step_id, step in self.emitted.items():
            if last.get(step_id) != step:
                message = "the step was streamed, and the finished plan has it otherwise"
                yield Problem("taken_back", step_id, message, "keep it as it was")

    def _take(self, step: Step) -> None:
        (step,) = Plan.received(Plan.model_construct(steps=(step,)), "the planner").steps
        if step.id in self.arrived or step.id in self.board.results:
            return
        self.arrived[step.id] = step
        while ready := [step for step in self.arrived.values() if self._may_start(step)]:
            for step in ready:
                self.emitted[step.id] = step
                emit(StepReady(step))

    def _may_start(self, step: Step) -> bool:
        # a step that is held back does not count as arrived: the steps behind it wait for the whole plan
        tools, alone = self.executor.tools, Plan(steps=(step,))
        before = {*self.board.results, *self.emitted}
        return (
            step.id not in self.emitted
            and self.board.steps.get(step.id, step)
            == step  # the other step might wait for an answer
            and not step.gate
            and self.board.repeatable(step)
            and before.issuperset(step.depends_on)
            and not alone.problems(tools, done=before)
            and not any(added_effects(alone, self.board, self.policy, self.executor))
            and not any(keeps_doubts(alone, self.board))
        )


CAPABILITY = Capability(
    checks={StepProposed: lambda board, event: board.check_new([event.step.id])},
    folds={StepProposed: lambda board, event: board.arrive(event.step)},
    emits={StepReady: lambda at, emitted: StepProposed(at, emitted.step)},
)
