"""Agents and runs in one call: the tools, the plans, and as keywords the roles and the fields of the policy."""

from typing import Any

from planexec_lite import (
    Board,
    Decision,
    Grant,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.core.questions import Question
from planexec_lite.roles.reviewers import ScriptedReviewer
from planexec_lite.workers import Workers
from tests.core.shapes import Portions, check_fold, check_replay

ROLES = ("reviewer", "evaluator", "workers", "watch", "journal")


def executor_of(tools: Any) -> Any:
    """Return the executor itself, or one for a toolbox or for some tools."""
    if hasattr(tools, "execute"):
        return tools
    return ToolExecutor(tools if isinstance(tools, Toolbox) else Toolbox(tools))


def divided(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the roles and a policy; a list of decisions stands for a reviewer, and a function for an evaluator."""
    roles = {name: settings.pop(name) for name in ROLES if name in settings}
    if isinstance(roles.get("reviewer"), list):
        roles["reviewer"] = ScriptedReviewer(roles["reviewer"])
    if callable(roles.get("evaluator")):
        roles["evaluator"] = RuleEvaluator(roles["evaluator"])
    return {"workers": Simulated(), "policy": settings.pop("policy", None) or Policy(**settings)} | roles


class Fitting:
    """A reviewer that answers with words in turn, such as "approve" or "grant 2", if they fit the question.

    Of a step in doubt it says "not done", and it stays silent where the next word is no answer.
    """

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision | None:
        """Return the next decision; the board counts the reviews so far."""
        if len(board.reviews) >= len(self.words):
            return None
        verb, _, bound = self.words[len(board.reviews)].partition(" ")
        if "not done" in question.verdicts:
            return question.decide("not done")
        if verb == "grant":
            grant = Grant(int(bound)) if question.plan is not None else None
            return question.decide("approve", grant=grant)
        return question.decide(verb) if verb in question.verdicts else None  # type: ignore[arg-type]


def agent_for(tools: Any, *plans: Any, **settings: Any) -> PlannerExecutor:
    """Return an agent whose planner gives these plans in turn. Instead of plans, a planner can be given, or nothing."""
    planner = plans[0] if plans and hasattr(plans[0], "plan") else Portions(*plans) if plans else None
    return PlannerExecutor(planner, executor_of(tools), **divided(settings))


def carry_out(steps: Any, tools: Any, workers: Workers | None = None, **settings: Any) -> Run:
    """Carry out a plan; the board is the fold of the events, and the rules decide the same again."""
    settings = divided(settings | ({"workers": workers} if workers else {}))
    run = execute(Plan.parse(steps), executor_of(tools), **settings)
    check_fold(run)
    if isinstance(settings["workers"], Simulated):
        check_replay(run, settings["policy"])
    return run
