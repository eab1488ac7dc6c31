"""Tool calls as OpenAI's APIs return them: https://platform.openai.com/docs/guides/function-calling.

A message with ``tool_calls``, a list of such calls, a whole chat completion, a transcript of messages, or items of the Responses
API (``function_call``). Calls in the same answer are parallel. In a transcript they depend on the calls before them, because the
model had seen their results. Calls of custom tools and Anthropic's ``tool_use`` are steps, too; a call of another kind is a fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from planexec_lab.formats.shapes import fault, load
from planexec_lab.formats.steps import build, only_tools, rewritten
from planexec_lite import references
from planexec_lite.plan import Plan
from planexec_lite.tools import shown

_SHAPE = 'write [{"type": "function", "function": {"name": "search", "arguments": "{\\"query\\": \\"Oslo\\"}"}}, …]'


_STEPS = ("function", "function_call", "custom", "custom_tool_call", "tool_use")  # the kinds of calls that can be steps


def recognises(data: Any) -> bool:
    """Is there a call of a function in it?"""
    return any(_is_function(one) for answer in _answers(data)[1] for one in answer)


def read(data: Any) -> Plan:
    """Read the calls; their arguments are data, and never references."""
    if isinstance(data, Mapping) and isinstance(data.get("choices"), list) and len(data["choices"]) > 1:
        raise fault(f"there are {len(data['choices'])} choices, and only one can be the plan", "pass one choice")
    goal, answers = _answers(data)
    steps: list[dict[str, Any]] = []
    before: list[str] = []
    for answer in answers:
        ids = []
        for call in answer:
            ids.append(str(len(steps) + 1))
            steps.append({"id": ids[-1], "depends_on": before, **_call(call)})
        before = ids or before
    if not steps:
        raise fault("there is no call of a function in it", _SHAPE)
    return build(steps, goal)


def write(plan: Plan) -> str:
    """Write a transcript of a plan in which each step waits for all calls of the answer before its own."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": plan.goal}] if plan.goal else []
    before: tuple[str, ...] | None = None
    for one, tool in only_tools(plan):
        if one.depends_on != before:
            messages.append({"role": "assistant", "content": None, "tool_calls": []})
            before = one.depends_on
        function = {"name": tool, "arguments": _json(one.params)}
        messages[-1]["tool_calls"].append({"id": f"call_{one.id}", "type": "function", "function": function})
    return json.dumps(messages, indent=2, ensure_ascii=False)


def _json(params: Mapping[str, Any]) -> str:
    return json.dumps(references.translate(params, str), ensure_ascii=False)


def _answers(data: Any) -> tuple[str, list[list[Any]]]:
    """The user's first message, and the calls of each answer of the model."""
    if isinstance(data, Mapping):
        choices, output = data.get("choices"), data.get("output")
        if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
            return _answers([choices[0].get("message")])
        return _answers(output if isinstance(output, list) else data.get("messages", [data]))
    goal, answers, listed = "", list[list[Any]](), list[Any]()
    for one in data if isinstance(data, list) else []:
        if _is_call(one):
            listed.append(one)
            continue
        told = one if isinstance(one, Mapping) else {}
        if listed:
            answers, listed = [*answers, listed], []
        calls, older, content = told.get("tool_calls"), told.get("function_call"), told.get("content")
        parts = [part for part in content if _is_call(part)] if isinstance(content, list) else []
        parts += [{"function": older}] if older else []
        answers.append([*calls, *parts] if isinstance(calls, list) else parts)
        goal = goal or (content if told.get("role") == "user" and isinstance(content, str) else "")
    return goal, [*answers, listed] if listed else answers


def _is_function(one: Any) -> bool:
    return isinstance(one, Mapping) and (
        one.get("type") == "function_call"
        or (isinstance(one.get("function"), Mapping) and "arguments" in one["function"])
    )


def _is_call(one: Any) -> bool:
    """Whether it is a call of any kind; an object with "function" can also be the description of a tool."""
    kind = str(one.get("type")) if isinstance(one, Mapping) else ""
    return _is_function(one) or kind == "custom" or kind.endswith(("_call", "tool_use"))


def _call(call: Any) -> dict[str, Any]:
    fields = call if isinstance(call, Mapping) else {}
    kind, told = fields.get("type") or "function", fields.get("function") or fields.get("custom") or fields
    name = told.get("name") if isinstance(told, Mapping) else None
    if kind not in _STEPS or not name:
        raise fault(f"a call can't be a step: {shown(call)[:120]}", f"leave it out, or {_SHAPE}")
    given = told.get("arguments", told.get("input"))
    if "custom" in kind:
        params = {"input": given}
    else:
        params = load(given.strip() or "{}") if isinstance(given, str) else given
        params = {} if params is None else params
    if not isinstance(params, dict):
        raise fault(f"the arguments of {name} are no object", _SHAPE)
    return {"tool": str(name), "params": rewritten(params, references.escape)}
