"""The agent: a planner, an executor, and the loop between them. `PlannerExecutor` and `execute` are the two ways into a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from planexec_lite import assembly, references
from planexec_lite.assembly import CONTEXT, HEARD, PLAN_CHECKS, Policy, decider
from planexec_lite.capabilities import doubt, judging, nesting, planning, require_undo, retries
from planexec_lite.capabilities.nesting import InnerRun, Teller
from planexec_lite.capabilities.once_calls import digest_of
from planexec_lite.capabilities.rollback import (
    Rollback,
    RollbackStarted,
    UndoDone,
    UndoFailed,
    UndoPaused,
    UndoStarted,
)
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board, Event, Job, Task, Work, drive
from planexec_lite.core.events import (
    Inside,
    PlanProposed,
    Requeued,
    RunStarted,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.core.tasks import Finished, Late, Message, Progress, TimedOut
from planexec_lite.decisions import Decision, answered
from planexec_lite.meter import InContext, JobContext, current, emit
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.plan.data import as_words, copied
from planexec_lite.roles.executors import (
    Executor,
    ToolExecutor,
    agent_inside,
    asks_models,
    chooses_calls,
    effects_of,
    effects_of_any,
    perform,
)
from planexec_lite.run import Run, RunStore
from planexec_lite.tools import Effects, Toolbox, limits_of
from planexec_lite.workers import Inline, Simulated, Workers

if TYPE_CHECKING:
    from planexec_lite.roles.evaluators import Evaluator
    from planexec_lite.roles.planners import Planner
    from planexec_lite.roles.reviewers import Reviewer

Watch = Callable[[Run], None]


@dataclass
class PlannerExecutor:
    """A planner that decides, an executor that does, and the settings of the loop between them.

    It is an executor too: given as one, it carries out each step as a run of its own (see `capabilities.nesting`).

    Args:
        planner: writes plans; None if a plan is given to `execute`.
        executor: carries out steps, and says which tools there are.
        reviewer: approves plans before anything runs; None: no approval is asked for.
        evaluator: judges results whose step has a success criterion; None: they count as done, unverified.
        workers: who carries out the jobs; by default `Inline`.
        policy: bounds and meanings; see `Policy`.
        watch: is called with the run whenever something was recorded, before what was started begins; a picture that
            follows the run is such a function. It must not change the run, but may tell it news.
        journal: where runs are written down; None: nowhere. A run that has a journal already goes on in that one.
    """

    planner: Planner | None
    executor: Executor
    reviewer: Reviewer | None = None
    evaluator: Evaluator | None = None
    workers: Workers = field(default_factory=Inline)
    policy: Policy = field(default_factory=Policy)
    watch: Watch | None = None
    journal: RunStore | None = None

    chooses_calls = True
    """As an executor: its planner chooses the calls of each step."""
    plan_checks = PLAN_CHECKS

    def run(self, goal: str) -> Run:
        """Pursue `goal` until the run has finished, ended otherwise, or paused for a person.

        Raises `ValueError` for a goal that is no text, or that can't be written down.
        """
        if self.planner is None:
            raise ValueError("there is no planner to ask; give one, or a plan to execute()")
        return self._drive(self._begun(goal))

    def resume(self, run: Run, decision: Decision | None = None) -> Run:
        """Return a new run that goes on from where `run` stands. One that has ended has nothing left to do.

        - A paused run: `decision` is what a person says; None: the reviewer is asked again.
        - A run that was interrupted, or left by an error of the reviewer or of `watch` (the error has the run so far as its
          ``run``): what was in flight starts again. A step whose repeat might do harm is in doubt, and the run pauses until
          somebody says whether it was done.
        - A run that was interrupted inside a step's own run: with a journal that run goes on. Without one it begins again with
          the same idempotency keys, or the whole step is in doubt.

        Raises `ValueError` for a decision that the run does not wait for, and if the tools are no longer those that its
        steps were planned for; `PlanError` if the plan that the reviewer edited is invalid. `run` itself stays as it is.
        """
        run = self._opened(run)
        if decision is not None:
            run.record(self._answered(run, decision))
        return self._drive(run)

    def tell(self, run: Run, news: str) -> Run:
        """Tell a run that has not ended what changes the rest of it: the planner plans that again.

        A run that is under way in another thread, or calls `watch`, takes the news when its loop wakes up next, and is
        returned itself. What is in flight ends, runs inside steps too; nothing new starts before the rest is planned
        again. What comes as it pauses is read when it is resumed; what comes as it ends stays in its `inbox`.

        From a run that nobody carries on, return a new one that goes on with the news; what was in flight is interrupted,
        as in `resume`. One that another process carries on is told through its journal: see `Journal.tell`.

        Raises `ValueError` if the run has ended, if the tools have changed, and for news that is no text or can't be
        written down.
        """
        if run.board.ended is not None:
            raise ValueError(f"this run has ended ({run.status}); start a new one with the news in its goal")
        if run.put(as_words(news, "news")):
            return run
        run = self._opened(run)
        run.inbox.append(news)
        return self._drive(run)

    def roll_back(self, run: Run, to: str | int | None = None) -> Run:
        """Return a new run in which what `run` has done is undone, the latest first: see `Step.undo`.

        It may have ended in whatever way, wait for a person, or have been left; what was in flight then is interrupted.
        `to` names a step that stays as it is, with all that was done before it; the plan's `rollback` is left out then.

        Raises `ValueError` if `to` names no step that gave a result, and if a tool that undoes something has
        changed. `run` itself stays as it is.
        """
        run = self._opened(run, rollback=True)
        given = run.board[WorkDone].latest
        if to is not None and str(to) not in given:
            raise ValueError(f"to={to!r}: step {to} gave no result; those that did are {', '.join(given) or 'none'}")
        run.record(RollbackStarted(run.board.now, "asked for", None if to is None else str(to)))
        return self._drive(run)

    def _opened(self, run: Run, *, rollback: bool = False) -> Run:
        """A copy of a run that nobody drives, with what was in flight interrupted: the one door for all who go on with a run.

        Raises `ValueError` if the tools of what is left to do, or to undo, are not those that the run began with.
        """
        from planexec_lite.changed_since import check_tools  # no first run needs it

        check_tools(run.board, self.tools, effects_of(self.executor), rollback=rollback)
        run = run.again()
        interrupt(run)
        return run

    def _begun(self, goal: str, inner: InnerRun | None = None) -> Run:
        tools = self.tools
        run = Run()
        if inner is not None:
            run.uid, run.key, run.inner = inner.uid, inner.key, True
        run.record(
            RunStarted(
                at=0.0,
                goal=as_words(goal, "the goal"),
                planner=self.planner is not None,
                reviewer=self.reviewer is not None,
                evaluator=self.evaluator is not None,
                limits=(*limits_of(tools, self.workers.limits), *getattr(self.executor, "limits", ())),
                effects=effects_of(self.executor),
                destructive=tuple(tool.name for tool in tools if tool.destructive),
                models_in_steps=asks_models(self.executor),
                pins=tools.pins,
            )
        )
        return run

    def _drive(self, run: Run) -> Run:
        """Carry the run on. An interrupt, or an error of the reviewer or of `watch`, has the run so far as its ``run``."""
        try:
            store = run.journal or self.journal
            written_down = nullcontext() if store is None else store.carry_on(run)
            with written_down, run.listen(), self.workers.open(run.board.now) as session:
                decide = decider(run.board, self.policy, self.executor)
                while True:
                    drive(run, decide, self, session)
                    decision = self._ask(run.board)
                    if decision is None:
                        return run
                    run.record(self._answered(run, decision))
        except BaseException as problem:
            problem.run = run  # type: ignore[attr-defined]
            raise

    def _ask(self, board: assembly.Board) -> Decision | None:
        if board.paused is None or self.reviewer is None:
            return None
        return self.reviewer.review(board.proposal or board.plan, board.copy(), self.executor.tools)

    def _answered(self, run: Run, decision: Decision) -> Event:
        return answered(run, decision, self.executor.tools, self.planner is not None)

    # What the loop asks

    def task(self, run: Run, job: Job) -> Task:
        """Return what the workers carry out for a job, which is told its context."""
        task = WORK[type(job)].task(self, run, job)
        context: dict[str, Any] = {}
        for told in CONTEXT:
            context |= told(self, run, job)
        if context:
            task.call = InContext(task.call, JobContext(**context))
        return task

    def outcomes(self, message: Message) -> Sequence[Event]:
        """Return the events that a message of the workers means."""
        job = message.task.event
        work = WORK[type(job)]
        if isinstance(message, Finished):
            return work.finished(job, message)
        if isinstance(message, Progress):
            heard = HEARD.get(type(message.event))
            event = heard(message.at, job, message.event) if heard is not None else None
            return [event] if event is not None else []
        if isinstance(message, TimedOut):
            return work.timed_out(job, message) if work.timed_out is not None else []
        return work.late(job, cast(Late, message)) if work.late is not None else []

    # As an executor: a step is a run of its own

    @property
    def tools(self) -> Toolbox:
        """The tools of its executor."""
        return self.executor.tools

    @property
    def effects(self) -> dict[str, Effects]:
        """What steps may do: the plan inside decides on the calls, so each may do what any of the tools does."""
        return effects_of_any(self.tools)

    def agent_inside(self, step: Step) -> PlannerExecutor:
        """This agent: it carries out `step` as a run of its own."""
        return self

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Carry out `step` as a run of its own, with the step as its goal, and return what it comes to.

        The run has this agent's workers, policy and reviewer, and stops at the latest when the step is given up; on a virtual
        clock, it needs `Simulated` workers as the run around it does. Raises `RunPaused` if it waits for a decision, and
        `RuntimeError` if it did not finish.
        """
        from planexec_lite.roles.react import task_text  # loads what asks models

        return nesting.result_of(
            self._go_on_inside(lambda agent, inner: agent._drive(agent._begun(task_text(step, inputs), inner)))
        )

    def undo_inside(self) -> dict[str, Any]:
        """Roll back the run inside the step that is undone now.

        Returns the labels that were undone, what remains and why, and the calls. Raises `RunPaused` if it waits for a decision.
        """
        return nesting.undone_in(self._go_on_inside(None))

    def _go_on_inside(self, begin: Callable[[PlannerExecutor, InnerRun | None], Run] | None) -> Any:
        """Begin the run inside the current step, or go on with it; without `begin`, roll it back."""
        meter = current.get()
        inner: InnerRun | None = meter.context.inside if meter is not None else None
        known: Run | None = nesting.known_run(inner, Run)
        told = inner.events if inner is not None else ()
        teller = Teller(isinstance(self.workers, Simulated), self.watch, len(told), told[-1].at if told else 0.0)
        agent = replace(self, watch=teller, journal=inner.store if inner is not None else None)
        try:
            if known is None or inner is None:
                if begin is None:
                    return None
                agent.policy = nesting.within_step(self.policy, inner, None)
                return begin(agent, inner)
            known.key, known.inner = inner.key, True
            passed = inner.news_for(known)
            decision = Decision.passed_on(passed) if passed is not None else None
            if begin is None:
                return agent._undone(known, inner, decision)
            agent.policy = nesting.within_step(self.policy, inner, known)
            teller.tell(known)
            run = agent.resume(known, decision)
            if run.status == "paused" and len(run.events) == len(told):
                emit(run.events[-1])  # it waits for what it waited for before
            return run
        except Exception as problem:
            if isinstance(broken := getattr(problem, "run", None), Run):
                interrupt(broken)
                teller.tell(broken)
            raise

    def _undone(self, run: Run, inner: InnerRun, decision: Decision | None) -> Run:
        """Roll a run inside a step back, or go on with its rollback. What it could not undo itself is tried again if asked for."""
        if run.status == "rolled back" and not inner.again:
            return run
        if run.board[Rollback].started is not None and run.status != "rolled back":
            return self.resume(run, decision)
        run = self._opened(run, rollback=True)
        run.record(RollbackStarted(run.board.now, "asked for", made=inner.made))
        return self._drive(run)


def execute(
    plan: Plan,
    executor: Executor,
    *,
    evaluator: Evaluator | None = None,
    workers: Workers | None = None,
    policy: Policy | None = None,
    watch: Watch | None = None,
    journal: RunStore | None = None,
) -> Run:
    """Carry out a plan that is already there. Raises `PlanError` if it is invalid; a failing step is reported.

    The policy's `max_steps` bounds what a planner may write, and is not applied to a plan given here.
    """
    plan = Plan.received(plan, "the caller")
    policy = policy or Policy()
    problems = [*plan.problems(executor.tools), *require_undo.undo_is_missing(plan, Board(), policy, executor)]
    if problems:
        raise PlanError(problems)
    agent = PlannerExecutor(None, executor, None, evaluator, workers or Inline(), policy, watch, journal)
    run = agent._begun(plan.goal)
    chosen = tuple(step.id for step in plan.steps if chooses_calls(executor, step))
    run.record(PlanProposed(0.0, plan, model_chooses=chosen))
    return agent._drive(run)


def interrupt(run: Run) -> None:
    """Record that what is in flight was interrupted: an undo first, the steps in the order of the plan, the planner last."""
    board = run.board
    order = {id: place for place, id in enumerate(board.steps)}
    jobs = sorted(board.in_flight.values(), key=lambda job: (job.id is None, order.get(job.id or "", -1)))
    for job in jobs:
        decide = WORK[type(job)].interrupted
        has_journal = run.journal is not None
        run.record(decide(board, job, has_journal) if decide else Requeued(board.now, job.id, "interrupted"))


# How steps and undos are carried out


def _step(agent: PlannerExecutor, run: Run, job: StepStarted) -> Task:
    step, results = run.board.steps[job.step], run.board.results
    inputs = {id: copied(results[id]) for id in step.depends_on if id in results}
    return Task(job, perform, (agent.executor, step, inputs), step.timeout, until=agent.policy.deadline)


def _step_finished(job: StepStarted, message: Finished) -> list[Event]:
    report, at, id = message.report, message.at, job.step
    told = (message.seconds, report.calls)
    events = [*_inside(job, message.inside)] if message.inside else []
    if report.waits is not None:
        reason, call, made, inside, short = report.waits
        events.append(StepPaused(at, id, reason, *told, report.once, call, made, inside, dict(short), report.leaves))
    elif report.error is None:
        events.append(StepDone(at, id, report.value, *told, report.leaves))
    else:  # if an at-most-once call was made, nobody knows how much of the step was done
        events.append(StepFailed(at, id, report.error, *told, report.once, report.final, report.leaves))
    return events


def _inside(job: Any, happened: Iterable[tuple[float, Any]]) -> Iterator[Event]:
    for at, emitted in happened:
        if (heard := HEARD.get(type(emitted))) is not None:
            if (event := heard(at, job, emitted)) is not None:
                yield event
        else:
            yield Inside(at, job.step, emitted, job.inside if isinstance(emitted, Event) else 0)


def _step_timed_out(job: StepStarted, message: TimedOut) -> list[Event]:
    error, inside = _too_long(message), bool(job.inside)
    return [StepFailed(message.at, job.step, error, message.seconds, in_doubt=True, leaves=inside)]


def _too_long(message: TimedOut) -> str:
    task = message.task
    if task.timeout is not None and message.seconds >= task.timeout:
        return f"TimeoutError: took longer than its timeout of {task.timeout:g} s"
    return f"TimeoutError: not over when the run's deadline of {task.until:g} s passed"


def _step_late(job: StepStarted, message: Late) -> list[Event]:
    report, at = message.report, message.at
    late = doubt.StepLate(at, job.step, report.value, report.error, message.seconds, report.calls)
    return [*_inside(job, message.inside), late]


def _undo(agent: PlannerExecutor, run: Run, job: UndoStarted) -> Task:
    """The undo of a step is a call of a tool, whoever carried out the step; it has the timeout of its step."""
    board, mine, done = run.board, run.board[Rollback], run.board[WorkDone]
    if job.call is None:
        inside = agent_inside(agent.executor, board.steps[job.step])
        return Task(job, inside.undo_inside if inside is not None else _no_agent)
    undo = mine.calling
    number = undo.number if undo is not None else 0
    timeout = done.completed[number].step.timeout if number else None
    step = Step(id=job.step.replace(" ", "-"), tool=job.call.tool, params=job.call.params)
    results = done.results_for(undo)
    inputs = {one.step: copied(results[one.step]) for one in references.find(step.params) if one.step in results}
    key = digest_of(run.key or run.uid, "undo", number, step.tool, step.params, inputs)
    call = InContext(perform, JobContext(limit=timeout, key=key))
    return Task(job, call, (ToolExecutor(agent.tools), step, inputs), timeout)


def _no_agent() -> None:
    raise RuntimeError("the agent that carried out this step is not there any more")


def _undo_finished(job: UndoStarted, message: Finished) -> list[Event]:
    report, at, id = message.report, message.at, job.step
    told = (message.seconds, report.calls)
    events = [*_inside(job, message.inside)]
    if report.waits is not None:
        return [*events, UndoPaused(at, id, report.waits.reason, report.waits.inside, *told)]
    if report.error is None:
        return [*events, UndoDone(at, id, report.value, *told)]
    return [*events, UndoFailed(at, id, report.error, *told, report.once)]


def _undo_timed_out(job: UndoStarted, message: TimedOut) -> list[Event]:
    return [UndoFailed(message.at, job.step, _too_long(message), message.seconds, in_doubt=True)]


def _undo_interrupted(board: Board, job: UndoStarted, has_journal: bool) -> Event:
    if job.call is None:
        harmless = has_journal or board.repeatable(board.steps[job.step])
    else:
        harmless = board.started.effects.get(job.call.tool, "none") in ("none", "idempotent")
    if harmless:
        return Requeued(board.now, job.step, "interrupted")
    return UndoFailed(board.now, job.step, "interrupted; nobody knows whether it was undone", in_doubt=True)


WORK: dict[type[Any], Work] = {
    **planning.WORK,
    **judging.WORK,
    **retries.WORK,
    StepStarted: Work(_step, _step_finished, _step_timed_out, _step_late, doubt.interrupted),
    UndoStarted: Work(_undo, _undo_finished, _undo_timed_out, None, _undo_interrupted),
}
