"""Variations whose planner is asked for a numbered list and nothing else: no schema, no tools, no dependencies."""

import re
from collections.abc import Callable
from typing import Any

from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Board
from planexec_lite.model.asking import Bounds, ask, model_for
from planexec_lite.plan import Plan, PlanError, Problem
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

ITERATIONS = 40
"""The most model calls in the single conversation of plan-and-solve."""


def langchain(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent that writes a list and goes through it, each step with all that came before.

    The structure of LangChain's agent "Plan and Execute" of 2023; https://blog.langchain.dev/planning-agents/ describes its
    successors. Its planner does not see the tools. Its executor gets all results so far with each step, so its input grows
    with the plan. There is no check, no parallel step and no replan; the answer is the last step's result.
    """
    executor = ReActExecutor(client, tools, model_for("planner"))
    return PlannerExecutor(ListPlanner(client, one_after_the_other), executor, workers=workers)


def one_after_the_other(goal: str, lines: list[str]) -> list[dict[str, Any]]:
    """A step for each line, which waits for all steps before it."""
    return [{"id": n, "description": line, "depends_on": [*range(1, n)]} for n, line in enumerate(lines, 1)]


def plan_and_solve(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent whose one model writes subtasks and solves them in one go: the plan is part of the prompt.

    Wang et al., "Plan-and-Solve Prompting: Improving Zero-Shot Chain-of-Thought Reasoning by Large Language Models" (2023),
    https://arxiv.org/abs/2305.04091. The model divides the goal into subtasks, and then works through them in one
    conversation. For the loop that is a plan of a single step: it can be neither checked nor approved in parts, nor run side
    by side, nor resumed in the middle.
    """
    solver = ReActExecutor(client, tools, model_for("planner"), max_iterations=ITERATIONS)
    return PlannerExecutor(ListPlanner(client, in_one_step), solver, workers=workers)


def in_one_step(goal: str, lines: list[str]) -> list[dict[str, Any]]:
    """A single step, whose task is the goal with its subtasks."""
    subtasks = "; ".join(f"{n}. {line}" for n, line in enumerate(lines, 1))
    return [{"id": 1, "description": f"{goal} Subtasks: {subtasks}"}]


class ListPlanner:
    """Asks a model for the parts of the goal as a numbered list.

    Args:
        client: an `openai.OpenAI` client.
        arranged: makes the plan's steps from the goal and the lines of the list.
    """

    def __init__(self, client: Any, arranged: Callable[[str, list[str]], list[dict[str, Any]]]) -> None:
        self.client = client
        self.arranged = arranged
        self.bounds = Bounds.of("planner")

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return the steps that were made of the list. Raises `PlanError` for half a list, and for an answer without one."""
        answer = ask(self.client, model_for("planner"), self.messages(goal), bounds=self.bounds)
        if problem := answer.problem:
            raise PlanError([problem], answer.refusal or answer.text)
        lines = re.findall(r"^\s*[0-9]+[.)]\s+(\S.*?)\s*$", answer.text, re.M)
        if not lines:
            raise PlanError(
                [Problem("no_steps", None, "no line of the answer has a number", "write 1. …, 2. …")], answer.text
            )
        return Plan.parse({"goal": goal, "steps": self.arranged(goal, lines)})

    def messages(self, goal: str) -> list[dict[str, Any]]:
        """The conversation that is sent: it says nothing of tools."""
        return [{"role": "system", "content": _INSTRUCTIONS}, {"role": "user", "content": f"Goal: {goal}"}]


_INSTRUCTIONS = """\
Role: planner

Understand the goal, then write the parts that lead to it as a numbered list, one on a line, in the order in which they are
to be done. Write nothing else."""
