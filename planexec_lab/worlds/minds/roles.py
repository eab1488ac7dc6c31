"""The model that has a mind: what it answers as a planner, of a whole plan or of one step, and as an executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from planexec_lab.worlds.minds.ahead import MOST, ahead
from planexec_lab.worlds.minds.known_plan import PlanMind
from planexec_lab.worlds.minds.mind import Answer, Mind, following
from planexec_lab.worlds.minds.told import observed, recorded

if TYPE_CHECKING:
    from mock_llm import MockLLM, Reply, Request


def script(mind: Mind, **roles: Callable[[Request], Any]) -> MockLLM:
    """Return the scripted model that has this mind, in the role of the planner and of the executor.

    Args:
        mind: chooses the next call.
        roles: what the model answers in another role, or in one of these two by a rule of its own.
    """
    from mock_llm import MockLLM

    both = {"planner": lambda request: _planned(mind, request), "executor": lambda request: _acted(mind, request)}
    return MockLLM(
        [
            {"name": f"as the {role}", "when": {"system": f"Role: {role}"}, "reply": {"python": reply}}
            for role, reply in (both | roles).items()
        ]
    )


def _acted(mind: Mind, request: Request) -> Reply:
    """The next call, or the answer."""
    from mock_llm import Reply, ToolUse

    act = following(mind, observed(request.body["messages"]))
    if isinstance(act, Answer):
        return Reply(text=act.text)
    return Reply(text=act.why, calls=[ToolUse(act.tool, dict(act.params))])


def _planned(mind: Mind, request: Request) -> dict[str, Any]:
    """The next step, or all that are left."""
    told = request.conversation[0].text
    goal = told.partition("\n")[0].removeprefix("Goal: ")
    record, one = recorded(told), "Write the next step only" in request.system
    seen = {id: seen for id, seen in record.items() if seen is not None}
    answer: str | None
    if isinstance(mind, PlanMind) and not one:
        rest = mind.rest(seen).model_dump()
        steps, answer, rollback = list(map(_fields, rest["steps"])), mind.answer, rest["rollback"]
    else:
        number = max((int(id) for id in record if id.isdecimal()), default=0)
        steps, answer = ahead(mind, [*seen.values()], number, 1 if one else MOST)
        rollback = []
    calls = [{"tool": call["tool"], "params": call["params"]} for call in rollback]
    return {"goal": goal, "steps": steps, "rollback": calls, "answer": answer, "complete": not (one and steps)}


def _fields(step: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a step that a planner's answer has."""
    names = ("id", "description", "tool", "params", "success_criteria")
    return {name: step[name] for name in names} | {"depends_on": list(step["depends_on"])}
