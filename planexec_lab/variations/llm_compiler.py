"""LLMCompiler: a graph that runs while it is written, and a joiner that can ask for more. Kim et al., "An LLM Compiler for Parallel
Function Calling" (2023), https://arxiv.org/abs/2312.04511.

Its joiner reads all results, then answers or replans. In this loop it is a planner whose horizon is a whole graph: it is asked
again when all steps are done, and adds steps or none.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

GRAPH = 20
"""The most calls in one graph."""


def llm_compiler(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose calls start while the graph is written, and which is asked again when they are done."""
    return PlannerExecutor(LLMPlanner(client, horizon=GRAPH, stream=True), ToolExecutor(tools), workers=workers)
