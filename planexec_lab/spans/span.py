"""A span as a plain value: a piece of work from when to when, inside which other one, with its attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | bool | int | float | tuple[str, ...]
NANO = 1_000_000_000


class TraceError(ValueError):
    """A trace that can't be read, with the fault and its place."""


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
        trace_id: 32 hexadecimal digits, the same for all spans of a run; any id in a trace that was read.
        span_id: 16 hexadecimal digits.
        parent_id: the parent span, or None.
        start: nanoseconds since 1970, like `end`.
        error: the reason of the failure; "" without a reason; None: no failure.
        asks: whether it calls a remote service, as a model call does (a span of the kind "client").
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
