"""The planner-executor of the sources: a strong model plans, a cheap model executes, in parallel where the plan allows it.

`plan_and_execute` is the comparison in the interview notes: one model for both phases, on a single thread. `adaptive` replans
after a failure or after every step ("Planner-Executor architecture" names both).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.model.asking import model_for
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.roles.team import Team
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers


def planner_executor(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent of two models: one writes the tasks, the other carries them out with tools."""
    return PlannerExecutor(LLMPlanner(client, tasks=True), ReActExecutor(client, tools), workers=workers)


def plan_and_execute(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent of one model in two phases: it writes the tasks, then carries them out, one at a time."""
    model = model_for("planner")
    alone = Team({"model": ReActExecutor(client, tools, model)}, slots={"model": 1})
    return PlannerExecutor(LLMPlanner(client, model, tasks=True), alone, workers=workers)


def adaptive(
    client: Any, tools: Toolbox, workers: Workers, again: Literal["failure", "step"] = "failure"
) -> PlannerExecutor:
    """Return a planner-executor that plans the rest again after a "failure", or after every "step"."""
    return replace(planner_executor(client, tools, workers), policy=Policy(replan=again))
