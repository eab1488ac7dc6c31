"""planexec_lite: the Planner-Executor pattern in one small loop.

A planner writes a plan, an executor runs its steps, a board shows the state of each step, and one loop connects them.
Read in this order:

1. `events`: what can happen. `board`: the state of a run, computed by applying its events in order.
2. `assembly`: the order of the rules that decide what happens next. `core` has the rules of a plain run, `capabilities` the
   others, `policy` their settings. `loop`: decide, record, start, wait.
3. `plan` and `references`: what a plan is, and when it is valid. `tools` and `meter`: what a step calls, and what it costs.
4. `planning`, `executors`, `review`, `workers`: the parts that can be exchanged.
   `model`: the model client that planners, executors and evaluators share.
5. `journal`: saves runs to disk, so that they can be resumed.

The worlds, pictures, formats and measurements of the lessons are in another package, `planexec_lab`.
"""

from planexec_lite.board import Board
from planexec_lite.budget import Budget
from planexec_lite.events import Grant
from planexec_lite.executors import HybridExecutor, ReActExecutor, Team, ToolExecutor
from planexec_lite.journal import Journal, JournalError
from planexec_lite.loop import PlannerExecutor, execute
from planexec_lite.loop.run import Run
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.planning.planners import LLMPlanner, NextStepPlanner, RulePlanner
from planexec_lite.policy import Backoff, Breaker, Policy
from planexec_lite.review.evaluators import LLMEvaluator, RuleEvaluator, Verdict
from planexec_lite.review.reviewers import ApproveAll, AskPerson, Decision, ScriptedReviewer
from planexec_lite.tools import Tool, Toolbox, tool
from planexec_lite.workers import Inline, Pool, Simulated

__all__ = [
    "ApproveAll",
    "AskPerson",
    "Backoff",
    "Board",
    "Breaker",
    "Budget",
    "Decision",
    "Grant",
    "HybridExecutor",
    "Inline",
    "Journal",
    "JournalError",
    "LLMEvaluator",
    "LLMPlanner",
    "NextStepPlanner",
    "Plan",
    "PlanError",
    "PlannerExecutor",
    "Policy",
    "Pool",
    "ReActExecutor",
    "RuleEvaluator",
    "RulePlanner",
    "Run",
    "ScriptedReviewer",
    "Simulated",
    "Step",
    "Team",
    "Tool",
    "ToolExecutor",
    "Toolbox",
    "Verdict",
    "execute",
    "tool",
]
