"""Plan-and-solve: the plan is part of the prompt. Wang et al., "Plan-and-Solve Prompting: Improving Zero-Shot Chain-of-Thought
Reasoning by Large Language Models" (2023), https://arxiv.org/abs/2305.04091.

The model divides the goal into subtasks, and then works through them in one conversation. For the loop that is a plan of a
single step: it can be neither checked nor approved in parts, nor run side by side, nor resumed in the middle.
"""

from __future__ import annotations

from typing import Any

from planexec_lab.variations.in_words import ListPlanner
from planexec_lite.agent import PlannerExecutor
from planexec_lite.model.asking import model_for
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

ITERATIONS = 40
"""The most model calls in its single conversation."""


def plan_and_solve(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose one model writes subtasks and solves them in one go."""
    solver = ReActExecutor(client, tools, model_for("planner"), max_iterations=ITERATIONS)
    return PlannerExecutor(ListPlanner(client, in_one_step), solver, workers=workers)


def in_one_step(goal: str, lines: list[str]) -> list[dict[str, Any]]:
    """A single step, whose task is the goal with its subtasks."""
    subtasks = "; ".join(f"{n}. {line}" for n, line in enumerate(lines, 1))
    return [{"id": 1, "description": f"{goal} Subtasks: {subtasks}"}]
