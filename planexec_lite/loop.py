"""The loop: decide, record, start, wait, record. And the two ways into it, `execute` and `PlannerExecutor`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from planexec_lite.board import Board
from planexec_lite.decide import decide, holds_back
from planexec_lite.evaluators import Evaluator
from planexec_lite.events import JOBS, Job, JudgeStarted, News, PlanProposed, Reviewed, RunStarted, StepStarted
from planexec_lite.executors import Executor, perform
from planexec_lite.jobs import judge, outcomes, propose, without_done
from planexec_lite.limits import limits_of
from planexec_lite.plan import Plan, PlanError
from planexec_lite.planners import Planner
from planexec_lite.policy import Policy
from planexec_lite.reviewers import Decision, Reviewer
from planexec_lite.run import Run
from planexec_lite.tools import loop_at_rest
from planexec_lite.workers import Crew, Inline, Task, Workers

Watch = Callable[[Run], None]


def drive(
    run: Run, policy: Policy, crew: Crew, task_for: Callable[[Job, Board], Task], watch: Watch | None = None
) -> None:
    """Carry `run` on until it has ended or paused. This is the loop of the whole pattern."""
    while True:
        tasks: list[Task] = []
        while len(tasks) < crew.free and (event := decide(run.board, policy)):
            run.record(event)
            if isinstance(event, JOBS):
                tasks.append(task_for(event, run.board))
        if watch:
            watch(run)
        for task in tasks:
            crew.start(task)
        if not run.board.in_flight:
            return
        if crew.queued and holds_back(run.board, policy):
            crew.cancel()
        for said in crew.wait():
            for event in outcomes(said):
                run.record(event)


@dataclass
class PlannerExecutor:
    """A planner that decides, an executor that does, and the settings of the loop between them.

    Args:
        planner: writes plans; None where a plan is given to `execute`.
        executor: carries out steps, and says which tools there are.
        reviewer: approves plans before anything runs; None: no approval is asked for.
        evaluator: judges results whose step has a success criterion; None: they count as done, unverified.
        workers: who carries out the jobs; by default `Inline`.
        policy: bounds and meanings; see `Policy`.
        watch: is called with the run whenever something was recorded, before what was started begins; a picture that
            follows the run is such a function. It must not change the run.
    """

    planner: Planner | None
    executor: Executor
    reviewer: Reviewer | None = None
    evaluator: Evaluator | None = None
    workers: Workers = field(default_factory=Inline)
    policy: Policy = field(default_factory=Policy)
    watch: Watch | None = None

    def run(self, goal: str) -> Run:
        """Pursue `goal` until the run has finished, ended otherwise, or paused for a person."""
        if self.planner is None:
            raise ValueError("there is no planner to ask; give one, or a plan to execute()")
        return self._drive(self._begun(goal))

    def tell(self, run: Run, news: str) -> Run:
        """Return a new run that goes on from one that has not ended, with news that changes what is left to do.

        Raises `ValueError` if the run has ended, or was left in the middle of a step.
        """
        if run.board.ended is not None:
            raise ValueError(f"this run has ended ({run.status}); start a new one with the news in its goal")
        if run.board.in_flight:
            raise ValueError(
                "this run was left in the middle of a step, and nobody knows how that went; start a new one"
            )
        run = Run(run.events)
        run.record(News(run.board.now, news))
        return self._drive(run)

    def resume(self, run: Run, decision: Decision) -> Run:
        """Return a new run that goes on from a paused one with `decision`.

        Raises `ValueError` if it is not paused, and `PlanError` if the plan that the reviewer edited is not fit to run;
        nothing is recorded then.
        """
        run = Run(run.events)
        self._decide(run, decision)
        return self._drive(run)

    def _begun(self, goal: str) -> Run:
        tools = self.executor.tools
        limits = (*limits_of(tools, self.workers.limits), *getattr(self.executor, "limits", ()))
        run = Run()
        run.record(
            RunStarted(
                at=0.0,
                goal=goal,
                planner=self.planner is not None,
                reviewer=self.reviewer is not None,
                evaluator=self.evaluator is not None,
                limits=limits,
                effects=tools.effects,
            )
        )
        return run

    def _drive(self, run: Run) -> Run:
        """Carry the run on. An error of the reviewer or of `watch` goes out, with the run so far as its `run`."""
        try:
            with loop_at_rest(), self.workers.open(run.board.now) as crew:
                while True:
                    drive(run, self.policy, crew, self._task, self.watch)
                    decision = self._ask(run.board)
                    if decision is None:
                        return run
                    self._decide(run, decision)
        except BaseException as problem:
            problem.run = run  # type: ignore[attr-defined]
            raise

    def _ask(self, board: Board) -> Decision | None:
        if board.paused is None or self.reviewer is None or board.proposal is None:
            return None
        return self.reviewer.review(board.proposal, board, self.executor.tools)

    def _decide(self, run: Run, decision: Decision) -> None:
        board, said = run.board, decision
        if board.paused is None or board.proposal is None:
            raise ValueError(f"this run does not wait for a decision: it is {run.status}")
        if not isinstance(said, Decision):
            raise TypeError(f"a reviewer gives a Decision or None, not a {type(said).__name__}")
        if board.proposal.changed().hash != board.proposal.hash:
            raise ValueError('the plan was changed in place; give what you edited: Decision("approve", plan=…)')
        if said.of and said.of not in (board.proposal.hash, board.plan.hash):
            raise ValueError("the decision is about another plan than the one that waits; review that one")
        if said.of and said.verdict == "approve" and board.paused.reason == "gate":
            raise ValueError('a yes to the plan opens no gate; look at the board and say Decision("approve", by=…)')
        if said.verdict == "change" and self.planner is None:
            raise ValueError("there is no planner to change the plan; approve it, reject it, or edit it yourself")
        plan = self._edited(said.plan, board) if said.plan is not None else None
        hash, gate = (plan or board.proposal).hash, board.paused.step
        run.record(Reviewed(board.now, said.verdict, hash, said.by, said.comment, gate, plan, said.grant))

    def _edited(self, plan: Plan, board: Board) -> Plan | None:
        """What the reviewer made of the plan, checked, without the steps that are done; None if it is still the same."""
        plan = without_done(plan, board)
        if problems := plan.problems(self.executor.tools, done=board.results.keys()):
            raise PlanError(problems, plan.to_json())
        return plan if plan != board.proposal else None

    def _task(self, job: Job, board: Board) -> Task:
        if isinstance(job, StepStarted):
            step, results = board.steps[job.step], board.results
            inputs = {id: results[id] for id in step.depends_on}
            return Task(job, perform, (self.executor, step, inputs), step.timeout)
        tools = self.executor.tools
        if isinstance(job, JudgeStarted):
            judged = (self.evaluator, board.steps[job.step], board.claims[job.step], board, tools)
            return Task(job, judge, judged, here=True)
        live = getattr(self.planner, "stream", False)
        return Task(job, propose, (self.planner, board, tools, self.policy.max_steps), here=True, live=live)


def execute(
    plan: Plan,
    executor: Executor,
    *,
    evaluator: Evaluator | None = None,
    workers: Workers | None = None,
    policy: Policy | None = None,
    watch: Watch | None = None,
) -> Run:
    """Carry out a plan that is already there. Raises `PlanError` if it is not fit to run; a failing step is reported.

    The policy's `max_steps` bounds what a planner may write, and is not applied to a plan given here.
    """
    if problems := plan.problems(executor.tools):
        raise PlanError(problems)
    agent = PlannerExecutor(None, executor, None, evaluator, workers or Inline(), policy or Policy(), watch)
    run = agent._begun(plan.goal)
    run.record(PlanProposed(0.0, plan))
    return agent._drive(run)
