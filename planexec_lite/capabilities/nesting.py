"""Nesting (lesson 08): a planner with an executor is an executor too. A step that it carries out is a run of its own.

To the run around it, that step is one step like any other. The run inside is told the budget and the seconds that are left.
It tells what happens in it (`Inside`), for views; no rule looks at that. If it pauses, the step pauses with its question,
and the answer is passed on when the step starts again. With a journal it is written down there, and a step that starts again
goes on with its unfinished run. Rolling back the step rolls back the run inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from planexec_lite.capabilities.budget import Spending, used
from planexec_lite.capabilities.deadline import until_deadline
from planexec_lite.capabilities.once_calls import OnceCalls, digest_of
from planexec_lite.capabilities.rollback import UNKNOWN, Rollback, UndoStarted, leaves
from planexec_lite.core import WAIT, Answer, Board, Capability, Event, Job, Part, when_idle
from planexec_lite.core.events import (
    Ended,
    Inside,
    Paused,
    Requeued,
    Reviewed,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.meter import Budget, Waits, charge, current, emit, made_once
from planexec_lite.plan import Plan, Problem


@dataclass
class Nested(Part):
    """The runs inside steps, as far as the run around them needs to know.

    Attributes:
        runs: the number of each step's latest run inside, from 1; `keys` has the key of the step when each of them began.
        open: the steps whose latest run inside goes on when they start again.
        waits: those of them that wait for a decision, and what for; `decided`: the decision that is to be passed on.
        cut_off: those that were interrupted and have not started again.
    """

    runs: dict[str, int] = field(default_factory=dict)
    keys: dict[tuple[str, int], str] = field(default_factory=dict)
    open: dict[str, None] = field(default_factory=dict)
    waits: dict[str, StepPaused] = field(default_factory=dict)
    decided: dict[str, Reviewed] = field(default_factory=dict)
    cut_off: dict[str, None] = field(default_factory=dict)


def _started(board: Board, event: StepStarted) -> None:
    if event.inside:
        mine = board[Nested]
        mine.runs[event.step] = event.inside
        mine.keys[event.step, event.inside] = event.key
        mine.cut_off.pop(event.step, None)


def _paused(board: Board, event: StepPaused) -> None:
    mine = board[Nested]
    mine.decided.pop(event.step, None)
    if event.inside is not None:
        mine.open[event.step] = None
        mine.waits[event.step] = event


def _ended(board: Board, event: StepDone | StepFailed) -> None:
    mine = board[Nested]
    mine.open.pop(event.step, None)
    mine.decided.pop(event.step, None)


def _requeued(board: Board, event: Requeued) -> None:
    mine, id = board[Nested], event.step or ""
    if id in mine.runs and board.state[id] in ("waiting", "failed"):
        mine.open[id] = None
        if event.reason == "interrupted":
            mine.cut_off[id] = None


def _reviewed(board: Board, event: Reviewed) -> None:
    mine = board[Nested]
    if board.paused is not None and board.paused.about == "inside" and event.step in mine.waits:
        del mine.waits[event.step]
        mine.decided[event.step] = event


def _before_plan(board: Board, plan: Plan | None) -> None:
    if plan is not None:  # a step that the plan keeps goes on with its run
        mine = board[Nested]
        kept = {step.id for step in plan.steps if board.steps.get(step.id) == step}
        for old in (mine.open, mine.waits, mine.decided, mine.cut_off):
            for id in [id for id in old if id not in kept]:
                del old[id]


CAPABILITY = Capability(
    Nested,
    folds={
        StepStarted: _started,
        StepPaused: _paused,
        StepDone: _ended,
        StepFailed: _ended,
        Requeued: _requeued,
        Reviewed: _reviewed,
    },
    before_plan=_before_plan,
)


def ask_inside(board: Board, policy: object, event: Event, executor: Any) -> Answer:
    """Guard: number the run inside a step; pause before a step whose run inside waits for a decision."""
    ask = getattr(executor, "agent_inside", None)
    if ask is None or not isinstance(event, StepStarted) or ask(board.steps[event.step]) is None:
        return event
    mine, id = board[Nested], event.step
    if (one := mine.waits.get(id)) is not None:
        why = f"the run inside {one.reason}"
        return when_idle(board, Paused(board.now, "gate", id, one.short, why, "inside", one.inside), WAIT)
    return replace(event, inside=mine.runs.get(id, 0) + (id not in mine.open))


def report_doubt(board: Board, policy: object, event: Event, executor: Any) -> Answer:
    """Guard: a run that ends names the steps whose run inside was interrupted or is in doubt."""
    mine = board[Nested]
    if not (mine.cut_off or mine.waits) or board[Rollback].started or not isinstance(event, Ended):
        return event
    doubted = [id for id, waits in mine.waits.items() if waits.inside == "doubt"]
    left = [id for id in (*mine.cut_off, *doubted) if not board.repeatable(board.steps[id])]
    return replace(event, reason=f"{event.reason}; nobody knows how far step {', '.join(left)} came") if left else event


class InnerRun(NamedTuple):
    """The run inside a step, as the job that carries out the step is told of it. It can be sent to another process.

    Args:
        uid: what the run is called; `key`: what the idempotency keys of its steps are made from.
        events: what it has told so far.
        decision: what was decided about it since, as a `Reviewed` event; None: nothing.
        store: where it is written down; None: nowhere.
        again, made: of a rollback: whether what could not be undone is tried again, and the undos that were made before.
    """

    uid: str
    key: str
    events: tuple[Event, ...] = ()
    decision: Reviewed | None = None
    store: Any = None
    again: bool = False
    made: tuple[str, ...] = ()

    def news_for(self, run: Any) -> Reviewed | None:
        """Return the decision, if `run` has not recorded it yet."""
        return self.decision if len(run.events) == len(self.events) else None


def known_run(inner: InnerRun | None, make: Callable[[list[Event]], Any]) -> Any:
    """Return the run inside as far as it is known; None if it has not begun. Raises `JournalError` if it can't be read."""
    if inner is None:
        return None
    try:
        run = inner.store.find(inner.uid) if inner.store is not None else None
    except Exception:
        made_once()  # nobody knows what was done inside: the step must not begin again unseen
        if (meter := current.get()) is not None:
            meter.leaves = True
        raise
    if run is None and inner.events:
        run = make([*inner.events])
        run.uid = inner.uid
    return run


def inner_run(run: Any, id: str, number: int, decision: Reviewed | None) -> InnerRun:
    """Return what the job of a step is told about the run inside it."""
    key = run.board[Nested].keys.get((id, number), "")
    base = run.key or run.uid
    events = tuple(one.event for one in run.events if isinstance(one, Inside) and one.step == id and one.run == number)
    store = run.journal if run.log is not None else None
    return InnerRun(digest_of(base, key, id, number), digest_of(base, key), events, decision, store)


def context(agent: Any, run: Any, job: Job) -> dict[str, Any]:
    """Return the run inside a step that starts, or that is undone."""
    if isinstance(job, StepStarted) and job.inside:
        return {"inside": inner_run(run, job.step, job.inside, run.board[Nested].decided.get(job.step))}
    if isinstance(job, UndoStarted) and job.inside:
        mine = run.board[Rollback]
        inner = inner_run(run, job.step, job.inside, mine.decided)
        return {"inside": inner._replace(again=mine.again, made=tuple(mine.made_inside.get(job.step, ())))}
    return {}


class RunPaused(Exception):
    """The run inside a step waits for a decision, and so does the step."""


def pause(run: Any) -> RunPaused:
    """Tell the job that the run inside waits for a person, and return the error that ends the job."""
    paused, meter = run.board.paused, current.get()
    if meter is not None:
        meter.waits = Waits(run.reason, inside=paused.inside or paused.reason, short=paused.short)
    return RunPaused(run.reason)


def within_step(policy: Any, inner: InnerRun | None, run: Any) -> Any:
    """Return the policy of a run inside the current step: it stops with the step, and has the budget that is left.

    What it has used and told is counted there already, and so is what is granted to it now.
    """
    meter = current.get()
    if meter is None:
        return policy
    now = run.board.now if run is not None else 0.0
    if meter.left is not None:
        policy = replace(policy, deadline=now + until_deadline(policy, now, meter.left))
    remaining = meter.context.budget
    if remaining is None:
        return policy
    counted: dict[str, float] = {}
    if run is not None and inner is not None:
        told = type(run.board).of(inner.events)
        decision = inner.news_for(run)
        more = decision.budget.bounds if decision is not None and decision.budget is not None else {}
        extra = run.board[Spending].extra
        counted = {name: used(told, name) - extra[name] - more.get(name, 0) for name in remaining.bounds}
    budget = (policy.budget or Budget()).tightest(remaining.plus(counted))
    return replace(policy, budget=budget, over_budget=meter.context.over_budget)


class Teller:
    """Tells the job around a run what has happened in it: each event once, with the time and the tokens that it took.

    Args:
        virtual: the run's seconds pass on a virtual clock, and have to be declared; real ones pass by themselves.
        watch: is called with the run after that.
        told: how many of the run's events were told before, and when the last one happened.
    """

    def __init__(self, virtual: bool, watch: Callable[[Any], None] | None, told: int = 0, at: float = 0.0) -> None:
        self.virtual, self.watch, self.told, self.at = virtual, watch, told, at

    def __call__(self, run: Any) -> None:
        """Tell what is new, and call `watch`."""
        self.tell(run)
        if self.watch is not None:
            self.watch(run)

    def tell(self, run: Any) -> None:
        """Tell what is new."""
        meter = current.get()
        for event in run.events[self.told :]:
            if self.virtual and event.at > self.at:
                charge(event.at - self.at)
            self.at = max(self.at, event.at)
            if meter is not None and not isinstance(event, Inside):
                for call in getattr(event, "calls", ()):
                    meter.add("calls", call)  # it was made: whether it might be is not asked again
            emit(event, self.at - event.at)  # what happened deeper inside is dated back
        self.told = len(run.events)
        if run.board[OnceCalls].spent:
            made_once()
        if meter is not None:
            meter.leaves = leaves(run.board)


def result_of(run: Any) -> Any:
    """Return what a run inside came to: its answer, or the results of its last steps by id.

    Raises `RunPaused` if it waits for a decision, and `RuntimeError` if it did not finish.
    """
    if run.status == "paused":
        raise pause(run)
    if run.status != "finished":
        raise RuntimeError(f"the run inside {run.status}: {run.reason}")
    if (answer := run.answer) is not None or run.plan.answer is not None:
        return answer
    waited_for = {id for step in run.plan.steps for id in step.depends_on}
    last = {step.id: run.results[step.id] for step in run.plan.steps if step.id not in waited_for}
    return last if len(last) > 1 else None


def undone_in(run: Any) -> dict[str, Any]:
    """Return what the rollback of a run inside came to; None is a run that nobody knows. Raises `RunPaused` if it waits."""
    if run is None:
        return {"undone": [], "remains": [["", UNKNOWN]], "made": []}
    if run.status == "paused":
        raise pause(run)
    mine = run.board[Rollback]
    return {"undone": [*mine.undone], "remains": [[label, why] for label, why in mine.remains], "made": [*mine.made]}


def undo_is_missing(plan: Plan, board: Board, policy: Any, executor: Any) -> list[Problem]:
    """Plan check: each step that changes the world says how it is undone (`Policy.require_undo`).

    A step that is a run of its own need not: the plans of that run have to say it, if its policy wants that too.
    """
    if not policy.require_undo:
        return []
    ask = getattr(executor, "agent_inside", None)
    agents = {step.id: ask(step) for step in plan.steps} if ask is not None else {}
    asked_inside = {id for id, agent in agents.items() if agent is not None and agent.policy.require_undo}
    return [one for one in plan.without_undo(executor.tools) if one.step not in asked_inside]
