"""The spans of a run of the kit as its events: each event is noted in a span as JSON, with its number in the run."""

from __future__ import annotations

from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.span import TraceError
from planexec_lab.spans.tree import Tree
from planexec_lite.run import events as e


def is_one(tree: Tree) -> bool:
    """Whether it is a run of the kit, with what was said in it."""
    return any(names.NUMBER in event.attributes for span in tree.top for event in span.events)


def events(tree: Tree) -> list[e.Event]:
    """Return the events in their order. Raises `TraceError`, with the place, where one is missing, twice there or unreadable."""
    numbered: dict[Any, e.Event] = {}
    for span in tree.spans:
        for noted in [event.attributes for event in span.events if names.NUMBER in event.attributes]:
            number = noted[names.NUMBER]
            try:
                if number in numbered:
                    raise ValueError(f"event {number} is there twice")
                numbered[number] = e.from_json(str(noted.get(names.EVENT)))
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as problem:
                words = " ".join(str(problem).split())[:200]
                raise TraceError(f"{tree.places[span.span_id]}: {words}") from problem
    try:
        return [numbered[number] for number in range(len(numbered))]
    except KeyError as missing:
        raise TraceError(f"event {missing} of the run is missing: not all of its spans are there") from None
