"""The agent: a planner, an executor, and the loop between them.

`PlannerExecutor` runs a goal, and `execute` runs a plan that you already have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from planexec_lite.assembly import CONTEXTS, EMITS, PLAN_CHECKS, WORK, Policy, chooser
from planexec_lite.capabilities import nesting, once_calls, require_undo
from planexec_lite.capabilities.nesting import InnerRun, Teller
from planexec_lite.capabilities.rollback import Rollback, RollbackStarted, UndoStarted
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import Board, Event, Job, Task, drive
from planexec_lite.core.events import Inside, PlanProposed, Requeued, RunStarted, StepStarted
from planexec_lite.core.executors import (
    Executor,
    asks_models,
    chooses_calls,
    effects_of,
    effects_of_any,
)
from planexec_lite.core.questions import Decision
from planexec_lite.core.tasks import Finished, Late, Message, Progress, TimedOut
from planexec_lite.meter import InContext, JobContext, current, emit
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.plan.data import as_words
from planexec_lite.run import Run, RunStore
from planexec_lite.run.decisions import event_of
from planexec_lite.tools import Effects, KnownCall, Toolbox, leave_loop, limits_of
from planexec_lite.workers import Inline, Simulated, Workers

if TYPE_CHECKING:
    from planexec_lite.roles.evaluators import Evaluator
    from planexec_lite.roles.planners import Planner
    from planexec_lite.roles.reviewers import Reviewer

Watch = Callable[[Run], None]


@dataclass
class PlannerExecutor:
    """A planner that writes plans, an executor that carries out their steps, and the settings of the loop between them.

    An agent is also an executor: another agent can carry out each of its steps as a nested run (see
    `capabilities.nesting`).

    Args:
        planner: writes plans; None if `execute` gets a plan.
        executor: carries out steps and lists the available tools.
        reviewer: approves plans before anything runs; None: plans run without approval.
        evaluator: judges the results of steps that have a success criterion; None: every result counts as done,
            unverified.
        workers: run the jobs; `Inline` by default.
        policy: bounds, and the meaning of failure; see `Policy`.
        watch: a function that the loop calls with the run after it has recorded events and before new jobs start, for
            example to update a picture. It can add news to the run with `tell`, but must leave it unchanged otherwise.
        journal: saves runs to disk; None: runs are not saved. A run that already has a journal keeps it.
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
    """For agents that use this one as an executor: its planner chooses the calls of each step."""
    plan_checks = PLAN_CHECKS

    def run(self, goal: str) -> Run:
        """Pursue `goal` until the run has ended or pauses for a person's decision.

        Raises `ValueError` if `goal` is not a string, or contains characters that can't be saved.
        """
        if self.planner is None:
            raise ValueError("there is no planner; pass one, or pass a plan to execute()")
        return self._drive(self._begun(goal))

    def resume(self, run: Run, decision: Decision | None = None) -> Run:
        """Return a new run that continues `run`. `run` itself does not change. If `run` has ended, no work is
        left.

        - Paused run: `decision` is the person's answer. With None, the reviewer is asked again.
        - Run that was interrupted, or stopped by an error in the reviewer or in `watch` (the error's attribute ``run``
          is the run so far): its running jobs start again. A step that is not safe to repeat becomes "in doubt", and
          the run pauses until a person says whether the step was done.
        - Run that was interrupted during a nested run: with a journal, the nested run continues. Without one, it starts
          again with the same idempotency keys, or the whole step is in doubt.

        Raises `ValueError` if the run is not waiting for this decision, or if its tools have changed since it began.
        Raises `PlanError` if the reviewer's edited plan is invalid.
        """
        return self._resumed(run, decision)

    def _resumed(self, run: Run, decision: Decision | None, inner: InnerRun | None = None) -> Run:
        run = self._opened(run)
        if inner is not None and inner.known is not None:
            run.record(replace(inner.known, at=run.board.now))
        if decision is not None:
            run.record(event_of(decision, run, self.tools))
        return self._drive(run)

    def tell(self, run: Run, news: str) -> Run:
        """Add news to a run that has not ended. The planner then replans the remaining steps.

        If the run is active in another thread, or is calling `watch`, its loop reads the news when it next wakes up,
        and `run` itself is returned. Running jobs finish, nested runs included. No new job starts before the planner
        has replanned. News that arrives while the run is pausing is read when it resumes. News that arrives while the
        run is ending stays in its `inbox`.

        If no thread of this process is driving the run, its running jobs count as interrupted, as in `resume`, and a
        new run continues with the news. To reach a run in another process, use `Journal.tell`.

        Raises `ValueError` if the run has ended, if its tools have changed, or if `news` is not a string or can't be
        saved.
        """
        if run.board.ended is not None:
            raise ValueError(
                f"this run has ended ({run.status}); start a new one with the news in its goal"
            )
        if run.put(as_words(news, "news")):
            return run
        run = self._opened(run)
        run.inbox.append(news)
        return self._drive(run)

    def roll_back(self, run: Run, to: str | int | None = None) -> Run:
        """Return a new run in which the completed steps of `run` are undone, latest first (see `Step.undo`). `run`
        itself does not change.

        The run can have ended with any status, be paused, or be interrupted; jobs that were still running count as
        interrupted.

        Args:
            to: the id of a step. This step and all steps completed before it are not undone, and the plan's `rollback`
                calls are not made. None: undo everything.

        Raises `ValueError` if step `to` has no result, or if a tool that undoes something has changed.
        """
        run = self._opened(run, rollback=True)
        given = run.board[WorkDone].latest
        if to is not None and str(to) not in given:
            raise ValueError(
                f"to={to!r}: step {to} has no result; steps with results: {', '.join(given) or 'none'}"
            )
        run.record(RollbackStarted(run.board.now, "requested", None if to is None else str(to)))
        return self._drive(run)

    def _opened(self, run: Run, *, rollback: bool = False) -> Run:
        """Return a copy of a run that no loop is driving, with its running jobs recorded as interrupted. All ways to
        continue a run start here.

        Raises `ValueError` if the tools for the remaining steps, or for their undos, have changed since the run began.
        """
        from planexec_lite.capabilities.tool_pins import (
            check_tools,
        )  # only a run that goes on needs it

        check_tools(run.board, self.tools, effects_of(self.executor), rollback=rollback)
        run = run.again()
        interrupt(run, getattr(self.workers, "holds", None))
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
                limits=(
                    *limits_of(tools, self.workers.limits),
                    *getattr(self.executor, "limits", ()),
                ),
                effects=effects_of(self.executor),
                destructive=tuple(tool.name for tool in tools if tool.destructive),
                models_in_steps=asks_models(self.executor),
                pins=tools.pins,
            )
        )
        if inner is not None and inner.known is not None:
            run.record(inner.known)
        return run

    def _drive(self, run: Run) -> Run:
        """Drive the run until it ends or pauses. An exception gets the run so far as its attribute ``run``."""
        try:
            leave_loop()  # an async tool that runs this run blocks the loop of the async tools
            store = run.journal or self.journal
            written_down = nullcontext() if store is None else store.carry_on(run)
            choose = chooser(run.board.started, self.policy, self.executor)
            with written_down, run.listen(), self.workers.open(run.board.now) as session:
                while True:
                    drive(run, choose, self, session)
                    decision = self._ask(run)
                    if decision is None:
                        return run
                    run.record(event_of(decision, run, self.tools))
        except BaseException as problem:
            problem.run = run  # type: ignore[attr-defined]
            raise

    def _ask(self, run: Run) -> Decision | None:
        question, reviewer = run.question, self.reviewer
        if question is None or reviewer is None:
            return None
        return run.board.show(lambda board: reviewer.review(question, board, self.executor.tools))

    # Called by the loop

    def task(self, run: Run, job: Job) -> Task:
        """Return the task that the workers run for `job`, with its context."""
        task = WORK[type(job)].task(self, run, job)
        context: dict[str, Any] = {}
        for context_of in CONTEXTS[type(job)]:
            context |= context_of(self, run, job)
        if context:
            task.call, task.key = InContext(task.call, JobContext(**context)), context.get("key")
        return task

    def outcomes(self, message: Message) -> Sequence[Event]:
        """Return the events that result from a message of the workers."""
        job = message.task.event
        work = WORK[type(job)]
        if isinstance(message, Finished):
            inside = _emitted(job, message.inside) if message.inside else ()
            return [*inside, *work.finished(job, message)]
        if isinstance(message, Progress):
            return [*_emitted(job, [(message.at, message.event)])]
        if isinstance(message, TimedOut):
            return work.timed_out(job, message) if work.timed_out is not None else []
        assert isinstance(message, Late)
        return [*_emitted(job, message.inside), *(work.late(job, message) if work.late else ())]

    # As the executor of another agent: each step is a nested run

    @property
    def tools(self) -> Toolbox:
        """The executor's tools."""
        return self.executor.tools

    @property
    def effects(self) -> dict[str, Effects]:
        """The effects that each step could have: the strongest effect of all tools, because the nested plan chooses
        the calls.
        """
        return effects_of_any(self.tools)

    def agent_inside(self, _step: Step) -> PlannerExecutor:
        """Return this agent, which carries out the step as a nested run."""
        return self

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Carry out `step` as a nested run whose goal is the step, and return its result.

        The nested run uses this agent's workers, policy and reviewer. It stops at the latest when the step times out.
        On a virtual clock, it needs `Simulated` workers, like the outer run.

        Raises `RunPaused` if the nested run waits for a decision, and `RuntimeError` if it did not finish.
        """
        from planexec_lite.roles.react import task_text  # loads what asks models

        with self._inside() as (agent, inner, known):
            agent.policy = nesting.within_step(self.policy, inner, known)
            if inner is None or known is None:
                run = agent._drive(agent._begun(task_text(step, inputs), inner))
            else:
                run = agent._continued(known, inner)
        return nesting.result_of(run)

    def undo_inside(self) -> dict[str, Any]:
        """Roll back the nested run of the step that is being undone.

        Returns the labels of the completed undos, the remaining ones with the reasons, and the calls. Raises
        `RunPaused` if the rollback waits for a decision.
        """
        with self._inside() as (agent, inner, known):
            run = None if inner is None or known is None else agent._undone(known, inner)
        return nesting.undone_in(run)

    @contextmanager
    def _inside(self) -> Iterator[tuple[PlannerExecutor, InnerRun | None, Run | None]]:
        """Give the agent for the nested run of the current step, what its job received, and the run so far.

        If an error ends the nested run, its running jobs are recorded as interrupted, and reported.
        """
        meter = current.get()
        inner: InnerRun | None = None if meter is None else meter.context.inside
        known: Run | None = nesting.known_run(inner, Run)
        store, reported = (None, ()) if inner is None else (inner.store, inner.events)
        if known is not None and inner is not None:
            known.key, known.inner = inner.key, True
        teller = Teller(self.watch, reported, virtual=isinstance(self.workers, Simulated))
        try:
            yield replace(self, watch=teller, journal=store), inner, known
        except Exception as problem:
            if isinstance(broken := getattr(problem, "run", None), Run):
                interrupt(broken)
                teller.tell(broken)
            raise

    def _continued(self, run: Run, inner: InnerRun) -> Run:
        """Continue a nested run, which might have got further than it has reported."""
        assert isinstance(self.watch, Teller)
        self.watch.tell(run)
        run = self._resumed(run, inner.news_for(run), inner)
        if run.status == "paused" and len(run.events) == len(inner.events):
            emit(run.events[-1])  # it still waits for the same decision
        return run

    def _undone(self, run: Run, inner: InnerRun) -> Run:
        """Roll back a nested run, or resume its rollback. Undos that failed are tried again only if `inner.again`
        asks for it.
        """
        begun = run.board[Rollback].started is not None
        if begun and run.board.ended is None:
            return self.resume(run, inner.news_for(run))
        if begun and not inner.again:
            return run
        run = self._opened(run, rollback=True)
        run.record(RollbackStarted(run.board.now, "requested", made=inner.made))
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
    """Carry out a plan that you already have. A failing step does not raise; the run reports it.

    Raises `PlanError` if the plan is invalid. `Policy.max_steps` bounds what a planner may write, so it does not apply
    here.
    """
    plan = Plan.received(plan, "the caller")
    policy = policy or Policy()
    problems = [
        *plan.problems(executor.tools),
        *require_undo.undo_is_missing(plan, Board(), policy, executor),
    ]
    if problems:
        raise PlanError(problems)
    agent = PlannerExecutor(
        None, executor, None, evaluator, workers or Inline(), policy, watch, journal
    )
    run = agent._begun(plan.goal)
    chosen = tuple(step.id for step in plan.steps if chooses_calls(executor, step))
    run.record(PlanProposed(0.0, plan, model_chooses=chosen))
    return agent._drive(run)


def interrupt(run: Run, holds: Callable[[str], bool] | None = None) -> None:
    """Record that the running jobs were interrupted: an undo first, then the steps in plan order, then the planner.

    `holds` says whether the workers still have the call of a key, or its result: such a step is requeued, and gets that result.
    """
    board = run.board
    order = (
        {step_id: place for place, step_id in enumerate(board.steps)} if board.in_flight else {}
    )
    jobs = sorted(
        board.in_flight.values(), key=lambda job: (job.id is None, order.get(job.id or "", -1))
    )
    for job in jobs:
        event: Event = Requeued(board.now, job.id, "interrupted")
        outcome_of = WORK[type(job)].interrupted
        key = once_calls.key_of(run, job)() if isinstance(job, StepStarted) and job.call else None
        if outcome_of is not None and not (holds is not None and key is not None and holds(key)):
            event = outcome_of(board, job, has_journal=run.journal is not None)
        if isinstance(event, Requeued) and isinstance(job, StepStarted) and job.inside:
            event = replace(event, chosen=_calls_inside(run, job))
        run.record(event)


def _emitted(job: Job, values: Iterable[tuple[float, Any]]) -> Iterator[Event]:
    """Yield the events of what a job emitted. A value of an unknown type is an event inside its step."""
    for at, value in values:
        if (event_of_value := EMITS.get(type(value))) is not None:
            if (event := event_of_value(at, job, value)) is not None:
                yield event
        elif isinstance(job, StepStarted | UndoStarted):
            yield Inside(at, job.step, value, job.inside if isinstance(value, Event) else 0)


def _calls_inside(run: Run, job: StepStarted) -> tuple[KnownCall, ...]:
    """Return the calls with effects of a nested run that was interrupted, as far as the journal has them."""
    store = run.journal
    inner = None if store is None else store.find(nesting.uid_inside(run, job.step, job.inside))
    if inner is None:
        return ()
    inner = inner.again()
    interrupt(inner)
    return nesting.own_calls(inner.board)
