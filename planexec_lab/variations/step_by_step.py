"""The step-by-step planner: it plans one step at a time, and another role executes it.

The planner of the article "The Planner-Executor Pattern: How Smart AI Teams Split the Work". Its horizon
is ReAct's, and its roles are a planner-executor's: a strong model chooses the next step, a cheap model executes it.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers


def step_by_step(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose planner plans a single task at a time."""
    return PlannerExecutor(LLMPlanner(client, horizon=1, tasks=True), ReActExecutor(client, tools), workers=workers)
