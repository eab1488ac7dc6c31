"""A planner that is asked for a numbered list and nothing else: no schema, no tools, no dependencies."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from planexec_lite.assembly import Board
from planexec_lite.model.asking import Bounds, ask, model_for
from planexec_lite.plan import Plan, PlanError, Problem
from planexec_lite.tools import Toolbox


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
