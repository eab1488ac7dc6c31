"""From the selected scene to its answer: fills templates, calls functions, checks the reply, and applies limits."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import Any

from mock_llm.script import KINDS, NOTHING, Reply, ToolUse
from mock_llm.types import Answer, ApiError, Choice, Request, ToolCall, Usage, unprocessable

from .matching import Match
from .reply_validation import items_error, reply_error

CHARACTERS_PER_TOKEN = 4
REPLY = frozenset(KINDS)
FIELDS = frozenset(field.name for field in fields(Reply))


def render(chosen: Match, request: Request, attempt: int) -> Answer | ApiError:
    """Return the answer of a scene's reply to a request, at the given attempt."""
    scene = chosen.scene
    try:
        reply = _resolved(scene.reply, chosen, request)
        parts = [_resolved(part, chosen, request) for part in reply.choices] or [reply] * request.choices
    except Exception as error:  # the script's author wrote this function and needs to see any error
        problem = f"{type(error).__name__}: {error}"
        return unprocessable("scene_failed", f"The reply of scene {scene} failed: {problem}")
    fault = reply.faults[attempt] if attempt < len(reply.faults) else reply.fault
    mismatch = fault.mismatch(request.stream) if fault else None
    if len(parts) < request.choices:
        mismatch = f"the request has n={request.choices}, but the reply has {len(parts)} choices"
    choices, output_tokens, reasoning_tokens = [], 0, 0
    for index, part in enumerate(parts[: request.choices]):
        text, calls = _text(part), _calls(part, request, index)
        # Checked before truncation, because max_tokens can cut JSON in half, as with a real model.
        if not mismatch and not _exempt(part, text, calls):
            mismatch = reply_error(text, calls, request)
        mismatch = mismatch or (None if part.broken else items_error(part.items, request))
        choice, tokens, reasoned = _truncated(_choice(part, text, calls, request), part.usage, request)
        choices.append(choice)
        output_tokens += tokens
        reasoning_tokens += reasoned
    if mismatch:
        mend = "Fix the reply, or add `broken: true` to it if it is broken on purpose."
        return unprocessable("reply_does_not_fit", f"The reply of scene {scene} does not fit: {mismatch}. {mend}")
    read = input_tokens(request) if reply.usage.input is None else reply.usage.input
    cached = min(read, reply.usage.cached or 0)
    return Answer(scene.name, tuple(choices), read, output_tokens, reply.latency, fault, cached, reasoning_tokens)


_CALLS = {"calls", "tool_calls", "function_call"}  # a dict with one of these is a call that was meant, and no data
_MESSAGE, _CALL = {"role", "content"}, {"tool", "arguments"}


def _resolved(reply: Reply, chosen: Match, request: Request) -> Reply:
    """Return the reply after its function was called or its placeholders were filled."""
    if reply.python is None:
        return reply.filled(chosen.captures)
    value: Any = reply.python(request)
    if value is None:
        raise TypeError("the function returned None; is a return statement missing?")
    if isinstance(value, Reply):
        # Only scripted templates are filled. A function's result might quote the conversation, including braces.
        return _resolved(value, chosen, request) if value.python is not None else value
    known = value.keys() if isinstance(value, dict) and request.format == "text" else set[str]()
    one = value[0] if isinstance(value, list) and value else value
    if isinstance(one, dict) and one.keys() >= _CALL and request.format == "text":
        raise TypeError("the function returned a call of a tool; return Reply(calls=…), or Reply(json=…)")
    if _CALLS & known or known >= _MESSAGE or (REPLY & known and known <= FIELDS):
        fields = ", ".join(known)
        raise TypeError(
            f"the function returned a dict with the fields of a reply ({fields}); return Reply(…), or Reply(json=…)"
        )
    return replace(reply, python=None, **{"text" if isinstance(value, str) else "json": value})


def _exempt(reply: Reply, text: str | None, calls: tuple[ToolCall, ...]) -> bool:
    """Return whether the reply is not checked: it breaks the format on purpose, or it consists only of a fault."""
    on_purpose = reply.refusal is not None or reply.broken or reply.finish_reason != "stop"
    return on_purpose or (reply.fault is not None and text is None and not calls)


def _text(reply: Reply) -> str | None:
    if reply.refusal is not None or reply.json is NOTHING:
        return reply.text
    return json.dumps(reply.json, ensure_ascii=False)


def _calls(reply: Reply, request: Request, choice: int) -> tuple[ToolCall, ...]:
    def arguments(use: ToolUse) -> str:
        return use.arguments if isinstance(use.arguments, str) else json.dumps(use.arguments, ensure_ascii=False)

    return tuple(
        ToolCall(f"call_{request.unique_id}_{choice}{n}", use.tool, arguments(use), use.tool in request.custom_tools)
        for n, use in enumerate(reply.calls)
    )


def _choice(reply: Reply, text: str | None, calls: tuple[ToolCall, ...], request: Request) -> Choice:
    # The API gives "stop" for a call that the request named.
    named = request.tool_choice not in ("auto", "none", "required")
    reason = "tool_calls" if calls and reply.finish_reason == "stop" and not named else reply.finish_reason
    if text is None and reply.refusal is None and not calls:
        text = ""
    return Choice(text, reply.refusal, calls, reason, reply.reasoning, tuple(reply.items))


def input_tokens(request: Request) -> int:
    """Estimate a request's tokens from its texts; images count as zero."""
    return _estimate(sum(len(message.text) for message in request.messages))


def _estimate(characters: int) -> int:
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def _truncated(choice: Choice, usage: Usage, request: Request) -> tuple[Choice, int, int]:
    """Cut the text at a stop sequence and at the token limit; a cut text gets its share of the tokens.

    Returns:
        The choice, its output tokens, and those of them that the model spent on reasoning, which comes first.
    """
    text = choice.text if choice.refusal is None else choice.refusal
    arguments = [call.arguments for call in choice.calls]
    whole = len(text or "") + sum(map(len, arguments))
    reasoned = _estimate(len(choice.reasoning or "")) if usage.reasoning is None else usage.reasoning
    if usage.output is None:
        tokens = _estimate(whole + sum(len(call.name) for call in choice.calls))
    else:
        reasoned = min(reasoned, usage.output)
        tokens = usage.output - reasoned
    ends = [(at, stop) for stop in request.stops if text and (at := text.find(stop)) >= 0]
    if ends and text is not None:  # the model stops there and calls no tool
        kept, stop = min(ends)
        refusal = None if choice.refusal is None else text[:kept]
        text = text[:kept] if refusal is None else None
        choice = replace(choice, text=text, refusal=refusal, calls=(), finish_reason="stop", stopped_by=stop)
        tokens = math.ceil(tokens * kept / whole)
        whole = kept
    if request.limit is None or reasoned + tokens <= request.limit:
        return choice, reasoned + tokens, reasoned
    left = max(0, request.limit - reasoned)
    return _first_characters(choice, whole * left // max(1, tokens)), request.limit, min(reasoned, request.limit)


def _first_characters(choice: Choice, characters: int) -> Choice:
    left = characters
    words = []
    for part in (choice.text or "", choice.refusal or "", *(call.arguments for call in choice.calls)):
        words.append(part[:left])
        left = max(0, left - len(part))
    text, refusal, *arguments = words
    calls = tuple(replace(call, arguments=part) for call, part in zip(choice.calls, arguments, strict=True) if part)
    text_or_none = None if choice.text is None else text
    refusal_or_none = None if choice.refusal is None else refusal
    return replace(choice, text=text_or_none, refusal=refusal_or_none, calls=calls, finish_reason="length")
