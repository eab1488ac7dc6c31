"""Orchestrator and workers: a central model hands out tasks, reads the results, and hands out more. Anthropic, "Building
Effective Agents" (2024), https://www.anthropic.com/research/building-effective-agents.

Workers carry out the tasks of a round in parallel, without contact to each other; the number of tasks is not known in advance.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.roles.team import Team
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

ROUND, HANDS = 4, 4
"""The most tasks in one round, and the number of workers."""


def orchestrator(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose orchestrator gives out a few tasks at a time."""
    hands = Team({"worker": ReActExecutor(client, tools)}, slots={"worker": HANDS})
    return PlannerExecutor(LLMPlanner(client, horizon=ROUND, tasks=True), hands, workers=workers)
