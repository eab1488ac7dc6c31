"""The loop: decide, record, start, wait, record. And the two ways into it, `execute` and `PlannerExecutor`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from planexec_lite.board import Board
from planexec_lite.decide import decide
from planexec_lite.evaluators import Evaluator, Verdict
from planexec_lite.events import (
    Event,
    Inside,
    Job,
    Judged,
    JudgeFailed,
    JudgeStarted,
    News,
    PlanFailed,
    PlanProposed,
    PlanStarted,
    Reviewed,
    RunStarted,
    StepDone,
    StepFailed,
    StepStarted,
)  # fmt: skip
from planexec_lite.executors import Executor, perform
from planexec_lite.plan import Plan, PlanError, Problem
from planexec_lite.planners import Planner
from planexec_lite.policy import Policy
from planexec_lite.reviewers import Decision, Reviewer
from planexec_lite.run import Run
from planexec_lite.standing import signature
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Crew, Finished, Inline, Task, Workers


def drive(run: Run, policy: Policy, crew: Crew, task_for: Callable[[Job], Task]) -> None:
    """Carry `run` on until it has ended or paused. This is the loop of the whole pattern."""
    while True:
        tasks: list[Task] = []
        while len(tasks) < crew.free and (event := decide(run.board, policy)):
            run.record(event)
            if isinstance(event, Job):
                tasks.append(task_for(event))
        for task in tasks:
            crew.start(task)
        if not run.board.in_flight:
            return
        for finished in crew.wait():
            for event in outcomes(finished):
                run.record(event)


def outcomes(finished: Finished) -> list[Event]:
    """Turn the report of a finished task into events: what happened inside it, then its outcome."""
    task, report, at, seconds, happened = finished
    match task.event:
        case StepStarted(step=id):
            inside: list[Event] = [Inside(when, id, event) for when, event in happened]
            if task.timeout is not None and seconds > task.timeout:
                error = f"TimeoutError: took longer than its timeout of {task.timeout:g} s"
                return [*inside, StepFailed(at, id, error, min(seconds, task.timeout), report.calls)]
            if report.error is not None:
                return [*inside, StepFailed(at, id, report.error, seconds, report.calls)]
            return [*inside, StepDone(at, id, report.value, seconds, report.calls)]
        case PlanStarted():
            if report.error is not None:
                return [PlanFailed(at, report.error, seconds, report.calls)]
            proposal: Proposal = report.value
            return [PlanProposed(at, proposal.plan, proposal.problems, proposal.text, seconds, report.calls)]
        case JudgeStarted(step=id):
            if report.error is not None:
                return [JudgeFailed(at, id, report.error, seconds, report.calls)]
            said: Verdict = report.value
            changed, wanting = said.changed, said.wanting
            return [Judged(at, id, said.verdict, said.reason, changed, wanting, seconds, report.calls)]
        case other:
            raise TypeError(f"no outcome is known for {other!r}")


class Proposal(NamedTuple):
    """A planner's answer, checked: the plan, or None with the text that was no plan, and the problems."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    text: str = ""


def propose(planner: Planner, board: Board, tools: Toolbox, max_steps: int) -> Proposal:
    """Ask the planner, and check what it says. Done steps that it repeats word for word are dropped.

    A plan that does the same as one that has failed before is refused: a replan must change something.
    """
    try:
        plan = planner.plan(board.goal, board, tools)
    except PlanError as error:
        return Proposal(None, error.problems, error.text)
    steps = tuple(step for step in plan.steps if not (step.id in board.results and step == board.steps[step.id]))
    plan = plan if len(steps) == len(plan.steps) else plan.changed(steps=steps)
    problems = plan.problems(tools, done=board.results.keys(), max_steps=max_steps)
    if board.failed and signature(plan.steps) in {*board.tried, signature(board.steps[id] for id in board.unfinished)}:
        hint = "do something else about the failed step, or leave it out"
        problems.append(Problem("tried_before", None, "the steps are those that have failed before", hint))
    return Proposal(plan, tuple(problems))


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
    """

    planner: Planner | None
    executor: Executor
    reviewer: Reviewer | None = None
    evaluator: Evaluator | None = None
    workers: Workers = field(default_factory=Inline)
    policy: Policy = field(default_factory=Policy)

    def run(self, goal: str) -> Run:
        """Pursue `goal` until the run has finished, ended otherwise, or paused for a person."""
        if self.planner is None:
            raise ValueError("there is no planner to ask; give one, or a plan to execute()")
        run = Run()
        run.record(RunStarted(0.0, goal, True, self.reviewer is not None, self.evaluator is not None))
        return self._drive(run)

    def tell(self, run: Run, news: str) -> Run:
        """Return a new run that goes on from one that has not ended, with news that changes what is left to do.

        Raises `ValueError` if the run has ended.
        """
        if run.board.ended is not None:
            raise ValueError(f"this run has ended ({run.status}); start a new one with the news in its goal")
        run = Run(run.events)
        run.record(News(run.board.now, news))
        return self._drive(run)

    def resume(self, run: Run, decision: Decision) -> Run:
        """Return a new run that goes on from a paused one with `decision`. Raises `ValueError` if it is not paused."""
        run = Run(run.events)
        self._decide(run, decision)
        return self._drive(run)

    def _drive(self, run: Run) -> Run:
        with self.workers.open(run.board.now) as crew:
            while True:
                drive(run, self.policy, crew, lambda job: self._task(job, run.board))
                decision = self._ask(run.board)
                if decision is None:
                    return run
                self._decide(run, decision)

    def _ask(self, board: Board) -> Decision | None:
        if board.paused is None or self.reviewer is None or board.proposal is None:
            return None
        return self.reviewer.review(board.proposal, board, self.executor.tools)

    def _decide(self, run: Run, decision: Decision) -> None:
        board, said = run.board, decision
        if board.paused is None or board.proposal is None:
            raise ValueError(f"this run does not wait for a decision: it is {run.status}")
        run.record(Reviewed(board.now, said.verdict, board.proposal.hash, said.by, said.comment, board.paused.step))

    def _task(self, job: Job, board: Board) -> Task:
        if isinstance(job, PlanStarted):
            assert self.planner is not None
            return Task(job, propose, (self.planner, board, self.executor.tools, self.policy.max_steps), here=True)
        step = board.steps[job.step]
        if isinstance(job, JudgeStarted):
            assert self.evaluator is not None
            return Task(job, self.evaluator.evaluate, (step, board.claims[job.step], board), here=True)
        inputs = {id: board.results[id] for id in step.depends_on}
        return Task(job, perform, (self.executor, step, inputs), step.timeout)


def execute(
    plan: Plan,
    executor: Executor,
    *,
    evaluator: Evaluator | None = None,
    workers: Workers | None = None,
    policy: Policy | None = None,
) -> Run:
    """Carry out a plan that is already there. Raises `PlanError` if it is not fit to run; a failing step is reported.

    The policy's `max_steps` bounds what a planner may write, and is not applied to a plan given here.
    """
    if problems := plan.problems(executor.tools):
        raise PlanError(problems)
    agent = PlannerExecutor(None, executor, evaluator=evaluator, workers=workers or Inline(), policy=policy or Policy())
    run = Run()
    run.record(RunStarted(0.0, plan.goal, planner=False, reviewer=False, evaluator=evaluator is not None))
    run.record(PlanProposed(0.0, plan))
    return agent._drive(run)
