"""The scripted model of the suite. It gives the same plans to every program, in the shape that the request asks for."""

import json
from collections.abc import Callable
from typing import Any

from mock_llm import MockLLM
from mock_llm.script import Reply, ToolUse
from planexec_lab.worlds.deploy import GOAL, PLAN

Shape = Callable[[dict[str, Any]], Any]
GOAL_LINE = f"Goal: {GOAL}"


def step(id: object, tool: str, params: dict[str, str], depends_on: list[object]) -> dict[str, Any]:
    """Return one step in the shape of `common/shop.py`."""
    pairs = [{"name": name, "value": value} for name, value in params.items()]
    return {"id": str(id), "tool": tool, "params": pairs, "depends_on": [str(one) for one in depends_on]}


RELEASE = {
    "steps": [step(one["id"], one["action"], one["params"], one["depends_on"]) for one in json.loads(PLAN)["steps"]]
}
ROLL_BACK = {"steps": [step(9, "rollback_production", {"to": "previous"}, [])]}
GIVE_UP: dict[str, Any] = {"steps": []}
TRY_AGAIN = {"steps": [step(9, "run_smoke_tests", {"env": "production"}, [])]}
CYCLE = {"steps": [one | {"depends_on": ["8"]} if one["id"] == "1" else one for one in RELEASE["steps"]]}
UNKNOWN_TOOL = {"steps": [one | {"tool": "build_container"} if one["id"] == "2" else one for one in RELEASE["steps"]]}


def as_asked(plan: dict[str, Any]) -> Callable[[Any], Any]:
    """Return a reply that writes `plan` as JSON, or as the arguments of the tool that takes a plan."""

    def reply(request: Any) -> Any:
        if request.format != "text":
            return Reply(json=plan)
        if not plan["steps"] and request.tool_choice in (None, "auto"):
            return Reply(text="I give up.")
        tool = next(name for name in request.tools if {"plan", "steps"} & set(request.tool_schema(name)["properties"]))
        return Reply(
            calls=(ToolUse(tool, {"plan": plan} if "plan" in request.tool_schema(tool)["properties"] else plan),)
        )

    return reply


def as_the_kit_asks(plan: dict[str, Any]) -> Callable[[Any], Any]:
    """Return a reply in the schema of the kit's planner."""
    steps = [
        {
            "id": one["id"],
            "description": one["tool"],
            "tool": one["tool"],
            "depends_on": one["depends_on"],
            "success_criteria": None,
        }
        | {"params": {param["name"]: param["value"] for param in one["params"]}}
        for one in plan["steps"]
    ]
    if not steps:
        return lambda request: Reply(refusal="I give up.")
    rollback = [{"tool": "rollback_production", "params": {"to": "previous"}}]
    written = {"goal": GOAL, "steps": steps, "rollback": rollback, "answer": None, "complete": True}
    return lambda request: Reply(json=written, broken=True)


def script(
    shape: Callable[[dict[str, Any]], Callable[[Any], Any]],
    first: dict[str, Any] = RELEASE,
    then: dict[str, Any] = ROLL_BACK,
    fixed: dict[str, Any] | None = None,
) -> MockLLM:
    """Return the model.

    Args:
        shape: turns a plan into a reply.
        first: the first plan.
        then: each plan after a failure.
        fixed: the plan after the message that the first one is invalid; None: the first one again.
    """
    goal = [GOAL_LINE]
    invalid, failed = "can't be carried out", "failed:"

    def scene(name: str, when: dict[str, Any], reply: Any) -> dict[str, Any]:
        answer = {"text": reply} if isinstance(reply, str) else {"python": reply}
        return {"name": name, "when": {"says": goal, **when}, "reply": answer}

    return MockLLM(
        [
            scene("plan", {"turn": 1, "never": ["So far:", invalid]}, shape(first)),
            scene("replan", {"says": [*goal, "So far:"], "never": [invalid]}, shape(then)),
            scene("the tool failed", {"last": [failed], "never": ["So far:", invalid]}, shape(then)),
            scene(
                "fix the plan", {"says": [*goal, invalid], "never": ["not approved", "denied"]}, shape(fixed or first)
            ),
            scene("done", {"last": ["nothing failed"], "says": goal}, "v2.3.1 is in production."),
            scene("rejected", {"last": ["not approved"], "says": goal}, "Then I stop."),
            scene("denied", {"last": ["denied"], "says": goal}, "Then I stop."),
        ]
    )
