"""What the scripted model reads of results and ids: those that a step is given, and those that a further attempt gets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from planexec_lite.scenarios.minds import value_of

_GIVEN = re.compile(r"^((?:Result of step [\w.-]+: )+)", re.M)
_TOLD = re.compile(r"^Result of step ([\w.-]+): (data: .*)$", re.M)


def results_in(text: str) -> dict[str, Any]:
    """The results that a step is given, by the id under which the way has their step, also those that a result lists."""
    results: dict[str, Any] = {}
    for id, data in _TOLD.findall(text):
        value = value_of(data)
        results |= listed_in(value) or {number_of(id): value}
    return results


def listed_in(answer: Any) -> dict[str, Any]:
    """The results that the answer of a run inside a step lists."""
    if not isinstance(answer, str):
        return {}
    _, *parts = _GIVEN.split(answer)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {number_of(head.split()[-1].rstrip(":")): value_of(body.rstrip("\n")) for head, body in pairs}


def number_of(id: str) -> str:
    """The id under which the way has the step: "5b" is a second attempt at 5."""
    number = re.match(r"[0-9]+", id)
    return number[0] if number else id


def new_ids(id: str) -> Iterator[str]:
    """The ids for new attempts at a step: 5b, 5c …"""
    return (f"{id}{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")
