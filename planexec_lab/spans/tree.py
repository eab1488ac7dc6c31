"""A trace's spans and their nesting, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planexec_lab.spans.span import Span, TraceError

MOST_SPANS = 200_000


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

    def walk(self, span: Span, stop: Callable[[Span], bool] = lambda span: False) -> Iterator[Span]:
        """A span and all below it, each behind the one around it; nothing below a span at which the walk must `stop`."""
        waiting = [span]
        while waiting:
            yield (one := waiting.pop())
            waiting += [] if stop(one) else reversed(self.inside(one))


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
