"""planexec_lite: the Planner-Executor pattern in one small loop.

A planner writes a plan, an executor carries out its steps, a board shows where everything stands, and one loop moves
work between them. Read `board.py`, `decide.py` and `loop.py`; the rest are parts that can be exchanged.
"""

from planexec_lite.board import Board
from planexec_lite.connect import connect
from planexec_lite.evaluators import LLMEvaluator, RuleEvaluator, Verdict
from planexec_lite.events import Grant
from planexec_lite.executors import HybridExecutor, ReActExecutor, Team, ToolExecutor
from planexec_lite.loop import PlannerExecutor, execute
from planexec_lite.plan import Plan, PlanError, Step
from planexec_lite.planners import LLMPlanner, NextStepPlanner, RulePlanner
from planexec_lite.policy import Policy
from planexec_lite.reviewers import ApproveAll, AskPerson, Decision, ScriptedReviewer
from planexec_lite.run import Run
from planexec_lite.tools import Tool, Toolbox, tool
from planexec_lite.workers import Inline, Pool, Simulated

__all__ = [
    "ApproveAll",
    "AskPerson",
    "Board",
    "Decision",
    "Grant",
    "HybridExecutor",
    "Inline",
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
    "connect",
    "execute",
    "tool",
]
