"""Orchestrator and workers: a central model hands out tasks, reads what comes back, and hands out more. Anthropic, "Building
Effective Agents" (2024), https://www.anthropic.com/research/building-effective-agents.

The tasks of a round are carried out side by side by workers that talk to nobody else; their number is not known beforehand.
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
"""The most tasks of one round, and how many workers there are."""


def orchestrator(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose orchestrator gives out a few tasks at a time."""
    hands = Team({"worker": ReActExecutor(client, tools)}, slots={"worker": HANDS})
    return PlannerExecutor(LLMPlanner(client, horizon=ROUND, tasks=True), hands, workers=workers)
