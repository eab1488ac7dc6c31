"""Hierarchical planning: a step of the plan is the goal of another planner-executor.

The idea is old in planning (Sacerdoti, "Planning in a Hierarchy of Abstraction Spaces", 1974). Here it needs no code:
a `PlannerExecutor` is an executor. Its run has its own board and events inside the step, gets the remaining budget, and is
rolled back with the outer run.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.model.asking import model_for
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

SUBGOALS = 4
"""The most steps of the outer plan: so few that each has to be planned again."""


def hierarchical(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose strong model divides the goal into subgoals, each planned by a cheap one."""
    cheap, policy = LLMPlanner(client, model_for("executor")), Policy(replan="failure")
    team = PlannerExecutor(cheap, ToolExecutor(tools), workers=workers, policy=policy)
    return PlannerExecutor(LLMPlanner(client, tasks=True, max_steps=SUBGOALS), team, workers=workers, policy=policy)
