"""Variations whose planner writes tasks in words, and whose executors choose the tools."""

from dataclasses import replace
from typing import Any, Literal

from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.model.asking import model_for
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.roles.team import Team
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

SUBGOALS = 4
"""The most steps of the outer plan of hierarchical planning: so few that each has to be planned again."""
ROUND, HANDS = 4, 4
"""The most tasks in one round of an orchestrator, and the number of workers."""


def planner_executor(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent of two models: one writes the tasks, the other carries them out with tools.

    The planner-executor of the sources: a strong model plans, a cheap model executes, in parallel where the plan allows it.
    """
    return PlannerExecutor(LLMPlanner(client, tasks=True), ReActExecutor(client, tools), workers=workers)


def plan_and_execute(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent of one model in two phases: it writes the tasks, then carries them out, one at a time.

    The comparison in the interview notes: one model for both phases, on a single thread.
    """
    model = model_for("planner")
    alone = Team({"model": ReActExecutor(client, tools, model)}, slots={"model": 1})
    return PlannerExecutor(LLMPlanner(client, model, tasks=True), alone, workers=workers)


def adaptive(
    client: Any, tools: Toolbox, workers: Workers, again: Literal["failure", "step"] = "failure"
) -> PlannerExecutor:
    """Return a planner-executor that plans the rest again after a "failure", or after every "step".

    "Planner-Executor architecture" names both.
    """
    return replace(planner_executor(client, tools, workers), policy=Policy(replan=again))


def step_by_step(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose planner plans a single task at a time, and another role executes it.

    The planner of the article "The Planner-Executor Pattern: How Smart AI Teams Split the Work". Its horizon is ReAct's, and
    its roles are a planner-executor's: a strong model chooses the next step, a cheap model executes it.
    """
    return PlannerExecutor(LLMPlanner(client, horizon=1, tasks=True), ReActExecutor(client, tools), workers=workers)


def hierarchical(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose strong model divides the goal into subgoals, each planned by a cheap one.

    The idea is old in planning (Sacerdoti, "Planning in a Hierarchy of Abstraction Spaces", 1974). Here it needs no code: a
    `PlannerExecutor` is an executor. Its run has its own board and events inside the step, gets the remaining budget, and is
    rolled back with the outer run.
    """
    cheap, policy = LLMPlanner(client, model_for("executor")), Policy(replan="failure")
    team = PlannerExecutor(cheap, ToolExecutor(tools), workers=workers, policy=policy)
    return PlannerExecutor(LLMPlanner(client, tasks=True, max_steps=SUBGOALS), team, workers=workers, policy=policy)


def orchestrator(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose orchestrator gives out a few tasks at a time, reads the results, and gives out more.

    Anthropic, "Building Effective Agents" (2024), https://www.anthropic.com/research/building-effective-agents. Workers carry
    out the tasks of a round in parallel, without contact to each other; the number of tasks is not known in advance.
    """
    hands = Team({"worker": ReActExecutor(client, tools)}, slots={"worker": HANDS})
    return PlannerExecutor(LLMPlanner(client, horizon=ROUND, tasks=True), hands, workers=workers)
