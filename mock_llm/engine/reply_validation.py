"""Reply validation: reports mistakes of the script at their source, before they can confuse a lesson.

A reply must fit the request's response format, the offered tools with their schemas, and the tool choice. A reply with
`broken: true` is not checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mock_llm.json_schema import validation_error
from mock_llm.types import SERVICE_ITEMS, Request, ToolCall


def reply_error(text: str | None, calls: Sequence[ToolCall], request: Request) -> str | None:
    """Return the reason why a reply does not fit the request, or None if it fits."""
    if mismatch := _tool_choice_error(calls, request):
        return mismatch
    return _calls_error(calls, request) if calls else _text_error(text or "", request)


def items_error(items: Sequence[Mapping[str, Any]], request: Request) -> str | None:
    """Return the reason why a reply's items of the service do not fit the request, or None if they fit."""
    if items and not request.sent:
        return "its items exist only in the Responses API, but this is a chat completion"
    offered = {tool.get("type") for tool in request.sent.get("tools") or ()}
    for item in items:
        tools = SERVICE_ITEMS[item["type"]].tools
        if item["type"] == "compaction" and not request.sent.get("context_management"):
            return "it has a compaction, but the request does not ask for it with context_management"
        if tools and not offered & set(tools):
            return f"it has a {item['type']}, but no tool of type {' or '.join(tools)} was offered"
    return None


def _text_error(text: str, request: Request) -> str | None:
    if request.format == "text":
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        return f"the request asks for {request.format}, but this is not JSON ({error})"
    if not isinstance(value, dict):
        return f"the request asks for {request.format}, but this is not a JSON object"
    return validation_error(value, request.schema) if request.schema is not None else None


def _calls_error(calls: Sequence[ToolCall], request: Request) -> str | None:
    for call in calls:
        if call.name not in request.tools:
            offered = ", ".join(request.tools) or "none"
            return f"it calls the tool {call.name!r}, which was not offered (offered: {offered})"
        if call.name not in request.allowed_tools:
            allowed = ", ".join(request.allowed_tools)
            return f"it calls {call.name!r}, but tool_choice allows {f'only {allowed}' if allowed else 'no tool'}"
        if call.custom:
            continue  # a custom tool takes any text
        try:
            arguments: Any = json.loads(call.arguments)
        except ValueError as error:
            return f"the arguments of {call.name} are not JSON ({error})"
        if not isinstance(arguments, dict):
            return f"the arguments of {call.name} are not a JSON object"
        if mismatch := validation_error(arguments, request.tool_schema(call.name)):
            return f"the arguments of {call.name} do not fit its schema: {mismatch}"
    return None


def _tool_choice_error(calls: Sequence[ToolCall], request: Request) -> str | None:
    choice = request.tool_choice
    if calls and choice == "none":
        return "it calls a tool, but tool_choice is 'none'"
    if not calls and choice not in ("auto", "none"):
        return f"it calls no tool, but tool_choice requires {'a call' if choice == 'required' else choice}"
    if choice not in ("auto", "none", "required") and any(call.name != choice for call in calls):
        return f"it does not call the tool that tool_choice requires, {choice}"
    if len(calls) > 1 and request.body.get("parallel_tool_calls") is False:
        return "it calls several tools in parallel, but parallel_tool_calls is false"
    return None
