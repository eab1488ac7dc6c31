"""The step-by-step planner: never more than one step is planned, and somebody else carries it out.

The planner of the article "The Planner-Executor Pattern: How Smart AI Teams Split the Work". It looks as far ahead as
ReAct does, and splits the work as a planner-executor does: a strong model says what is next, a cheap one does it.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers


def step_by_step(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose planner is asked for one task at a time."""
    return PlannerExecutor(LLMPlanner(client, horizon=1, tasks=True), ReActExecutor(client, tools), workers=workers)
