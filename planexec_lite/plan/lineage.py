"""Lineage: a step word for word, and with it every step that it depends on, however far back.

A step can stand in a new plan word for word and do something else, because a step before it has changed. What was
approved is the step together with all that decides on its inputs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from planexec_lite.plan.reading import plain
from planexec_lite.plan.step import Step


def word_for_word(step: Step) -> str:
    """Return a digest of what `step` says: it differs where the step does."""
    return _digest(plain(step))


def lineages(steps: Mapping[str, Step], ids: Iterable[str], known: dict[str, str] | None = None) -> set[str]:
    """Return a digest of the lineage of each of `ids`: it differs where the step or a step behind it differs.

    `steps` are all steps by id; they must have no cycle. `known` are digests of steps by id that were worked out
    before; what is worked out now joins them.
    """
    digests = {} if known is None else known
    ids = tuple(ids)
    left = [*ids]
    while left:
        id = left[-1]
        before = [other for other in steps[id].depends_on if other in steps]
        if waiting := [other for other in before if other not in digests]:
            left += waiting
            continue
        left.pop()
        if id not in digests:
            digests[id] = _digest([plain(steps[id]), [digests[other] for other in before]])
    return {digests[id] for id in ids}


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
