"""Nesting (lesson 08): a planner with an executor is an executor too. A step that it carries out is a nested run.

To the outer run, that step is one step like any other. The nested run gets the budget and the seconds that are left. It reports
its events (`Inside`) for views; no rule reads them. When it pauses, the step pauses with its question, and the step passes the
answer on when it starts again. With a journal the nested run is written down there, and a step that starts again continues its
unfinished run. Undoing the step rolls back the nested run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from planexec_lite.capabilities.budget import Spending, used
from planexec_lite.capabilities.deadline import until_deadline
from planexec_lite.capabilities.doubt import UNKNOWN
from planexec_lite.capabilities.new_effects import forbids_new_effects, planned_tools
from planexec_lite.capabilities.once_calls import OnceCalls, OuterKnown, known_calls
from planexec_lite.capabilities.rollback import (
    Rollback,
    RollbackStarted,
    UndoDone,
    UndoFailed,
    UndoPaused,
    UndoStarted,
    leaves,
    not_undone,
)
from planexec_lite.capabilities.stepping import agent_inside
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import WAIT, Board, Capability, Choice, Part, when_idle
from planexec_lite.core.events import (
    Ended,
    Event,
    Job,
    Paused,
    Requeued,
    Reviewed,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.core.questions import Decision, Question
from planexec_lite.meter import Budget, Waits, charge, emit, job_meter
from planexec_lite.plan import Plan
from planexec_lite.tools import KnownCall, digest_of


class Open(NamedTuple):
    """A nested run that continues when its step, or its undo, starts again.

    `in_doubt`: it was interrupted or is in doubt. `question` is what it waits for, and `decision` is to be passed on.
    """

    in_doubt: bool = False
    question: Question | None = None
    decision: Decision | None = None


class Nested(Part):
    """`runs`: the number of each step's latest nested run, from 1; `open`: those that continue, by step."""

    runs: dict[str, int] = {}
    open: dict[str, Open] = {}


def _started(board: Board, event: StepStarted) -> None:
    if event.inside:
        board[Nested].runs[event.step] = event.inside


def _paused(board: Board, event: StepPaused | UndoPaused) -> None:
    question = event.question
    if question.path:
        board[Nested].open[event.step] = Open(question.kind == "doubt", question)


def _ended(board: Board, event: Any) -> None:
    board[Nested].open.pop(event.step, None)


def _requeued(board: Board, event: Requeued) -> None:
    mine, job = board[Nested].open, board.in_flight[event.step]
    if isinstance(job, StepStarted | UndoStarted) and job.inside:
        before = mine.get(job.step, Open())
        mine[job.step] = before._replace(in_doubt=event.reason == "interrupted")


def _reviewed(board: Board, event: Reviewed) -> None:
    mine, question = board[Nested], board.asked
    if question.path and question.path[0] in mine.open:
        decision = question.from_inside.decide(
            event.verdict,
            event.by,
            event.comment,
            grant=event.grant,
            budget=event.budget,
            result=event.result,
        )
        mine.open[question.path[0]] = Open(decision=decision)


def _before_plan(board: Board, plan: Plan) -> None:
    mine = board[Nested]
    # a step that the plan keeps continues its run
    for step_id in mine.open.keys() - board.kept_by(plan):
        del mine.open[step_id]


def ask_inside(board: Board, _policy: object, event: Job, executor: Any) -> Choice:
    """Guard: pause before a step or an undo whose nested run waits for a decision, and number a step's nested run."""
    mine = board[Nested]
    asks = mine.open.get(event.id or "")
    if asks is not None and asks.question is not None:
        return when_idle(board, Paused(board.now, asks.question), WAIT)
    if (
        not isinstance(event, StepStarted)
        or agent_inside(executor, board.steps[event.step]) is None
    ):
        return event
    return replace(event, inside=mine.runs.get(event.step, 0) + (event.step not in mine.open))


def report_doubt(board: Board, _policy: object, event: Ended, _executor: Any) -> Choice:
    """Guard: a run that ends names the steps whose nested run was interrupted or is in doubt."""
    left = [
        step_id
        for step_id, one in board[Nested].open.items()
        if one.in_doubt and not board.repeatable(board.steps[step_id])
    ]
    if not left:
        return event
    words = f"{event.reason}; nobody knows how far step {', '.join(left)} came"
    return replace(event, reason=words)


class InnerRun(NamedTuple):
    """A step's nested run, as its job receives it. It can be sent to another process.

    Args:
        uid: the name of the run; `key`: what the idempotency keys of all calls of the outermost run are made from, or "" in it.
        events: the events that it has reported so far.
        known: what the run must know of the runs around it; its time does not count.
        decision: the decision about it since then, or None.
        store: the journal that has the run, or None.
        again, made: of a rollback: whether to try again what could not be undone, and the undo calls that were made before.
    """

    uid: str
    key: str = ""
    events: tuple[Event, ...] = ()
    known: OuterKnown = OuterKnown(0.0)
    decision: Decision | None = None
    store: Any = None
    again: bool = False
    made: tuple[str, ...] = ()

    def news_for(self, run: Any) -> Decision | None:
        """Return the decision, if `run` has not recorded it yet."""
        return self.decision if len(run.events) == len(self.events) else None


def context(agent: Any, run: Any, job: StepStarted | UndoStarted) -> dict[str, Any]:
    """Return the nested run of a step that starts, or that is undone."""
    if not job.inside:
        return {}
    board, step_id = run.board, job.step
    inner = InnerRun(
        uid=uid_inside(run, job),
        key=run.key or run.uid,
        events=tuple(run.events_inside(step_id, job.inside)),
        known=_known(board, agent.policy, job),
        decision=board[Nested].open.get(step_id, Open()).decision,
        store=run.journal,
        again=board[Rollback].again,
        made=tuple(board[WorkDone].made_inside.get(step_id, ())),
    )
    return {"inside": inner}


def uid_inside(run: Any, job: StepStarted | UndoStarted) -> str:
    """Return the `Run.uid` of a step's nested run."""
    return digest_of(run.uid, job.step, job.inside)


def own_calls(board: Board) -> tuple[KnownCall, ...]:
    """Return the calls with effects of this run, without those that only the runs around it have made."""
    # the call, its number, its state, and whether it counts
    around = {one[:4] for one in board[OnceCalls].outer.known}
    return tuple(one for one in known_calls(board) if one[:4] not in around)


def _known(board: Board, policy: Any, job: StepStarted | UndoStarted) -> OuterKnown:
    """Return what a nested run must know of the runs around it; nothing if it is undone."""
    if isinstance(job, UndoStarted):
        return OuterKnown(0.0)
    step, around = board.steps[job.step], board[OnceCalls].outer
    uses_results = any(step_id in board.results for step_id in step.depends_on)
    informed = around.informed or uses_results or board.plans > 1
    planned = tuple(sorted(planned_tools(board))) if forbids_new_effects(board, policy) else None
    own = (job.call, job.number)
    calls = tuple(known for known in known_calls(board) if known[:2] != own)
    informed = informed and planned is not None
    return OuterKnown(0.0, calls, job.lane, around.depth + 1, informed, planned)


def known_run(inner: InnerRun, make: Callable[[list[Event]], Any]) -> Any:
    """Return the nested run so far. Raises `JournalError` if it can't be read."""
    try:
        run = inner.store.find(inner.uid) if inner.store is not None else None
    except Exception:
        # an at-most-once call might have been made in it: the step does not start again by itself
        meter = job_meter()
        meter.once = meter.leaves = True
        raise
    run = run or make([*inner.events])
    run.uid, run.key, run.inner = inner.uid, inner.key, True
    return run


class RunPaused(Exception):
    """The nested run of a step waits for a decision, and so does the step."""


def stop_if_paused(run: Any) -> None:
    """Raise `RunPaused` if the nested run waits for a person, and tell the job."""
    if run.status == "paused":
        job_meter().waits = Waits(question=run.board.asked)
        raise RunPaused(run.reason)


def within_step(policy: Any, inner: InnerRun, run: Any) -> Any:
    """Return the policy of a nested run in the current step: it stops with the step, and has the budget that is left.

    The budget of the step already counts what the nested run has used and reported, and what is granted to it now.
    """
    meter, now = job_meter(), run.board.now
    if inner.known.planned is not None:
        policy = replace(policy, no_new_effects=True)
    if meter.left is not None:
        policy = replace(policy, deadline=now + until_deadline(policy, now, meter.left))
    remaining = meter.context.budget
    if remaining is None:
        return policy
    reported, extra = type(run.board).of(inner.events), run.board[Spending].extra
    decision = inner.news_for(run)
    granted = (decision and decision.budget) or Budget()
    counted = {
        name: used(reported, name) - extra[name] - granted.bounds.get(name, 0)
        for name in remaining.bounds
    }
    budget = (policy.budget or Budget()).tightest(remaining.plus(counted))
    return replace(policy, budget=budget, over_budget=meter.context.over_budget)


@dataclass
class Teller:
    """Reports the events of a nested run to the job around it: each once, with the time and the tokens that it took.

    Args:
        watch: is called with the run after that.
        virtual: the run's seconds pass on a virtual clock and must be charged; real seconds pass by themselves.
        reported: how many events were reported so far, and `at`: the time of the last one.
    """

    watch: Callable[[Any], None] | None
    virtual: bool
    reported: int
    at: float

    def __call__(self, run: Any) -> None:
        """Report the new events, and call `watch`."""
        self.tell(run)
        if self.watch is not None:
            self.watch(run)

    def tell(self, run: Any) -> None:
        """Report the new events."""
        meter = job_meter()
        for event in run.events[self.reported :]:
            if self.virtual and event.at > self.at:
                charge(event.at - self.at)
            self.at = max(self.at, event.at)
            for call in getattr(event, "calls", ()):
                meter.add("calls", call)  # it was made, so the budget is not checked again
            emit(event, self.at - event.at)  # an event of a run deeper inside happened earlier
        self.reported = len(run.events)
        meter.chosen = own_calls(run.board)
        meter.once = any(known.once and known.state in ("done", "doubt") for known in meter.chosen)
        meter.leaves = leaves(run.board)


def result_of(run: Any) -> Any:
    """Return the result of a nested run: its answer, or the results of its last steps by id.

    Raises `RunPaused` if it waits for a decision, and `RuntimeError` if it did not finish.
    """
    stop_if_paused(run)
    if run.status != "finished":
        raise RuntimeError(f"the run inside {run.status}: {run.reason}")
    last = run.last_results
    return last if len(last) > 1 and run.plan.answer is None else run.answer


def undone_in(run: Any) -> dict[str, Any]:
    """Return the result of the rollback of a nested run. Raises `RunPaused` if it waits."""
    stop_if_paused(run)
    return {
        "undone": [*run.board[Rollback].undone],
        "remains": [*map(list, not_undone(run.board))] if run.board.is_begun else [["", UNKNOWN]],
        "made": [*run.board[WorkDone].made],
        "partly": run.status != "rolled back",
    }


CAPABILITY = Capability(
    Nested,
    folds={
        StepStarted: _started,
        **dict.fromkeys((StepPaused, UndoPaused), _paused),
        **dict.fromkeys((StepDone, StepFailed, UndoDone, UndoFailed), _ended),
        Requeued: _requeued,
        Reviewed: _reviewed,
        # no step continues, so the questions of steps need no answer; a rollback inside asks its own
        RollbackStarted: lambda board, _event: board[Nested].open.clear(),
    },
    before_plan=_before_plan,
    context=dict.fromkeys((StepStarted, UndoStarted), context),
)
