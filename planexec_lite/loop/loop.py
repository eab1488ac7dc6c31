"""The loop: decide, record, start, wait, record. And the two ways into it, `execute` and `PlannerExecutor`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from planexec_lite import references
from planexec_lite.assembly import answer
from planexec_lite.board import Board
from planexec_lite.capabilities.budget import allowance_of
from planexec_lite.capabilities.deadline import time_left
from planexec_lite.core import HOLD, Answer, Signal
from planexec_lite.events import (
    JOBS,
    BackoffStarted,
    Event,
    Job,
    JudgeStarted,
    PlanProposed,
    RollbackBegun,
    RunStarted,
    StepStarted,
    UndoStarted,
)
from planexec_lite.executors import Executor, ToolExecutor, agent_inside, asks_models, effects_of, perform
from planexec_lite.loop.approved_calls import approved_calls
from planexec_lite.loop.changed_since import check_plan, check_tools
from planexec_lite.loop.cut_off import interrupt
from planexec_lite.loop.decisions import answered
from planexec_lite.loop.jobs import cancelled, digest_of, judge, key_of, nothing, outcomes, propose
from planexec_lite.loop.nested import NestedExecutor, going_on
from planexec_lite.loop.run import Run, RunStore
from planexec_lite.loop.undo_inside import without_undo
from planexec_lite.meter import Knowing, idempotency_key
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.plan.data import as_words, copied
from planexec_lite.planning.planners import Planner
from planexec_lite.policy import Policy
from planexec_lite.review.evaluators import Evaluator
from planexec_lite.review.repeats import held
from planexec_lite.review.reviewers import Decision, Reviewer
from planexec_lite.tools import loop_at_rest
from planexec_lite.tools.limits import limits_of
from planexec_lite.workers import Inline, Task, Workers, WorkerSession

Watch = Callable[[Run], None]


def drive(run: Run, agent: PlannerExecutor, session: WorkerSession) -> None:
    """Carry `run` on until it has ended or paused. This is the loop of the whole pattern."""
    while True:
        run.take_news()
        jobs: deque[Job] = deque()
        tasks: deque[Task] = deque()
        slots = session.free
        try:
            # all that may start together is decided and shown before any of it begins
            while slots >= 1 and (event := agent._next(run.board)):
                run.record(event)
                if isinstance(event, JOBS):
                    jobs.append(event)
                    tasks.append(agent._task(event, run))
                    slots -= not tasks[-1].live
            run.commit()  # what is done is on disk before what follows from it begins
            if agent.watch:
                agent.watch(run)
            while tasks:
                jobs.popleft()
                session.start(tasks.popleft())
        except BaseException:
            for event in cancelled(jobs, run.board.now):
                run.record(event)
            raise
        if not run.board.in_flight:
            return
        if session.queued and answer(run.board, agent.policy) is HOLD:
            session.cancel()
        for message in session.wait():
            for event in outcomes(message):
                run.record(event)


@dataclass
class PlannerExecutor(NestedExecutor):
    """A planner that decides, an executor that does, and the settings of the loop between them.

    It is an executor too: given as one, it carries out each step as a run of its own (see `nested`).

    Args:
        planner: writes plans; None where a plan is given to `execute`.
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

    def run(self, goal: str) -> Run:
        """Pursue `goal` until the run has finished, ended otherwise, or paused for a person.

        Raises `ValueError` for a goal that is no text, or that can't be written down.
        """
        if self.planner is None:
            raise ValueError("there is no planner to ask; give one, or a plan to execute()")
        return self._drive(self._begun(goal))

    def resume(self, run: Run, decision: Decision | None = None, *, plan: Plan | None = None) -> Run:
        """Return a new run that goes on from where `run` stands; one that has ended has nothing left to do.

        It may be paused, and `decision` is what a person says; None: the reviewer is asked again. It may have been left by
        an interrupt, by the end of its process, or by an error of the reviewer or of `watch`, which have the run so far as
        their ``run``; what was in flight then is interrupted: it is tried again, but a step that may be done once is in doubt,
        and the run pauses until somebody says what became of it. With a journal, a run inside a step goes on from where it was
        cut off; without one, it begins again at its first step, with the same idempotency keys, or is in doubt as a whole.

        The plan that goes on is the run's own. Whoever keeps it in a file too gives it as `plan`, as it was read again, to
        learn whether it is still the one that the run began with.

        Raises `ValueError` for a decision that the run does not wait for, where the tools are no longer those that its
        steps were planned for, and where `plan` is another, which says in what; `PlanError` if the plan that the reviewer
        edited is invalid. `run` itself stays as it is.
        """
        if plan is not None:
            check_plan(run.events, Plan.received(plan, "the caller"))
        run = self._opened(run)
        if decision is not None:
            run.record(self._answered(run, decision))
        return self._drive(run)

    def tell(self, run: Run, news: str) -> Run:
        """Tell a run that has not ended what changes the rest of it: the planner plans that again.

        A run that is under way in another thread, or calls `watch`, takes the news when its loop wakes up next, and is
        returned itself. What is in flight is heard out, runs inside steps too; nothing new starts before the rest is planned
        again. What comes as it pauses is read when it is resumed; what comes as it ends stays in its `inbox`.

        From a run that nobody carries on, return a new one that goes on with the news; what was in flight is interrupted,
        as in `resume`. One that another process carries on is told through its journal: see `Journal.tell`.

        Raises `ValueError` if the run has ended, where the tools have changed, and for news that is no text or can't be
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
        """Return a new run in which what `run` has done is taken back, the latest first: see `Step.undo`.

        It may have ended in whatever way, wait for a person, or have been left; what was in flight then is interrupted.
        `to` names a step that stays as it is, with all that was done before it; the plan's `rollback` is left out then. "1/a" is
        step a of the run inside step 1.

        Raises `ValueError` where `to` names no step that gave a result, and where a tool that takes something back has
        changed. `run` itself stays as it is.
        """
        run = self._opened(run, rollback=True)
        given = run.board.rollback.latest
        if to is not None and str(to) not in given:
            raise ValueError(f"to={to!r}: step {to} gave no result; those that did are {', '.join(given) or 'none'}")
        run.record(RollbackBegun(run.board.now, "asked for", None if to is None else str(to)))
        return self._drive(run)

    def _opened(self, run: Run, *, rollback: bool = False) -> Run:
        """A copy of a run that nobody drives, with what was in flight interrupted: the one door for all who go on with a run.

        Raises `ValueError` where the tools of what is left to do, or to undo, are not those that the run began with.
        """
        check_tools(run.board, self.tools, effects_of(self.executor), rollback=rollback)
        run = run.again()
        interrupt(run, self.executor)
        return run

    def run_inside(self, goal: str) -> Run:
        """Pursue `goal` as the run inside the step that runs now: tried again, it is the same run to the world."""
        return self._drive(self._begun(goal, idempotency_key() or ""))

    def _begun(self, goal: str, uid: str = "") -> Run:
        tools = self.tools
        limits = (*limits_of(tools, self.workers.limits), *getattr(self.executor, "limits", ()))
        run = Run()
        run.uid = uid or run.uid
        run.record(
            RunStarted(
                at=0.0,
                goal=as_words(goal, "the goal"),
                planner=self.planner is not None,
                reviewer=self.reviewer is not None,
                evaluator=self.evaluator is not None,
                limits=limits,
                effects=effects_of(self.executor),
                destructive=tuple(tool.name for tool in tools if tool.destructive),
                models_in_steps=asks_models(self.executor),
                pins=self.tools.pins,
            )
        )
        return run

    def _drive(self, run: Run) -> Run:
        """Carry the run on. An interrupt, or an error of the reviewer or of `watch`, has the run so far as its ``run``."""
        try:
            store = run.journal or self.journal
            written_down = nullcontext() if store is None else store.carry_on(run)
            with loop_at_rest(), written_down, run.listen(), self.workers.open(run.board.now) as session:
                while True:
                    drive(run, self, session)
                    decision = self._ask(run.board)
                    if decision is None:
                        return run
                    run.record(self._answered(run, decision))
        except BaseException as problem:
            problem.run = run  # type: ignore[attr-defined]
            raise

    def _ask(self, board: Board) -> Decision | None:
        if board.paused is None or self.reviewer is None:
            return None
        return self.reviewer.review(board.proposal or board.plan, board.copy(), self.executor.tools)

    def _answered(self, run: Run, decision: Decision) -> Event:
        return answered(run, decision, self.executor.tools, self.planner is not None)

    def _next(self, board: Board) -> Answer:
        """The next event by the rules; but a step that would repeat what may be done once is held."""
        tools = self.executor.tools
        event = answer(board, self.policy)
        if isinstance(event, Signal):
            return event
        # what the first plan says twice is meant; a repeat is a call of an earlier plan
        event = event if board.table.plans < 2 else held(event, board, tools)
        if isinstance(event, StepStarted) and board.once.changes_world(board.steps[event.step]):
            return replace(event, key=key_of(board, event.step, tools))
        return event

    def _task(self, job: Job, run: Run) -> Task:
        board = run.board
        if isinstance(job, StepStarted):
            step, results = board.steps[job.step], board.results
            inputs = {id: copied(results[id]) for id in step.depends_on if id in results}
            left = step.id in board.approvals.held or step.id in board.cut_off
            done = going_on(run, step.id, perform) if left else perform
            store = None
            if run.log is not None and agent_inside(self.executor, step) is not None:
                store = run.log.inside(step.id, len(run.events) - 1)
            return self._bounded(Task(job, done, (self.executor, step, inputs), step.timeout), job, run, store)
        tools = self.executor.tools
        if isinstance(job, BackoffStarted):
            return Task(job, nothing, (), live=True, rest=job.seconds)
        if isinstance(job, UndoStarted):
            return self._undo(job, run)
        if isinstance(job, JudgeStarted):
            judged = (self.evaluator, board.steps[job.step], board.table.judging[job.step], board, tools, self.policy)
            return Task(job, self._timed(judge, board), judged, here=True)
        live = getattr(self.planner, "stream", False)
        asked = (self.planner, board.copy(), self.executor, self.policy)
        return Task(job, self._timed(propose, board), asked, here=True, live=live)

    def _timed(self, work: Callable[..., Any], board: Board) -> Callable[..., Any]:
        """What asks a planner or an evaluator, knowing the run's time that is left; the job itself is not given up."""
        seconds = None if self.policy.deadline is None else max(0.0, time_left(self.policy, board.now))
        allowance = None if self.policy.budget is None else allowance_of(board, self.policy)
        return work if seconds is None and allowance is None else Knowing(work, seconds, None, allowance)

    def _bounded(self, task: Task, job: StepStarted, run: Run, store: RunStore | None) -> Task:
        """A step's task, which is given up when its timeout is over or the run's deadline passes, and knows what a meter says."""
        task.until, board = self.policy.deadline, run.board
        seconds = task.limit(board.now)
        allowance = None if self.policy.budget is None else allowance_of(board, self.policy)
        approved = approved_calls(board, job.step, self.executor)
        key = digest_of(run.uid, job.key) if job.key else None
        if any(one is not None for one in (seconds, key, allowance, store, approved)):
            task.call = Knowing(task.call, seconds, key, allowance, store, approved)
        return task

    def _undo(self, job: UndoStarted, run: Run) -> Task:
        """The undo of a step is a call of a tool, whoever carried out the step; it has the timeout of its step."""
        board = run.board
        step = Step(id=job.step.replace(" ", "-").replace("/", "."), tool=job.call.tool, params=job.call.params)
        results = board.rollback.inputs()
        inputs = {one.step: copied(results[one.step]) for one in references.find(step.params) if one.step in results}
        number = board.rollback.calling.number if board.rollback.calling else None
        key = digest_of(run.uid, "undo", number, step.tool, step.params, inputs)
        call = Knowing(perform, board.rollback.timeout, key)
        return Task(job, call, (ToolExecutor(self.tools), step, inputs), board.rollback.timeout)


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
    problems = plan.problems(executor.tools) + (without_undo(plan, executor) if policy.require_undo else [])
    if problems:
        raise PlanError(problems)
    agent = PlannerExecutor(None, executor, None, evaluator, workers or Inline(), policy, watch, journal)
    run = agent._begun(plan.goal)
    run.record(PlanProposed(0.0, plan))
    return agent._drive(run)
