"""A span as a plain value: a piece of work from when to when, inside which other one, with its attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | bool | int | float | tuple[str, ...]
NANO = 1_000_000_000


class TraceError(ValueError):
    """A trace that can't be read: what is wrong, and where it stands."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened during a span, at a moment in nanoseconds since 1970."""

    name: str
    at: int
    attributes: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of work.

    Attributes:
        trace_id: 32 hexadecimal digits, the same for all spans of a run; of a trace that was read, whatever names it.
        span_id: 16 hexadecimal digits.
        parent_id: the span around it; None: there is none.
        start: nanoseconds since 1970, as `end`.
        error: why it failed, in words; "" where nobody said why; None: it did not.
        asks: whether it asks somebody outside, as a call of a model does (a span of the kind "client").
    """

    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    start: int
    end: int
    attributes: Mapping[str, Value] = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    error: str | None = None
    asks: bool = False


def nanoseconds(seconds: float) -> int:
    """Seconds as whole nanoseconds: the whole ones apart, so that a date costs no precision."""
    part, whole = math.modf(seconds)
    return int(whole) * NANO + round(part * NANO)


def seconds(nanoseconds: int) -> float:
    """Nanoseconds as seconds."""
    return nanoseconds / NANO


def utf8(text: str) -> str:
    """A text that can be sent: half a pair of surrogates can't, and becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
