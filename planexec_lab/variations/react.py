"""ReAct: think, call a tool, look at the result, think again. Yao et al., "ReAct: Synergizing Reasoning and Acting in Language
Models" (2022), https://arxiv.org/abs/2210.03629.

It is a planner whose horizon is one call, and it is asked again after each call: a result, an error and the end of the horizon
lead to the same request. So calls can't run in parallel, and no plan exists that could be revised.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.roles.planners import NextStepPlanner
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers


def react(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose one model is asked for one call at a time."""
    return PlannerExecutor(NextStepPlanner(client), ToolExecutor(tools), workers=workers)
