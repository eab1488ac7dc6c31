"""Ask a planner for a plan as a run does, with the same repairs, and without carrying it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planexec_lab.formats import PublishedTool
from planexec_lite.agent import PlannerExecutor
from planexec_lite.events import PlanProposed
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan
from planexec_lite.roles.executors import ToolExecutor
from planexec_lite.roles.planners import Planner
from planexec_lite.roles.reviewers import AskPerson
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Simulated


@dataclass(frozen=True, slots=True)
class Answered:
    """A planner's answer.

    Args:
        plan: its last plan, valid or not; None if it wrote no plan.
        why: the reason if `plan` is None.
        errors: the endpoint's errors, even if a plan came in the end.
        calls: the calls of its model.
    """

    plan: Plan | None
    why: str = ""
    errors: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()


def answered(planner: Planner, goal: str, toolbox: Toolbox) -> Answered:
    """Ask `planner` for a plan for `goal` over the tools of `toolbox`.

    An invalid answer or an error of the endpoint goes back to the planner as often as in a run. The run stops before the
    approval, so no tool is called.
    """
    run = PlannerExecutor(planner, ToolExecutor(toolbox), AskPerson(), workers=Simulated()).run(goal)
    plans = [event.plan for event in run.events if isinstance(event, PlanProposed) and event.plan is not None]
    errors = tuple(event.error for event in run.events if isinstance(event, PlanProposed) and event.error is not None)
    why = "" if plans else "; ".join(map(str, run.board.problems))
    return Answered(plans[-1] if plans else None, why, errors, tuple(run.board.calls))


def offered(toolbox: Toolbox) -> Toolbox:
    """Return the tools as a model can be told them in a strict schema: published lists leave types open.

    An open type becomes a text, a list of anything a list of texts. A tool whose parameters are not published takes
    ``input``, a list of texts.
    """
    return Toolbox(_offered(tool) if isinstance(tool, PublishedTool) else tool for tool in toolbox)


def _offered(tool: PublishedTool) -> PublishedTool:
    unnamed: Mapping[str, Any] = {"properties": {"input": {"type": "array"}}, "required": ["input"]}
    published = unnamed if tool.published is None else tool.published
    closed = {name: _closed(part) for name, part in published.get("properties", {}).items()}
    return PublishedTool(tool.name, tool.description, {**published, "properties": closed})


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_closed(part) for part in schema["anyOf"]]}
    if schema.get("type") == "array":
        return {"items": {"type": "string"}, **schema}
    return dict(schema) or {"type": "string"}
