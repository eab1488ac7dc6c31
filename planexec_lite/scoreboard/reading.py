"""What the scripted model reads in a conversation: the planner's record, and the results that an executor is given."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_ENTRY = re.compile(
    r"^- step (?P<id>[\w.-]+), (?P<step>.*?): (?P<state>done, result|waiting|failed|skipped|superseded|undone|running|in doubt)"
    r"(?P<text>.*?)(?=\n- step |\n\nNews:|\n\nPlan the rest|\Z)",
    re.M | re.S,
)
_GIVEN = re.compile(r"^((?:Result of step [\w.-]+: )+)", re.M)


class Entry(NamedTuple):
    """A line of the record: a step, its call or task, how it stands, and what is said of it."""

    id: str
    step: str
    state: str
    text: str


def entries_in(text: str) -> list[Entry]:
    """The steps of the record that a planner is shown."""
    _, _, record = text.partition("\nSo far:\n")
    return [
        Entry(one["id"], one["step"], one["state"].partition(",")[0], one["text"].strip(" ,"))
        for one in _ENTRY.finditer(record)
    ]


def results_in(text: str) -> dict[str, Any]:
    """The results that a step is given, by the id under which the way has their step, also those that stand in a result."""
    _, *parts = _GIVEN.split(text)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {number_of(head.split()[-1].rstrip(":")): value_of(body.rstrip("\n")) for head, body in pairs}


def value_of(text: str) -> Any:
    """A result as it was before it was written as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def number_of(id: str) -> str:
    """The id under which the way has the step: "5b" is a second attempt at 5."""
    number = re.match(r"[0-9]+", id)
    return number[0] if number else id


def new_ids(id: str) -> Iterator[str]:
    """The ids for new attempts at a step: 5b, 5c …"""
    return (f"{id}{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")
