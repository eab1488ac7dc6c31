"""Ours, as everybody may call it: `execute` on a plan that was found fit before, and from JSON text to the results."""

from __future__ import annotations

from planexec_lite import Plan, PlanError, Run, Toolbox, ToolExecutor, execute
from planexec_lite.agent import Watch
from planexec_lite.workers import Workers


def fit(text: str, tools: Toolbox) -> Plan:
    """The plan, parsed and found fit."""
    plan = Plan.parse(text)
    if problems := plan.problems(tools):
        raise PlanError(problems)
    return plan


def alone(plan: Plan, tools: Toolbox, workers: Workers, watch: Watch | None = None) -> Run:
    """Execution alone: a fit plan in, results and events out."""
    return execute(plan, ToolExecutor(tools), workers=workers, watch=watch)


def whole(text: str, tools: Toolbox, workers: Workers) -> Run:
    """From JSON text to results: parse, validate, execute."""
    return execute(Plan.parse(text), ToolExecutor(tools), workers=workers)
