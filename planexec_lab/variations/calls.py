"""Variations whose planner writes calls of tools: ReAct, ReWOO and LLMCompiler."""

from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Board
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.plan import Plan, Step
from planexec_lite.roles.planners import LLMPlanner, NextStepPlanner, Planner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.roles.team import HybridExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

GRAPH = 20
"""The most calls in one graph of LLMCompiler."""


def react(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose one model is asked for one call at a time: think, call a tool, look at the result, think again.

    Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models" (2022), https://arxiv.org/abs/2210.03629. It is a
    planner whose horizon is one call, and it is asked again after each call: a result, an error and the end of the horizon
    lead to the same request. So calls can't run in parallel, and no plan exists that could be revised.
    """
    return PlannerExecutor(NextStepPlanner(client), ToolExecutor(tools), workers=workers)


def rewoo(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent that plans all calls, makes them, and asks a solver once: reasoning without observation.

    Xu et al., "ReWOO: Decoupling Reasoning from Observations for Efficient Augmented Language Models" (2023),
    https://arxiv.org/abs/2305.18323. All calls are planned before any result is there, tools alone gather the evidence, and
    one more question makes an answer of it. So two questions are asked, however long the plan is; what was planned wrong
    stays wrong.
    """
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


def llm_compiler(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose calls start while the graph is written, and which is asked again when they are done.

    Kim et al., "An LLM Compiler for Parallel Function Calling" (2023), https://arxiv.org/abs/2312.04511. Its joiner reads all
    results, then answers or replans. In this loop it is a planner whose horizon is a whole graph: it is asked again when all
    steps are done, and adds steps or none.
    """
    return PlannerExecutor(LLMPlanner(client, horizon=GRAPH, stream=True), ToolExecutor(tools), workers=workers)
