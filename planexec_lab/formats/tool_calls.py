"""Tool calls as OpenAI's APIs return them: https://platform.openai.com/docs/guides/function-calling.

A message with ``tool_calls``, a list of such calls, a whole chat completion, a transcript of messages, or items of the Responses
API (``function_call``). Calls in the same answer are parallel. In a transcript they depend on the calls before them, because the
model had seen their results. The user's first text is the goal; other texts and results are left out and listed. Calls of another
kind than functions, and a second choice, are faults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planexec_lab.formats.shapes import fault, left_out, load
from planexec_lab.formats.steps import build, rewritten
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import references

_SHAPE = 'write [{"type": "function", "function": {"name": "search", "arguments": "{\\"query\\": \\"Oslo\\"}"}}, …]'


_OF_A_CALL = {"id", "type", "index", "call_id", "status", "function", "name", "arguments"}
_BESIDE = ("reasoning", "message", "function_call_output")
_OF_A_MESSAGE = {"role", "type", "id", "status", "tool_calls", "call_id", "tool_call_id", "name", "content", "output"}
_WHOLE = (None, "completed", "stop", "tool_calls", "function_call")


def recognises(data: Any) -> bool:
    """Is there a call in it, or a message with calls?"""
    return any(_is_call(one) or (isinstance(one, Mapping) and one.get("tool_calls")) for one in _items(data))


def read(data: Any) -> Plan:
    """Read the calls; their arguments are data, and never references."""
    goal, answers, remarks = _answers(data)
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
    return build(steps, goal, left_out=remarks)


def _items(data: Any) -> list[Any]:
    """The messages and calls in `data`."""
    if not isinstance(data, Mapping):
        return data if isinstance(data, list) else []
    choices = data.get("choices")
    if isinstance(choices, list) and choices:
        return [choice.get("message") if isinstance(choice, Mapping) else None for choice in choices]
    lists = (one for one in (data.get("output"), data.get("messages")) if isinstance(one, list))
    return next(lists, [data])


def _answers(data: Any) -> tuple[str, list[list[Any]], list[Problem]]:
    """The user's first text, the calls of each answer of the model, and remarks on the other texts and the results."""
    goal, answers, listed, remarks = "", list[list[Any]](), list[Any](), list[Problem]()
    items = _items(data)
    whole: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    choices = whole.get("choices") or ()
    if len(choices) > 1:
        raise fault("the model gave several choices", "pass the message of one of them")
    ends = [one.get("finish_reason") for one in choices if isinstance(one, Mapping)]
    ends += [one.get("status") for one in (whole, *items) if isinstance(one, Mapping)]
    if cut := [end for end in ends if end not in _WHOLE] or whole.get("error"):
        raise fault(f"the model's answer was cut off: {str(cut)[:60]}", "ask it again, with more tokens for the answer")
    for place, one in enumerate(items):
        if _is_call(one):
            listed.append(one)
            continue
        told = one if isinstance(one, Mapping) else {}
        remarks += [left_out(f"{name} of a message") for name in told if told[name] and name not in _OF_A_MESSAGE]
        calls, content = told.get("tool_calls") or [], told.get("content", told.get("output"))
        parts = content if isinstance(content, list) else []
        odd = next(
            (call for call in (*calls, *filter(_is_tool, parts)) if not _is_call(call)), told.get("function_call")
        )
        if odd or not ("role" in told or told.get("type") in _BESIDE):
            raise fault(f"{str(odd or one)[:60]!r} is no call of a function", _SHAPE, at=(place,))
        if listed and told.get("type") != "reasoning":
            answers, listed = [*answers, listed], []
        answers.append(calls)
        if told.get("role") == "user" and isinstance(content, str) and not goal:
            goal = content
        elif content:
            remarks.append(left_out(f"{str(content)[:40]!r}, a text or a result"))
    return goal, [*answers, listed], remarks


def _is_call(one: Any) -> bool:
    return isinstance(one, Mapping) and (
        one.get("type") == "function_call"
        or (isinstance(one.get("function"), Mapping) and "arguments" in one["function"])
    )


def _is_tool(part: Any) -> bool:
    """Is this part of a message a call, or the result of one?"""
    return isinstance(part, Mapping) and re.search("tool|call", str(part.get("type"))) is not None


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    told = call.get("function", call)
    if unknown := {*call, *told} - _OF_A_CALL:
        raise fault(f"the call of {told.get('name')} has {min(unknown)}, which is not known", _SHAPE)
    if not isinstance(told.get("name"), str):
        raise fault(f"the call {str(call)[:60]} has no name", _SHAPE)
    given = told.get("arguments")
    params = load(given.strip() or "{}") if isinstance(given, str) else given
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise fault(f"the arguments of {told.get('name')} are no object", _SHAPE)
    return {"tool": told["name"], "params": rewritten(params, references.escape)}
