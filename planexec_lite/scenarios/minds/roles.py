"""The model that has a mind: what it answers as a planner, of a whole plan or of one step, and as an executor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planexec_lite import references
from planexec_lite.scenarios.minds.known_plan import PlanMind
from planexec_lite.scenarios.minds.mind import EXPECTED, Act, Answer, Later, Mind, Seen, following
from planexec_lite.scenarios.minds.told import observed, recorded

if TYPE_CHECKING:
    from mock_llm import MockLLM, Reply, Request

MOST = 40  # steps that are thought ahead


def script(mind: Mind) -> MockLLM:
    """Return the scripted model that has this mind, in the role of the planner and of the executor."""
    from mock_llm import MockLLM

    roles = {"planner": lambda request: _planned(mind, request), "executor": lambda request: _acted(mind, request)}
    return MockLLM(
        [
            {"name": f"as the {role}", "when": {"role": role}, "reply": {"python": reply}}
            for role, reply in roles.items()
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
        steps, answer = _ahead(mind, [*seen.values()], number, 1 if one else MOST)
        rollback = []
    calls = [{"tool": call["tool"], "params": call["params"]} for call in rollback]
    return {"goal": goal, "steps": steps, "rollback": calls, "answer": answer, "complete": not (one and steps)}


def _ahead(mind: Mind, seen: Sequence[Seen], number: int, most: int) -> tuple[list[dict[str, Any]], str | None]:
    """At most so many steps after what was seen, each from what is expected of those before it; the answer, once it is reached."""
    steps: list[dict[str, Any]] = []
    while len(steps) < most:
        act = following(mind, seen)
        if isinstance(act, Answer):
            return steps, act.text
        number += 1
        expected = mind.expects(act, Later(f"{{step_{number}_result}}"))
        steps.append(_step(str(number), act, steps, None if most == 1 else expected.assumed))
        seen = [*seen, Seen(act.tool, act.params, expected.result)]
    return steps, None


def _step(id: str, act: Act, before: Sequence[Mapping[str, Any]], assumed: Any) -> dict[str, Any]:
    """A step, which waits for what it refers to and, unless it stands alone, for the steps that nothing waits for yet."""
    waited_for = {id for step in before for id in step["depends_on"]}
    last = [] if act.alone else [step["id"] for step in before if step["id"] not in waited_for]
    named = [reference.step for reference in references.find(dict(act.params))]
    return {
        "id": id,
        "description": act.why,
        "tool": act.tool,
        "params": dict(act.params),
        "depends_on": sorted({*named, *last}, key=int),
        "success_criteria": None if assumed is None else EXPECTED + json.dumps(assumed, ensure_ascii=False),
    }


def _fields(step: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a step that a planner's answer has."""
    names = ("id", "description", "tool", "params", "success_criteria")
    return {name: step[name] for name in names} | {"depends_on": list(step["depends_on"])}
