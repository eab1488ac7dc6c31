"""ReWOO: reasoning without observation. Xu et al., "ReWOO: Decoupling Reasoning from Observations for Efficient Augmented Language
Models" (2023), https://arxiv.org/abs/2305.18323.

All calls are planned before any result is there, tools alone gather the evidence, and one more question makes an answer of it.
So two questions are asked, however long the plan is; what was planned wrong stays wrong.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Board
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.plan import Plan, Step
from planexec_lite.roles.planners import LLMPlanner, Planner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.roles.team import HybridExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers


def rewoo(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent that plans all calls, makes them, and asks a solver once."""
    solver = ReActExecutor(client, Toolbox(), max_iterations=1)
    executor = HybridExecutor(ToolExecutor(tools), solver)
    return PlannerExecutor(WithSolver(LLMPlanner(client)), executor, workers=workers)


class WithSolver:
    """A planner whose plans end in a step without a tool that receives all the evidence."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return the plan, and the solver's step behind it."""
        plan = self.planner.plan(goal, board, tools)
        evidence = tuple(step.id for step in plan.steps)
        return plan.changed(steps=(*plan.steps, Step(id="solve", description=f"Answer: {goal}", depends_on=evidence)))
