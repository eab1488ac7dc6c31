"""planexec_lite: the Planner-Executor pattern in one small loop.

A planner writes a plan, an executor runs its steps, a board records the state of the run, and one loop connects them.
Read in this order:

1. `exercises/capstone/program.py`: the whole pattern in 150 lines.
2. `core`: events, the board that is computed from them, how the next event is chosen, and the loop. Then `capabilities.plain`: the
   events and rules of a plain run, and `capabilities.stepping`: what an executor is.
3. One capability per lesson, in `capabilities`: approval, retries, replanning, rollback, … Each file has all of it.
   `assembly` puts them together on one page.
4. `plan`: what a plan is, and when it is valid. `tools` and `meter`: what a step calls, and what it costs.
5. `roles` and `workers`: the parts that can be exchanged. `agent` connects them, `run` is the result, with the check of
   what a person decided. `model` is the model client that planners, executors and evaluators share.
6. `storage`: saves runs to disk, so that they can be resumed.

The worlds, pictures, formats and measurements of the lessons are in another package, `planexec_lab`.
"""

from typing import TYPE_CHECKING, Any

from planexec_lite.agent import PlannerExecutor, execute
from planexec_lite.assembly import Board, Policy
from planexec_lite.capabilities.breaker import Breaker
from planexec_lite.capabilities.judging import Verdict
from planexec_lite.capabilities.retries import Backoff
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.core.questions import Decision, Grant
from planexec_lite.meter import Budget
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.run import Run
from planexec_lite.tools import Tool, Toolbox, tool
from planexec_lite.workers import Inline, Pool, Simulated

if TYPE_CHECKING:
    from planexec_lite.roles.evaluators import LLMEvaluator, RuleEvaluator
    from planexec_lite.roles.planners import LLMPlanner, NextStepPlanner, RulePlanner
    from planexec_lite.roles.react import ReActExecutor
    from planexec_lite.roles.reviewers import ApproveAll, AskPerson, ScriptedReviewer
    from planexec_lite.roles.team import HybridExecutor, Team
    from planexec_lite.storage.journal import Journal, JournalError
else:
    # many runs need none of these, so their modules are loaded on first use
    _MODULES = {
        "storage.journal": ["Journal", "JournalError"],
        "roles.evaluators": ["LLMEvaluator", "RuleEvaluator"],
        "roles.planners": ["LLMPlanner", "NextStepPlanner", "RulePlanner"],
        "roles.react": ["ReActExecutor"],
        "roles.reviewers": ["ApproveAll", "AskPerson", "ScriptedReviewer"],
        "roles.team": ["HybridExecutor", "Team"],
    }
    _MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

    def __getattr__(name: str) -> Any:
        """Load the module of a public name on its first use."""
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value


__all__ = [
    "ApproveAll", "AskPerson", "Backoff", "Board", "Breaker", "Budget", "Decision", "Grant", "HybridExecutor",
    "Inline", "Journal", "JournalError", "LLMEvaluator", "LLMPlanner", "NextStepPlanner", "Plan", "PlanError",
    "PlannerExecutor", "Policy", "Pool", "ReActExecutor", "RuleEvaluator", "RulePlanner", "Run", "ScriptedReviewer",
    "Simulated", "Step", "Team", "Tool", "ToolExecutor", "Toolbox", "Verdict", "execute", "tool",
]  # fmt: skip


def __dir__() -> list[str]:
    """Return all public names, loaded or not."""
    return sorted({*globals(), *__all__})
