"""A trace's spans and their nesting, checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planexec_lab.spans.span import Span, TraceError
from planexec_lite.tools import shown

MOST_SPANS = 200_000
LAST = 2**63  # nanoseconds


@dataclass(frozen=True)
class Tree:
    """The spans in the order of their starts, by parent; a span with a missing parent is at the top.

    Attributes:
        below: the children of each span, by its id; None: the spans at the top.
        places: the place of each span in the input, by its id.
    """

    spans: Sequence[Span]
    below: Mapping[str | None, Sequence[Span]]
    places: Mapping[str, str]

    @classmethod
    def of(cls, spans: Sequence[Span], places: Mapping[str, str]) -> Tree:
        """Combine spans; if a span was sent twice, as exporters and continued runs do, the last copy counts.

        Raises `TraceError` for too many spans, different spans with the same id, and a span inside itself.
        """
        if len(spans) > MOST_SPANS:
            raise TraceError(f"there are {len(spans):,} spans; {MOST_SPANS:,} are the most")
        known: dict[str, Span] = {}
        for span in spans:
            before = known.get(span.span_id)
            if before and (before.name, before.parent_id, before.start) != (span.name, span.parent_id, span.start):
                raise TraceError(f"{places[span.span_id]}: two spans have the id {span.span_id}")
            if before is None or span.end >= before.end:
                known[span.span_id] = span
        ordered = sorted(known.values(), key=lambda span: span.start)
        below: dict[str | None, list[Span]] = {}
        for span in ordered:
            below.setdefault(span.parent_id if span.parent_id in known else None, []).append(span)
        tree = cls(ordered, below, places)
        reached = {inner.span_id for span in tree.top for inner in tree.walk(span)}
        for span in ordered:
            if span.span_id not in reached:
                raise TraceError(f"{places[span.span_id]}: the span is inside itself, because its parents form a cycle")
        return tree

    def changed(self, change: Callable[[Span], Span]) -> Tree:
        """Return the tree with each span changed; ids, parents and times stay."""
        new = {span.span_id: change(span) for span in self.spans}
        below = {parent: [new[span.span_id] for span in spans] for parent, spans in self.below.items()}
        return Tree([*new.values()], below, self.places)

    @property
    def top(self) -> Sequence[Span]:
        """The spans without a parent."""
        return self.below.get(None, ())

    @property
    def start(self) -> int:
        """When the trace begins, in nanoseconds."""
        return self.spans[0].start

    def inside(self, span: Span) -> Sequence[Span]:
        """The spans directly inside one."""
        return self.below.get(span.span_id, ())

    def walk(self, span: Span) -> Iterator[Span]:
        """A span and all below it, each behind the one around it."""
        waiting = [span]
        while waiting:
            yield (one := waiting.pop())
            waiting += reversed(self.inside(one))


def checked_times(start: Any, end: Any, place: str) -> tuple[int, int]:
    """Two times in nanoseconds. Raises `TraceError` unless they are times, in order."""
    times = []
    for name, value in (("start", start), ("end", end)):
        digits = re.fullmatch("[0-9]{1,19}", str(value)) if type(value) in (int, str) else None
        if digits is None or int(digits[0]) >= LAST:
            raise TraceError(f"{place}: its {name} is no time in nanoseconds since 1970: {shown(value)[:80]}")
        times.append(int(digits[0]))
    if times[1] < times[0]:
        raise TraceError(f"{place}: it ends {(times[0] - times[1]) / 1e9:g} s before it starts")
    return times[0], times[1]


def checked_id(value: Any, what: str, place: str) -> str:
    """An id: a text that is not too long. Raises `TraceError` for anything else."""
    if not isinstance(value, str) or not 0 < len(value) <= 128:
        raise TraceError(f"{place}: its {what} is no id: {shown(value)[:80]}")
    return value


def nested_deeper(data: Any, most: int) -> bool:
    """Whether JSON data have more than this many objects and lists inside each other."""
    level = [data]
    for _ in range(most + 1):
        level = [
            part
            for one in level
            for part in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
    return bool(level)
