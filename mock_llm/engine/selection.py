"""The rules by which a scene is selected: a request in, an answer out. Pure: no I/O, no clock, no memory.

The rules, all of them:

1. A scene fits when all its conditions hold for the request.
2. Of the scenes that fit, the one with the most conditions answers.
3. A tie is an ambiguity, and no match at all is a gap in the script: both are errors, never guessed.
4. A reply must fit the format asked for, unless it is broken on purpose.
5. At the client's k-th silent retry the fault scripted for attempt k happens; after the last one the reply.

The same request therefore gets the same answer, whatever was asked before and by how many threads. The one
exception is a scene that asks for a named counter, and its numbers are passed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from mock_llm.script import Scene
from mock_llm.types import Answer, ApiError, Request, unprocessable

from .counters import Count, always_first
from .explanation import ambiguous, no_scene_fits
from .matching import best_matches, match
from .rendering import render


def answer(
    scenes: Sequence[Scene], request: Request, attempt: int = 0, count: Count = always_first
) -> Answer | ApiError:
    """What the scripted model says to a request.

    Args:
        scenes: the script.
        request: the conversation; it has been validated.
        attempt: 0 for the first try of a call, k for the client's k-th silent retry of it.
        count: named counters, for scenes that ask for one: counter name -> this call's number.

    Returns:
        The answer, or an `ApiError` that tells the script's author what is missing.
    """
    matches = [match(scene, request, count) for scene in scenes]
    best = best_matches(matches)
    if not best:
        return unprocessable("no_scene_fits", no_scene_fits(matches, request))
    if len(best) > 1:
        return unprocessable("ambiguous_scenes", ambiguous(best, request))
    return render(best[0], request, attempt)
