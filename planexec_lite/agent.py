"""The agent: a planner, an executor, and the loop between them.

`PlannerExecutor` runs a goal, and `execute` runs a plan that you already have. From a goal to the call of a tool:

1. `PlannerExecutor.run` records `RunStarted`, and `core.loop.drive` asks `core.choose` for the next event: the first of
   `assembly.RULES` that answers says it, and then each of `GUARDS` can replace it.
2. The rule `plain.ask_for_a_plan` starts the planner: `capabilities.planning.propose` checks its plan, and the board adopts it.
3. The rule `plain.start_ready` starts a step. `PlannerExecutor.task` makes it a task, as `capabilities.stepping` says.
4. The session of the workers starts the task (`start`, in a thread or here): `workers.session.measure` calls
   `stepping.perform`, which calls the executor's `execute`, such as that of `ToolExecutor`, in the same file.
5. That resolves the references and calls `Tool.call`, which checks the arguments and calls the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from planexec_lite.assembly import CONTEXTS, EMITS, PLAN_CHECKS, WORK, Policy, chooser
from planexec_lite.capabilities import nesting, once_calls
from planexec_lite.capabilities.nesting import InnerRun, Teller
from planexec_lite.capabilities.rollback import Rollback, RollbackStarted, UndoStarted
from planexec_lite.capabilities.stepping import (
    Executor,
    asks_models,
    chooses_calls,
    effects_of,
    effects_of_any,
)
from planexec_lite.capabilities.tool_pins import check_tools
from planexec_lite.core import Event, Job, Task, drive
from planexec_lite.core.events import Inside, PlanProposed, Requeued, RunStarted, StepStarted
from planexec_lite.core.questions import Decision
from planexec_lite.core.tasks import Finished, Late, Message, Progress, TimedOut
from planexec_lite.meter import JobContext, in_context, job_meter
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.plan.data import as_words
from planexec_lite.run import Run, RunStore
from planexec_lite.run.decisions import event_of
from planexec_lite.tools import Effects, KnownCall, Toolbox, limits_of
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
        return self._drive(self._begun(Run(), goal))

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
        run = self._opened(run)
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
        return self._rolled_back(run, None if to is None else str(to))

    def _rolled_back(self, run: Run, to: str | None = None, made: tuple[str, ...] = ()) -> Run:
        run = self._opened(run)
        run.record(RollbackStarted(run.board.now, "requested", to, made))
        return self._drive(run)

    def _opened(self, run: Run) -> Run:
        """Return a copy of a run that no loop is driving, with its running jobs recorded as interrupted. All ways to
        continue a run start here.

        Raises `ValueError` if the tools for the remaining steps, or for their undos, have changed since the run began.
        """
        check_tools(run.board, self.tools, effects_of(self.executor))
        run = run.again()
        interrupt(run, getattr(self.workers, "holds", None))
        return run

    def _begun(self, run: Run, goal: str) -> Run:
        tools = self.tools
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
        return run

    def _drive(self, run: Run) -> Run:
        """Drive the run until it ends or pauses. An exception gets the run so far as its attribute ``run``."""
        try:
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
        limit = task.limit(run.board.now)
        context: dict[str, Any] = {} if limit is None else {"limit": limit}
        for context_of in CONTEXTS[type(job)]:
            context |= context_of(self, run, job)
        if context:
            task.call = partial(in_context, JobContext(**context), task.call)
            task.key = context.get("key")
        return task

    def outcomes(self, message: Message) -> Sequence[Event]:
        """Return the events that result from a message of the workers."""
        job = message.task.event
        work = WORK[type(job)]
        if type(message) is Finished and not message.inside:
            return work.finished(job, message)  # most messages
        handlers = {Finished: work.finished, TimedOut: work.timed_out, Late: work.late}
        handle: Any = handlers.get(type(message))
        inside: Any = getattr(message, "inside", ())
        if isinstance(message, Progress):
            inside = [(message.at, message.event)]
        return [*_emitted(job, inside), *(handle(job, message) if handle else ())]

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

        with self._inside() as (agent, watch, inner, run):
            agent.policy = nesting.within_step(self.policy, inner, run)
            decision = None
            if run.board.is_begun:  # it might have got further than it has reported
                watch.tell(run)
                decision, run = inner.news_for(run), agent._opened(run)
            else:
                agent._begun(run, task_text(step, inputs))
            run.record(replace(inner.known, at=run.board.now))
            if decision is not None:
                run.record(event_of(decision, run, self.tools))
            run = agent._drive(run)
        return nesting.result_of(run)

    def undo_inside(self) -> dict[str, Any]:
        """Roll back the nested run of the step that is being undone.

        Returns the labels of the completed undos, the remaining ones with the reasons, and the calls. Raises
        `RunPaused` if the rollback waits for a decision.
        """
        with self._inside() as (agent, _, inner, run):
            begun = run.board[Rollback].started is not None
            if begun and run.board.ended is None:
                run = agent.resume(run, inner.news_for(run))
            elif run.board.is_begun and (inner.again or not begun):
                run = agent._rolled_back(run, made=inner.made)
        return nesting.undone_in(run)

    @contextmanager
    def _inside(self) -> Iterator[tuple[PlannerExecutor, Teller, InnerRun, Run]]:
        """Give the agent for the nested run of the current step, its `watch`, what its job received, and the run so far.

        If an error ends the nested run, its running jobs are recorded as interrupted, and reported.
        """
        inner = job_meter().context.inside or InnerRun(uuid4().hex)
        at = max((event.at for event in inner.events), default=0.0)
        virtual = isinstance(self.workers, Simulated)
        watch = Teller(self.watch, virtual, len(inner.events), at)
        run = nesting.known_run(inner, Run)
        try:
            yield replace(self, watch=watch, journal=inner.store), watch, inner, run
        except Exception as problem:
            if isinstance(broken := getattr(problem, "run", None), Run):
                interrupt(broken)
                watch.tell(broken)
            raise


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
    if problems := plan.problems(executor.tools):
        raise PlanError(problems)
    workers, policy = workers or Inline(), policy or Policy()
    agent = PlannerExecutor(None, executor, None, evaluator, workers, policy, watch, journal)
    run = agent._begun(Run(), plan.goal)
    chosen = tuple(step.id for step in plan.steps if chooses_calls(executor, step))
    run.record(PlanProposed(0.0, plan, model_chooses=chosen))
    return agent._drive(run)


def interrupt(run: Run, holds: Callable[[str], bool] | None = None) -> None:
    """Record that the running jobs were interrupted, the planner last.

    - The planner and the evaluator are asked again. A wait before a retry is over.
    - A step that is safe to repeat starts again, with the same key if it has one, and the interrupted attempt does not count.
      Any other step is in doubt, and a person is asked whether it was done.
    - An undo that is safe to repeat is made again. Any other undo has failed, and it is unknown whether it was made.

    `holds` says whether the workers still have the call of a key, or its result: such a step is requeued, and gets that result.
    With a journal, a nested run continues from where it was interrupted.
    """
    board = run.board
    for job in sorted(board.in_flight.values(), key=lambda job: job.id is None):
        chosen = _calls_inside(run, job) if isinstance(job, StepStarted) else ()
        event: Event = Requeued(board.now, job.id, "interrupted", chosen)
        is_held = (
            holds is not None
            and isinstance(job, StepStarted)
            and job.call != ""
            and holds(once_calls.key_of(run, job)())
        )
        is_nested = isinstance(job, StepStarted | UndoStarted) and job.inside > 0
        interrupted = WORK[type(job)].interrupted
        if interrupted is not None and not is_held and not (is_nested and run.journal is not None):
            event = interrupted(board, job) or event
        run.record(event)


def _emitted(job: Job, values: Iterable[tuple[float, Any]]) -> Iterator[Event]:
    """Yield the events of what a job emitted. A value of an unknown type is an event inside its step."""
    for at, value in values:
        if type(value) in EMITS:
            yield EMITS[type(value)](at, value)
        elif isinstance(job, StepStarted | UndoStarted):
            yield Inside(at, job.step, value, job.inside if isinstance(value, Event) else 0)


def _calls_inside(run: Run, job: StepStarted) -> tuple[KnownCall, ...]:
    """Return the calls with effects of a nested run that was interrupted, as far as the journal has them."""
    if run.journal is None or not job.inside:
        return ()
    inner = run.journal.find(nesting.uid_inside(run, job))
    if inner is None:
        return ()
    inner = inner.again()
    interrupt(inner)
    return nesting.own_calls(inner.board)
