"""The rules that select a scene for a request and return its answer. They are pure: no I/O, no clock, no state.

All rules:

1. A scene fits if the request meets all its conditions.
2. Of the scenes that fit, the one with the most conditions answers.
3. A tie is an ambiguity, and no match is a gap in the script. Both are errors; the engine never guesses.
4. A reply must fit the requested format, unless it is broken on purpose.
5. At the client's k-th silent retry, the fault scripted for attempt k happens; after the last fault comes the reply.

The same request therefore gets the same answer, independent of earlier requests and of threads. The only exception is a
scene with a named counter, whose numbers are passed in.
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
    """Return the scripted model's answer to a request.

    Args:
        scenes: the script.
        request: the conversation, already validated.
        attempt: 0 for the first attempt of a call, k for the client's k-th silent retry.
        count: returns this call's number of a named counter.

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
