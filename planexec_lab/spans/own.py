"""The spans of a run of the kit as its events: each job says with which event it began and ended, and which numbers they had."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

from planexec_lab.spans import names
from planexec_lab.spans.outcome import AS_JSON, attribute_of
from planexec_lab.spans.span import Span, TraceError, seconds
from planexec_lab.spans.tree import Tree
from planexec_lite import events as e

_FIELDS = {kind.__name__: [field.name for field in fields(kind)] for kind in get_args(e.Event)}


def is_one(tree: Tree) -> bool:
    """Whether it is a run of the kit, with what was said in it."""
    return any(names.NUMBER in event.attributes for span in tree.top for event in span.events)


def events(tree: Tree) -> list[e.Event]:
    """Return the events in their order. Raises `TraceError`, with the place, where one is missing, twice there or unreadable."""
    numbered: dict[Any, e.Event] = {}
    for span in tree.spans:
        place = tree.places[span.span_id]
        try:
            for number, event in _events(span, tree.start):
                if number in numbered:
                    raise ValueError(f"event {number} is there twice")
                numbered[number] = event
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as problem:
            raise TraceError(f"{place}: {' '.join(str(problem).split())[:200]}") from problem
    missing = next((number for number in range(len(numbered)) if number not in numbered), None)
    if missing is not None:
        raise TraceError(f"event {missing} of the run is missing: not all of its spans are there")
    return [numbered[number] for number in range(len(numbered))]


def _events(span: Span, begin: int) -> Iterator[tuple[Any, e.Event]]:
    for noted in span.events:
        if names.NUMBER in noted.attributes:
            yield noted.attributes[names.NUMBER], e.from_json(str(noted.attributes[names.EVENT]))
    for kind, number, at in ((names.STARTED, names.FIRST, span.start), (names.ENDED, names.LAST, span.end)):
        if number in span.attributes:
            told = _fields(span, str(span.attributes[kind]))
            yield span.attributes[number], e.from_dict({**told, "at": seconds(at - begin)})


def _fields(span: Span, kind: str) -> dict[str, Any]:
    if kind not in _FIELDS:
        raise ValueError(f"there is no event {kind!r:.80}")
    told: dict[str, Any] = {"event": kind}
    for name in _FIELDS[kind]:
        key = attribute_of(kind, name)
        if key in span.attributes:
            value = span.attributes[key]
            told[name] = json.loads(str(value)) if name in AS_JSON else value
    return told
