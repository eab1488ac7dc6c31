"""LangChain's agent "Plan and Execute" of 2023, in its shape: a list in words, carried out from top to bottom.

https://blog.langchain.dev/planning-agents/ tells of its successors. Its planner is not told which tools there are. Its executor
gets every result so far with each step, so that what it reads grows with the plan. Nothing is checked, nothing runs beside
anything, and nothing is planned again; the answer is what the last step says.
"""

from __future__ import annotations

from typing import Any

from planexec_lab.variations.in_words import ListPlanner
from planexec_lite.agent import PlannerExecutor
from planexec_lite.model import model_for
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers


def langchain(client: Any, tools: Toolbox, workers: Workers) -> PlannerExecutor:
    """Return an agent that writes a list and goes through it, each step with all that came before."""
    return PlannerExecutor(
        ListPlanner(client, one_after_the_other), ReActExecutor(client, tools, model_for("planner")), workers=workers
    )


def one_after_the_other(goal: str, lines: list[str]) -> list[dict[str, Any]]:
    """A step for each line, which waits for all steps before it."""
    return [{"id": n, "description": line, "depends_on": [*range(1, n)]} for n, line in enumerate(lines, 1)]
