"""The structure of LangChain's agent "Plan and Execute" of 2023: a list of tasks, carried out from top to bottom.

https://blog.langchain.dev/planning-agents/ describes its successors. Its planner does not see the tools. Its executor gets all
results so far with each step, so its input grows with the plan. There is no check, no parallel step and no replan; the answer
is the last step's result.
"""

from __future__ import annotations

from typing import Any

from planexec_lab.variations.in_words import ListPlanner
from planexec_lite.agent import PlannerExecutor
from planexec_lite.model.asking import model_for
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
