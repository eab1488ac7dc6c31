"""The pattern's famous variations, each composed of the kit's parts: one planner, one executor, one policy, one loop.

>>> from planexec_lab import connect
>>> from planexec_lite import Simulated
>>> from planexec_lab.worlds import research
>>> from planexec_lab.variations import VARIATIONS
>>> agent = VARIATIONS["planner-executor"](connect("research", "team"), research.World().tools, Simulated(4))
>>> agent.run(research.GOAL).status
'finished'

They differ in the planner's horizon, in the triggers of replanning, and in the executor. Each is a function of a client, a toolbox
and workers. To add a reviewer, a budget or a journal, replace these fields of the agent.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from planexec_lab.variations.best_of_three import best_of_three, dry_run, quickest
from planexec_lab.variations.calls import llm_compiler, react, rewoo
from planexec_lab.variations.lists import langchain, plan_and_solve
from planexec_lab.variations.tasks import (
    adaptive,
    hierarchical,
    orchestrator,
    plan_and_execute,
    planner_executor,
    step_by_step,
)
from planexec_lite.agent import PlannerExecutor
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Workers

__all__ = [
    "VARIATIONS",
    "Variation",
    "best_of_three",
    "dry_run",
    "planner_executor",
    "quickest",
    "react",
]

Variation = Callable[[Any, Toolbox, Workers], PlannerExecutor]
"""Makes an agent of a client, a toolbox and workers."""

VARIATIONS: dict[str, Variation] = {
    "ReAct": react,
    "step by step": step_by_step,
    "plan-and-solve": plan_and_solve,
    "LangChain 2023": langchain,
    "plan-and-execute": plan_and_execute,
    "planner-executor": planner_executor,
    "replan on failure": partial(adaptive, again="failure"),
    "replan every step": partial(adaptive, again="step"),
    "hierarchical": hierarchical,
    "ReWOO": rewoo,
    "LLMCompiler": llm_compiler,
    "best of three": best_of_three,
    "orchestrator": orchestrator,
}
"""The variations by name, from the shortest horizon on."""
