"""From the scene that was chosen to what the model says: templates filled, functions called, limits kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from .exchange import Answer, ApiError, Choice, Request, ToolCall
from .faults import Fault
from .fit import unfit
from .matching import Match
from .refusals import unscripted
from .script import NOTHING, Reply, ToolUse
from .spoil import spoiled
from .template import fill

CHARACTERS_PER_TOKEN = 4


def speak(chosen: Match, request: Request, attempt: int) -> Answer | ApiError:
    """What a scene's reply says to a request, at the client's k-th attempt."""
    scene = chosen.scene
    try:
        reply = _written(scene.reply, chosen, request)
        parts = [_written(part, chosen, request) for part in reply.choices] or [reply] * request.choices
    except Exception as error:  # the script's author wrote this function: tell them, whatever it is
        problem = f"{type(error).__name__}: {error}"
        return unscripted("scene_failed", f"The reply of scene {scene} can't be made: {problem}")
    fault = _fault(reply, attempt)
    wrong = fault.unfit(request.stream) if fault else None
    if len(parts) < request.choices:
        wrong = f"n={request.choices} was asked for, and it has {len(parts)} choices"
    choices, written = [], 0
    for index, part in enumerate(parts[: request.choices]):
        text, calls = _words(part), _calls(part, request, index)
        meant = part.refusal is not None or part.broken or part.spoil or part.finish_reason != "stop"
        silent = part.fault is not None and text is None and not calls
        wrong = wrong or (None if meant or silent else unfit(text, calls, request))
        choice, tokens = _cut(_choice(part, text, calls, request), part.usage.output, request)
        choices.append(choice)
        written += tokens
    if wrong:
        mend = "Mend the reply, or say `broken: true` in it if that is the lesson."
        return unscripted("reply_does_not_fit", f"The reply of scene {scene} does not fit: {wrong}. {mend}")
    read = _estimate(sum(len(message.text) for message in request.messages))
    read = read if reply.usage.input is None else reply.usage.input
    return Answer(scene.name, tuple(choices), read, written, reply.latency, fault)


def _written(reply: Reply, chosen: Match, request: Request) -> Reply:
    """The reply with its function called, or with what was found filled in."""
    if reply.python is None:
        text, refusal = fill(reply.text, chosen.found), fill(reply.refusal, chosen.found)
        calls = [ToolUse(use.tool, fill(use.arguments, chosen.found)) for use in reply.calls]
        value = reply.json if reply.json is NOTHING else fill(reply.json, chosen.found)
        return replace(reply, text=text, json=value, calls=calls, refusal=refusal)
    made: Any = reply.python(request)
    if made is None:
        raise TypeError("the function returned None; does it lack a return?")
    if isinstance(made, Reply):
        return _written(made, chosen, request) if made.python is not None else made
    return replace(reply, python=None, **{"text" if isinstance(made, str) else "json": made})


def _fault(reply: Reply, attempt: int) -> Fault | None:
    return reply.faults[attempt] if attempt < len(reply.faults) else reply.fault


def _words(reply: Reply) -> str | None:
    if reply.refusal is not None or reply.json is NOTHING:
        return reply.text
    value = spoiled(reply.json, reply.spoil) if reply.spoil else reply.json
    return value if isinstance(value, str) and reply.spoil else json.dumps(value, ensure_ascii=False)


def _calls(reply: Reply, request: Request, choice: int) -> tuple[ToolCall, ...]:
    def arguments(use: ToolUse) -> str:
        return use.arguments if isinstance(use.arguments, str) else json.dumps(use.arguments, ensure_ascii=False)

    named = enumerate(reply.calls)
    return tuple(ToolCall(f"call_{request.digest()}_{choice}{n}", use.tool, arguments(use)) for n, use in named)


def _choice(reply: Reply, text: str | None, calls: tuple[ToolCall, ...], request: Request) -> Choice:
    demanded = request.tool_choice not in ("auto", "none", "required")  # the API says "stop" for a demanded call
    reason = "tool_calls" if calls and reply.finish_reason == "stop" and not demanded else reply.finish_reason
    if text is None and reply.refusal is None and not calls:
        text = ""
    return Choice(text, reply.refusal, calls, reason)


def _estimate(characters: int) -> int:
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def _cut(choice: Choice, tokens: int | None, request: Request) -> tuple[Choice, int]:
    """Stop at a stop text and at the limit; a part of the words has its part of the tokens."""
    text = choice.text if choice.refusal is None else choice.refusal
    arguments = [call.arguments for call in choice.calls]
    whole = len(text or "") + sum(map(len, arguments))
    tokens = _estimate(whole + sum(len(call.name) for call in choice.calls)) if tokens is None else tokens
    ends = [at for stop in request.stops if text and (at := text.find(stop)) >= 0]
    if ends and text is not None:  # the model stops there, and calls no tool any more
        kept = min(ends)
        refusal = None if choice.refusal is None else text[:kept]
        choice = Choice(text[:kept] if refusal is None else None, refusal, (), "stop")
        tokens = math.ceil(tokens * kept / whole)
        whole = kept
    if request.limit is None or tokens <= request.limit:
        return choice, tokens
    return _shortened(choice, whole * request.limit // tokens), request.limit


def _shortened(choice: Choice, characters: int) -> Choice:
    left = characters
    words = []
    for part in (choice.text or "", choice.refusal or "", *(call.arguments for call in choice.calls)):
        words.append(part[:left])
        left = max(0, left - len(part))
    text, refusal, *arguments = words
    calls = tuple(replace(call, arguments=part) for call, part in zip(choice.calls, arguments, strict=True) if part)
    text_or_none = None if choice.text is None else text
    return Choice(text_or_none, None if choice.refusal is None else refusal, calls, "length")
