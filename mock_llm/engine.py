"""The engine: a request in, an answer out. Pure: no I/O, no clock, no memory.

The rules, all of them:

1. A scene fits when all its conditions hold for the request.
2. Of the scenes that fit, the one with the most conditions answers.
3. A tie is an ambiguity, and no fit at all is a gap in the script: both are refused, never guessed.
4. A reply must fit the format asked for, unless it is broken on purpose.

5. At the client's k-th silent retry the fault scripted for attempt k happens; after the last one the reply.

The same request therefore gets the same answer, whatever was asked before and by how many threads. The one
exception is a scene that asks for a named counter, and that is handed in from outside.
"""

from __future__ import annotations

from collections.abc import Sequence

from .counters import Count, always_first
from .exchange import Answer, ApiError, Request
from .explain import ambiguous, no_scene_fits
from .matching import Match, match
from .refusals import unscripted
from .script import Scene
from .speaking import speak


def answer(
    scenes: Sequence[Scene], request: Request, attempt: int = 0, count: Count = always_first
) -> Answer | ApiError:
    """What the scripted model says to a request.

    Args:
        scenes: the script.
        request: the conversation; the police have let it through.
        attempt: 0 for the first try of a call, k for the client's k-th silent retry of it.
        count: named counters, for scenes that ask for one: counter name -> this call's number.

    Returns:
        The answer, or an `ApiError` that tells the script's author what is missing.
    """
    matches = [match(scene, request, count) for scene in scenes]
    best = best_of(matches)
    if not best:
        return unscripted("no_scene_fits", no_scene_fits(matches, request))
    if len(best) > 1:
        return unscripted("ambiguous_scenes", ambiguous(best, request))
    return speak(best[0], request, attempt)


def best_of(matches: Sequence[Match]) -> list[Match]:
    """Of the scenes that fit, those with the most conditions: one answers, several are ambiguous."""
    fits = [candidate for candidate in matches if candidate.fits]
    most = max((len(candidate.checks) for candidate in fits), default=0)
    return [candidate for candidate in fits if len(candidate.checks) == most]
