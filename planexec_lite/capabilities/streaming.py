"""Streaming (lesson 05): steps start while the planner is still writing the rest of its plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from planexec_lite.capabilities.new_effects import added_effects
from planexec_lite.core import Board, Capability
from planexec_lite.core import events as e
from planexec_lite.meter import emit
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.references import find


@dataclass(frozen=True, slots=True)
class StepProposed(e.Event):
    """The planner, still writing, has written a step that is valid and may start: what it waits for has arrived."""

    step: Step


def _check(board: Board, event: StepProposed) -> None:
    board.check_new([event.step.id])


def _proposed(board: Board, event: StepProposed) -> None:
    board.arrive(event.step)


CAPABILITY = Capability(checks={StepProposed: _check}, folds={StepProposed: _proposed})


class StepReady(NamedTuple):
    """Said inside a planner: this step of its plan may start before the rest is written."""

    step: Step


HEARD = {StepReady: lambda at, job, emitted: StepProposed(at, emitted.step)}


class StreamBuffer:
    """Listens to a planner that writes, and emits each step that may start early, as soon as it may.

    A step may start early if no approval is asked for, its own part is valid, everything that it waits for may start
    early too or is done, a repeat of its effects does no harm, and it has an undo, and adds no new effects, if the policy wants
    that. The others wait until the whole plan is there.
    """

    def __init__(self, board: Board, executor: Any, policy: Any) -> None:
        self.board, self.executor, self.policy = board, executor, policy
        self.early = not board.has_reviewer
        self.done = frozenset(board.results)
        self.arrived: dict[str, Step] = {}
        self.held: list[Step] = []
        self.emitted: dict[str, Step] = {}

    def all(self, parts: Iterable[Step | Plan]) -> Plan:
        """Hear the planner out and return its plan, the last of the parts. Raises `PlanError` if there is none."""
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

    def dangling(self) -> Iterator[Problem]:
        """Yield what the steps that arrived wait for and what never came, of a plan that broke off."""
        there = {*self.arrived, *self.done}
        for step in self.arrived.values():
            needs = dict.fromkeys(step.depends_on, "unknown_dependency")
            for named in find(step.params):
                needs.setdefault(named.step, "dangling_reference")
            for id, code in needs.items():
                if id not in there:
                    message = f"it needs step {id!r}, which never came"
                    yield Problem(code, step.id, message, f"write step {id!r} too")

    def missing_in(self, plan: Plan) -> Iterator[Problem]:
        """Yield the steps that were emitted, and that the finished plan no longer has, or has otherwise."""
        last = {step.id: step for step in plan.steps}
        for id, step in self.emitted.items():
            if last.get(id) != step:
                message = "the step was streamed, and the finished plan has it otherwise"
                yield Problem("taken_back", id, message, "keep it as it was")

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
        before, tools, alone = {*self.done, *self.emitted}, self.executor.tools, Plan(steps=(step,))
        return (
            not step.gate
            and self.board.repeatable(step)
            and before.issuperset(step.depends_on)
            and not alone.problems(tools, done=before)
            and not any(added_effects(alone, self.board, self.policy, self.executor))
            and not (self.policy.require_undo and alone.without_undo(tools))
        )
