"""The engine: a request in, an answer out. Pure: no I/O, no clock, no counter, no memory.

The rules, all of them:

1. A scene fits when all its conditions hold for the request.
2. Of the scenes that fit, the one with the most conditions answers.
3. A tie is an ambiguity, and no fit at all is a gap in the script: both are refused, never guessed.
4. A reply must fit the format asked for, unless it is broken on purpose.

The same request therefore gets the same answer, whatever was asked before and by how many threads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .exchange import Answer, ApiError, Request
from .explain import ambiguous, no_scene_fits
from .matching import Match, match
from .refusals import unscripted
from .schema import misfit
from .script import NOTHING, Reply, Scene
from .template import fill

CHARACTERS_PER_TOKEN = 4


def answer(scenes: Sequence[Scene], request: Request, attempt: int = 0) -> Answer | ApiError:
    """What the scripted model says to a request.

    Args:
        scenes: the script.
        request: the conversation; the police have let it through.
        attempt: 0 for the first try of a call, k for the client's k-th silent retry of it.

    Returns:
        The answer, or an `ApiError` that tells the script's author what is missing.
    """
    matches = [match(scene, request) for scene in scenes]
    fits = [candidate for candidate in matches if candidate.fits]
    if not fits:
        return unscripted("no_scene_fits", no_scene_fits(matches, request))
    most = max(len(candidate.checks) for candidate in fits)
    best = [candidate for candidate in fits if len(candidate.checks) == most]
    if len(best) > 1:
        return unscripted("ambiguous_scenes", ambiguous(best, request))
    return _speak(best[0], request)


def _speak(chosen: Match, request: Request) -> Answer | ApiError:
    scene = chosen.scene
    try:
        reply = _written(scene.reply, chosen, request)
    except Exception as error:  # the script's author wrote this function: tell them, whatever it is
        problem = f"{type(error).__name__}: {error}"
        return unscripted("scene_failed", f"The reply of scene {scene} can't be made: {problem}")
    text = _words(reply)
    meant = reply.refusal is not None or reply.broken or reply.finish_reason != "stop"
    if not meant and (unfit := _unfit(text, request)):
        mend = "Mend the reply, or say `broken: true` in it if that is the lesson."
        return unscripted("reply_does_not_fit", f"The reply of scene {scene} does not fit: {unfit}. {mend}")
    read = _estimate(sum(len(message.text) for message in request.messages))
    written = _estimate(len(text)) if reply.usage.output is None else reply.usage.output
    text, written, finish_reason = _cut(text, written, reply.finish_reason, request)
    return Answer(
        scene=scene.name,
        text=text if reply.refusal is None else None,
        refusal=None if reply.refusal is None else text,
        finish_reason=finish_reason,
        input_tokens=read if reply.usage.input is None else reply.usage.input,
        output_tokens=written,
        latency=reply.latency,
    )


def _written(reply: Reply, chosen: Match, request: Request) -> Reply:
    """The reply with its function called, or with what was found filled in."""
    if reply.python is None:
        part = "json" if reply.json is not NOTHING else "text" if reply.text is not None else "refusal"
        return replace(reply, **{part: fill(reply.template, chosen.found)})
    made: Any = reply.python(request)
    if made is None:
        raise TypeError("the function returned None; does it lack a return?")
    if isinstance(made, Reply):
        return made if made.python is None else _written(made, chosen, request)
    return replace(reply, python=None, **{"text" if isinstance(made, str) else "json": made})


def _words(reply: Reply) -> str:
    if reply.refusal is not None:
        return reply.refusal
    return reply.text if reply.text is not None else json.dumps(reply.json, ensure_ascii=False)


def _unfit(text: str, request: Request) -> str | None:
    """Why a text is not what the request's format asks for, or None."""
    if request.format == "text":
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        return f"{request.format} was asked for, and this is not JSON ({error})"
    if not isinstance(value, dict):
        return f"{request.format} was asked for, and this is not a JSON object"
    return misfit(value, request.schema) if request.schema is not None else None


def _estimate(characters: int) -> int:
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def _cut(text: str, tokens: int, finish_reason: str, request: Request) -> tuple[str, int, str]:
    """Stop at a stop text and at the limit; a part of the text has its part of the tokens."""
    whole, all_tokens = len(text), tokens
    ends = [at for stop in request.stops if (at := text.find(stop)) >= 0]
    if ends:
        text = text[: min(ends)]
        tokens = math.ceil(all_tokens * len(text) / whole)
        finish_reason = "stop"
    if request.limit is not None and tokens > request.limit:
        text = text[: len(text) * request.limit // tokens]
        tokens, finish_reason = request.limit, "length"
    return text, tokens, finish_reason
