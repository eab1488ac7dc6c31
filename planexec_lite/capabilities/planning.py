"""Planning (lesson 02): the run asks the planner, and checks its plan before the plan counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic import NonNegativeInt

from planexec_lite.capabilities.approval import granting_reviewer
from planexec_lite.capabilities.stepping import chooses_calls
from planexec_lite.capabilities.streaming import StreamBuffer
from planexec_lite.core import Board, Capability, Task, Work
from planexec_lite.core.events import PLANNER_FAILED, PlanProposed, PlanStarted
from planexec_lite.plan import Plan, PlanError, Problem


@dataclass(frozen=True)
class Settings:
    """The bound on the steps of a plan. See `Policy`."""

    max_steps: NonNegativeInt = 50


def without_done(plan: Plan, board: Board) -> Plan:
    """Return the plan without the steps that are done already, if it repeats them word for word."""
    repeated = board.kept_by(plan) & board.results.keys()
    if not repeated:
        return plan
    return plan.changed(steps=[step for step in plan.steps if step.id not in repeated])


def propose(agent: Any, board: Board) -> PlanProposed:
    """Ask the planner of `agent`, and check its plan. Done steps that it repeats word for word are dropped.

    `board` does not change meanwhile. The planner receives a copy.
    """
    planner, executor, policy = agent.planner, agent.executor, agent.policy
    tools = executor.tools
    written = StreamBuffer(board, executor, policy)

    def plan_of(shown: Board) -> Plan:
        if getattr(planner, "stream", False) and hasattr(planner, "parts"):
            return written.all(planner.parts(board.goal, shown, tools))
        plan: Plan = planner.plan(board.goal, shown, tools)
        return plan

    try:
        plan = Plan.received(board.show(plan_of), "the planner")
    except PlanError as error:
        problems = [*error.problems, *written.unfinished_problems()]
        return PlanProposed(board.now, None, tuple(map(_writable, problems)), _written(error.text))
    plan = without_done(plan, board)
    problems = plan.problems(tools, done=board.results.keys(), max_steps=policy.max_steps)
    problems += written.missing_in(plan)
    for check in agent.plan_checks:
        problems += check(plan, board, policy, executor)
    chosen = tuple(step.id for step in plan.steps if chooses_calls(executor, step))
    by = granting_reviewer(board, plan)
    return PlanProposed(board.now, plan, tuple(problems), granted_by=by, model_chooses=chosen)


def _writable(problem: Problem) -> Problem:
    """Return the problem in characters that a file can contain: a model might quote half a character."""
    return replace(problem, message=_written(problem.message), hint=_written(problem.hint))


def _written(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _task(agent: Any, run: Any, job: PlanStarted) -> Task:
    live = getattr(agent.planner, "stream", False)
    board = run.board.copy() if live else run.board  # the run continues while a planner streams
    return Task(job, propose, (agent, board), here=True, live=live)


def _failed(at: float, _job: PlanStarted, error: str) -> PlanProposed:
    problem = Problem(PLANNER_FAILED, None, error, "answer again")
    return PlanProposed(at, None, (problem,))


CAPABILITY = Capability(work={PlanStarted: Work.asking(_task, _failed)})
