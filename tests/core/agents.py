"""Agents and runs in one call: the tools, the plans, and as keywords the roles and the fields of the policy."""

from typing import Any

from planexec_lite import Plan, PlannerExecutor, Policy, RuleEvaluator, Run, Simulated, Toolbox, ToolExecutor, execute
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
