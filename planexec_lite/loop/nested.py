"""Runs inside steps: a planner with an executor is an executor too, and takes a step as its goal.

What happens in the run inside is told to the run around it as it happens: its events (`Inside`), the seconds that passed
on its clock, the tokens of its models. `Run.inside` gives it back as a run, to be looked at or drawn like any. A run
inside that pauses pauses the run around it, as at a gate, and a yes there goes on with it. Where the run around it has a
journal, the run inside is written down there as it goes, and goes on after a crash from where it was cut off (`cut_off`).
What is done inside is taken back with the run around it, each step in its place (`board.inside`). This is how hierarchical
planning is written here: a step's executor is itself a planner with an executor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from planexec_lite.board import Board
from planexec_lite.budget import Budget
from planexec_lite.capabilities.deadline import until_deadline
from planexec_lite.events import DoubtResolved, Event, Inside, Paused, Reviewed
from planexec_lite.executors import effects_of_any, task_text
from planexec_lite.loop.cut_off import interrupt
from planexec_lite.loop.run import Run
from planexec_lite.meter import charge, current, emit, idempotency_key, made_once
from planexec_lite.plan import Step
from planexec_lite.policy import Policy
from planexec_lite.review.reviewers import Answer, Decision
from planexec_lite.tools import Effects, Toolbox
from planexec_lite.workers import Simulated, Workers

_PAUSED = "RunPaused: "


class RunPaused(Exception):
    """The run inside a step waits for a decision, and so does the step."""


class NestedExecutor:
    """What makes a `PlannerExecutor` an executor, whose steps are runs of their own."""

    executor: Any
    workers: Workers
    policy: Policy
    watch: Callable[[Run], None] | None

    @property
    def tools(self) -> Toolbox:
        """The tools of its executor. Raises `ValueError` where it is its own."""
        executor, seen = self.executor, [self]
        while isinstance(executor, NestedExecutor):
            if any(executor is one for one in seen):
                raise ValueError("this agent is its own executor; give it one that carries out steps")
            seen.append(executor)
            executor = executor.executor
        tools: Toolbox = executor.tools
        return tools

    @property
    def effects(self) -> dict[str, Effects]:
        """What steps may do: the plan inside decides on the calls, so each may do what any of the tools does."""
        return effects_of_any(self.tools)

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Carry out `step` as a run of its own, with the step as its goal, and return what it comes to.

        The run has this agent's workers, policy and reviewer, and stops at the latest when the step is given up; on a virtual
        clock, it needs `Simulated` workers as the run around it does. Raises `RunPaused` where it waits for a decision, and
        `RuntimeError` where it did not finish.
        """
        left = _RUN_LEFT.get()
        _RUN_LEFT.set(None)  # for the run that this one is, and for none inside it
        told = Told(isinstance(self.workers, Simulated), self.watch, left.events if left else ())
        policy, meter = _within_step(self.policy, left), current.get()
        agent: Any = replace(self, watch=told, policy=policy, journal=meter.store if meter else None)  # type: ignore[type-var]
        try:
            run = agent.run_inside(goal_of(step, inputs)) if left is None else _resumed(agent, left)
        except Exception as problem:
            if isinstance(broken := getattr(problem, "run", None), Run):
                interrupt(broken, self.executor)
                told.tell(broken)
            raise
        if left is not None and run.status == "paused" and len(run.events) == len(left.events):
            emit(run.events[-1])  # it waits for what it waited for when it was cut off
        return result_of(run)

    chooses_calls = True
    """The planner inside chooses the calls of each step."""

    def agent_inside(self, step: Step) -> NestedExecutor:
        """This agent: it carries out `step` as a run of its own."""
        return self


def _resumed(agent: Any, left: RunLeft) -> Run:
    run = Run([*left.events])
    run.stored = len(run.events)
    run.uid = idempotency_key() or run.uid  # the same run to the world as the one that was left
    resumed: Run = agent.resume(run, left.decision)
    return resumed


def _within_step(policy: Policy, left: RunLeft | None) -> Policy:
    """The policy of a run inside the current step, which begins or goes on from where it was left.

    Its deadline is at the latest the step's, and it may use what the run around it has left.
    """
    meter = current.get()
    if meter is None:
        return policy
    board = Board.of(left.events if left else ())
    if meter.left is not None:
        policy = replace(policy, deadline=board.now + until_deadline(policy, board.now, meter.left))
    if meter.allowance is not None:
        remaining, over = meter.allowance
        # what it has used is counted in it again, and what is granted to it now is left already in the run around it
        more = (left.decision.budget if left and left.decision else None) or Budget()
        known = {
            name: board.used(name) - board.spending.extra[name] - more.bounds.get(name, 0) for name in remaining.bounds
        }
        policy = replace(policy, budget=(policy.budget or Budget()).tightest(remaining.plus(known)), over_budget=over)
    return policy


class RunLeft(NamedTuple):
    """A run inside a step that was left, paused or cut off: its events, and what was decided since, if anything was."""

    events: tuple[Event, ...]
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class GoingOn:
    """Does what `work` does, with the run inside going on from where it was left. It can be sent to another process."""

    left: RunLeft
    work: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        token = _RUN_LEFT.set(self.left)
        try:
            return self.work(*args)
        finally:
            _RUN_LEFT.reset(token)


_RUN_LEFT: ContextVar[RunLeft | None] = ContextVar("run_left", default=None)


def going_on(run: Run, step: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """Return `work` for a step that starts; where a run inside it was left, one that goes on with it: it waits and its gate was
    opened, or it was cut off.
    """
    # nothing was asked of a run that was cut off: what was decided about the step since is about the step alone
    decision = None if step in run.board.cut_off else _decided(run, step)
    inside = run.inside(step) if step in run.board.cut_off else _inside(run, step) if decision else None
    return work if inside is None else GoingOn(RunLeft(tuple(inside.events), decision), work)


def _decided(run: Run, step: str) -> Decision | None:
    """What was decided about the run inside a step since something happened in it."""
    told: Decision | None = None
    for event in reversed(run.events):
        match event:
            case Inside(step=around) if around == step:
                return None
            case Reviewed(step=about) if about == step:
                return Decision(event.verdict, event.by, event.comment, grant=event.grant, budget=event.budget)
            case DoubtResolved(step=about) if about == step:
                verdict: Answer = "done" if event.done else "not done"
                told = told or Decision(verdict, event.by, event.comment, result=event.result)
            case Paused(reason="doubt", step=about) if about == step:
                told = None  # the step itself was in doubt, and no step inside it
            case Paused(step=about) if about == step and told is not None:
                return told
    return None


def waiting_inside(run: Run) -> Run | None:
    """The run inside the step that `run` is paused before, where it is that one that waits."""
    paused = run.board.paused
    return _inside(run, paused.step) if paused is not None and paused.step is not None else None


def _inside(run: Run, step: str) -> Run | None:
    if not run.board.waits_inside(step):
        return None
    try:
        inside = run.inside(step)
    except (ValueError, LookupError):  # what a tool emits may look like a run, and be none
        return None
    return inside if inside.status == "paused" else None


def innermost(run: Run) -> Run:
    """The run that waits: the one inside a step that pauses the one around it, however deep; else `run` itself."""
    inside = waiting_inside(run)
    return run if inside is None else innermost(inside)


def hashes_of(run: Run) -> tuple[str, ...]:
    """The hashes of the plans that a decision about `run` may be of; those of the innermost run that waits."""
    board = innermost(run).board
    return (board.proposal or board.plan).hash, board.plan.hash


def why_paused(error: str | None, events: Sequence[Event]) -> str | None:
    """What the run inside a step waits for, if the step ended because it paused."""
    last = events[-1].event if events and isinstance(events[-1], Inside) else None
    return error.removeprefix(_PAUSED) if error and error.startswith(_PAUSED) and isinstance(last, Paused) else None


class Told:
    """Tells the job around a run what has happened in it: each event once, with the time and the tokens that it took.

    Args:
        virtual: the run's seconds pass on a virtual clock, and have to be declared; real ones pass by themselves.
        watch: is called with the run after that.
        known: the run's events that were told before.
    """

    def __init__(self, virtual: bool, watch: Callable[[Run], None] | None = None, known: Sequence[Event] = ()) -> None:
        self.virtual, self.watch, self.told = virtual, watch, len(known)
        self.at = known[-1].at if known else 0.0

    def __call__(self, run: Run) -> None:
        """Tell what is new, and call `watch`."""
        self.tell(run)
        if self.watch is not None:
            self.watch(run)

    def tell(self, run: Run) -> None:
        """Tell what is new."""
        for event in run.events[self.told :]:
            if self.virtual and event.at > self.at:
                charge(event.at - self.at)
            self.at = max(self.at, event.at)
            for call in () if isinstance(event, Inside) else getattr(event, "calls", ()):
                charge(0.0, call)
            emit(event, self.at - event.at)  # what happened deeper inside is dated back
        self.told = len(run.events)
        if run.board.once.spent:
            made_once()


def goal_of(step: Step, inputs: Mapping[str, Any]) -> str:
    """A step as the goal of a run: what is to be done, what it may use, when it is done, and what came out before."""
    return task_text(step, inputs)


def result_of(run: Run) -> Any:
    """What a run inside came to: its answer, or the results of its last steps by id.

    Raises `RunPaused` where it waits for a decision, and `RuntimeError` where it did not finish.
    """
    if run.status == "paused":
        raise RunPaused(run.reason)
    if run.status != "finished":
        raise RuntimeError(f"the run inside {run.status}: {run.reason}")
    if (answer := run.answer) is not None or run.plan.answer is not None:
        return answer
    waited_for = {id for step in run.plan.steps for id in step.depends_on}
    last = {step.id: run.results[step.id] for step in run.plan.steps if step.id not in waited_for}
    return last if len(last) > 1 else None
