"""The whole kit on one model: it plans, executes, judges and replans, on three tasks of the scoreboard.

A run begins with the model's plan or with a given plan, so that executor and judge have work even if the model writes no valid
plan. Replans are always the model's.
"""

from __future__ import annotations

from typing import Any

from planexec_lab.scoreboard import Task
from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Board, Policy
from planexec_lite.plan import Plan, Step
from planexec_lite.roles.evaluators import LLMEvaluator
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.tools import Toolbox

WORLDS = ("arithmetic", "research", "migration")
MAX_TOKENS = {"planner": 400, "executor": 80, "evaluator": 120}
MAX_PROMPT = 6_000  # characters, so that conversation and answer fit into the model's context
MAX_ITERATIONS = 3
POLICY = Policy(max_repairs=1, replan="stall", max_replans=1)

CRITERIA = {
    "multiply": "the result is 12 times 4",
    "add": "the result is 5 more than that of step 1",
    "web_search": "it names a document of the library",
    "read_document": "it is the text of one document",
    "summarize_text": "it cites the document that it sums up",
    "write_report": "every section cites a document that the library has",
    "read_schema": "it names the columns of each table",
    "backup_database": "it names the file of the backup",
    "write_migration": "it names the file of the script",
    "test_migration": "nothing is lost on the copy",
    "run_migration": "production has the new schema",
    "verify_integrity": "ok is true",
    "update_config": "schema is 2",
}
"""The judge's criterion for a step's result, by the step's tool."""


def in_words(plan: Plan) -> Plan:
    """Return a plan of calls as tasks in plain language, each with a criterion: the executor chooses the tool."""
    steps = [
        Step(
            id=step.id,
            description=step.description,
            depends_on=step.depends_on,
            success_criteria=CRITERIA[str(step.tool)],
        )
        for step in plan.steps
    ]
    return Plan(goal=plan.goal, steps=tuple(steps))


class PlanGiven:
    """A planner whose first plan is given, and any other a model's."""

    def __init__(self, plan: Plan, then: LLMPlanner) -> None:
        self.given = plan
        self.then = then

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return the given plan as the first plan; then ask the model."""
        return self.then.plan(goal, board, tools) if board.steps else self.given


def agent(client: Any, task: Task, tools: Toolbox, *, given: bool) -> PlannerExecutor:
    """Return the kit with one model in every role, its answers bounded; where `given`, the first plan is the task's own."""
    planner = LLMPlanner(client, tasks=True, max_tokens=MAX_TOKENS["planner"], max_prompt=MAX_PROMPT)
    hands = ReActExecutor(
        client, tools, max_iterations=MAX_ITERATIONS, max_tokens=MAX_TOKENS["executor"], max_prompt=MAX_PROMPT
    )
    judge = LLMEvaluator(client, max_tokens=MAX_TOKENS["evaluator"], max_prompt=MAX_PROMPT)
    first = PlanGiven(in_words(task.plan), planner) if given else planner
    return PlannerExecutor(first, hands, evaluator=judge, policy=POLICY)
