"""The best of three plans: the same question is put three times, and the plan that would be done first is carried out.

After Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models" (2022),
https://arxiv.org/abs/2203.11171. There, equal answers are counted. Plans are rarely equal word for word, so the valid
plan is taken that is done first in a dry run.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planexec_lite.agent import PlannerExecutor, execute
from planexec_lite.assembly import Board
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.meter import charge
from planexec_lite.model.answer import Message
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.roles.planners import LLMPlanner, Planner
from planexec_lite.run import Run
from planexec_lite.tools import Tool, Toolbox
from planexec_lite.workers import Simulated, Workers

Choose = Callable[[str, Sequence[Plan], Toolbox], int]
"""Returns the place of one of the plans for a goal, all valid with these tools."""
PLANS = 3


def best_of_three(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent that has three plans written and carries out the one that is the quickest with these workers."""
    planners = [OneOfThree(client, number) for number in range(1, PLANS + 1)]
    return PlannerExecutor(BestOf(planners, quickest(workers)), ToolExecutor(tools), workers=workers)


class OneOfThree(LLMPlanner):
    """A planner that knows that others are asked the same; at temperature 0 they would all say the same."""

    def __init__(self, client: Any, number: int) -> None:
        super().__init__(client)
        self.number = number

    def messages(self, goal: str, board: Board, tools: Toolbox) -> list[Message]:
        """The planner's conversation, with the number of the plan."""
        system, *rest = super().messages(goal, board, tools)
        asked = f"\n- This is plan {self.number} of {PLANS}: find a way of your own."
        return [{**system, "content": system["content"] + asked}, *rest]


class BestOf:
    """A planner that asks several others and chooses among their valid plans; where none is valid, the first is repaired.

    To write a plan is one job, so the others are asked one after another, however many slots there are: their seconds add up.
    """

    def __init__(self, planners: Sequence[Planner], choose: Choose) -> None:
        self.planners, self.choose = planners, choose

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return the chosen plan. Raises `PlanError` if none of the planners wrote a plan."""
        plans, failed = [], None
        for planner in self.planners:
            try:
                plans.append(planner.plan(goal, board, tools))
            except PlanError as error:
                failed = failed or error
        valid = [plan for plan in plans if not plan.problems(tools, board.results)]
        if valid:
            return valid[self.choose(goal, valid, tools)]
        if plans:
            return plans[0]
        raise failed or ValueError("no planner was given; give at least one")


def quickest(workers: Workers) -> Choose:
    """Return a choice of the plan that is done first by workers like these; of several the first."""

    def choose(goal: str, plans: Sequence[Plan], tools: Toolbox) -> int:
        runs = [dry_run(plan, tools, workers) for plan in plans]
        seconds = [run.makespan if run.status == "finished" else math.inf for run in runs]
        return seconds.index(min(seconds))

    return choose


def dry_run(plan: Plan, tools: Toolbox, workers: Workers) -> Run:
    """Return a run of a valid plan on a virtual clock without any calls, with the slots and limits of `workers`.

    A step takes the seconds that its tool declares. Gates are open, and steps done before the plan count as done.
    """
    nothing = Toolbox(Tool(lambda: None, name=tool.name, uses=tool.uses, effects="none") for tool in tools)
    steps = [
        Step(
            id=step.id,
            tool=step.tool,
            depends_on=tuple(id for id in step.depends_on if id in plan.graph),
            timeout=step.timeout,
            run_anyway=step.run_anyway,
        )
        for step in plan.steps
    ]
    simulated = Simulated(getattr(workers, "slots", 1), workers.limits)  # those without a number of slots have one
    return execute(Plan(goal=plan.goal, steps=tuple(steps)), _DryRun(nothing, plan.durations(tools)), workers=simulated)


class _DryRun(ToolExecutor):
    """Takes the seconds of each step, and does nothing."""

    def __init__(self, tools: Toolbox, seconds: Mapping[str, float]) -> None:
        super().__init__(tools)
        self.seconds = seconds

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> None:
        charge(self.seconds[step.id])
