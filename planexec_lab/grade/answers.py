"""Ask a planner for a plan as a run does, with the same repairs, and without carrying it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from planexec_lite.agent import PlannerExecutor
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan
from planexec_lite.roles.planners import Planner
from planexec_lite.roles.reviewers import AskPerson
from planexec_lite.run.events import PlanProposed
from planexec_lite.tools import Fault, Tool, Toolbox, ToolError
from planexec_lite.workers import Simulated


class ListedTool(Tool):
    """A tool of a list: plans can name it, and it can't be called.

    Args:
        name: what plans call it.
        description: what it is for.
        listed: the JSON schema of its parameters; None: the list does not have it, so any arguments pass.
    """

    def __init__(self, name: str, description: str, listed: Mapping[str, Any] | None = None) -> None:
        super().__init__(_no_code, schema=listed or {}, name=name, description=description)
        self.listed = listed

    def faults(self, params: Mapping[str, Any]) -> list[Fault]:
        """Return every mismatch of `params`; [] if the list does not have the tool's parameters."""
        return [] if self.listed is None else super().faults(params)


def _no_code(**_: Any) -> NoReturn:
    raise ToolError("only the description of this tool is known; it can't be called")


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
    """Return the tools as a model can be told them in a strict schema: lists leave types open.

    An open type becomes a text, a list of anything a list of texts. A tool whose parameters are not listed takes
    ``input``, a list of texts.
    """
    return Toolbox(_offered(tool) if isinstance(tool, ListedTool) else tool for tool in toolbox)


def _offered(tool: ListedTool) -> ListedTool:
    unnamed: Mapping[str, Any] = {"properties": {"input": {"type": "array"}}, "required": ["input"]}
    listed = unnamed if tool.listed is None else tool.listed
    closed = {name: _closed(part) for name, part in listed.get("properties", {}).items()}
    return ListedTool(tool.name, tool.description, {**listed, "properties": closed})


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_closed(part) for part in schema["anyOf"]]}
    if schema.get("type") == "array":
        return {"items": {"type": "string"}, **schema}
    return dict(schema) or {"type": "string"}
