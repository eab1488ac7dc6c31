"""OTLP JSON to spans, as collectors and exporters write it: ids in hexadecimal, or in base64 as protobuf's own JSON has them."""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.outcome import as_json
from planexec_lab.spans.span import Span, SpanEvent, TraceError, Value, utf8
from planexec_lab.spans.tree import checked_id, checked_times
from planexec_lite.tools import shown

Placed = tuple[dict[str, Any], str]
"""A span as OTLP JSON has it, and its place."""

_FAILED = (2, "STATUS_CODE_ERROR")


def spans_in_otlp(one: dict[str, Any], place: str) -> Iterator[Placed]:
    """Yield the spans of an object, each with its place. Raises `TraceError` for what is not OTLP JSON."""
    for resource, at in _each(one, "resourceSpans", place):
        older = "instrumentationLibrarySpans"  # before OTLP 1.0
        for scope, within in _each(resource, older if older in resource else "scopeSpans", at):
            yield from _each(scope, "spans", within)


def as_id(value: Any) -> Any:
    """An id in lower-case hexadecimal digits, as collectors show it; other ids are unchanged."""
    if isinstance(value, str) and value.endswith("="):
        with suppress(ValueError):
            return b64decode(value, validate=True).hex()
    return value.lower() if isinstance(value, str) and len(value) in (16, 32) else value


def _each(around: dict[str, Any], name: str, place: str) -> Iterator[Placed]:
    """The objects of a list, each with its place."""
    listed = [] if around.get(name) is None else around[name]
    odd = [key for key, value in around.items() if key.lower().endswith("spans") and key != name and value]
    if odd and name.lower().endswith("spans"):
        raise TraceError(f"{place or 'the trace'}: {odd[0]!r} is not read; write {name}")
    place = f"{place}.{name}" if place else name
    if not isinstance(listed, list):
        raise TraceError(f"{place}: no list: {shown(listed)[:80]}")
    for number, one in enumerate(listed):
        if not isinstance(one, dict):
            raise TraceError(f"{place}[{number}]: no object: {shown(one)[:80]}")
        yield one, f"{place}[{number}]"


def span_of(span: dict[str, Any], place: str) -> Span:
    """Return a span of OTLP JSON; `place` is where it was found."""
    start, end = checked_times(span.get("startTimeUnixNano") or 0, span.get("endTimeUnixNano") or 0, place)
    parent = as_id(span.get("parentSpanId"))
    attributes = _attributes(span, place)
    events = tuple(_event(one, at) for one, at in _each(span, "events", place))
    return Span(
        utf8(str(span.get("name", ""))),
        checked_id(as_id(span.get("traceId")), "traceId", place),
        checked_id(as_id(span.get("spanId")), "spanId", place),
        checked_id(parent, "parentSpanId", place) if parent and parent != "0" * 16 else None,
        start,
        end,
        attributes,
        events,
        _error(span.get("status"), attributes, events),
    )


def _event(event: dict[str, Any], place: str) -> SpanEvent:
    at, _ = checked_times(event.get("timeUnixNano") or 0, event.get("timeUnixNano") or 0, place)
    return SpanEvent(utf8(str(event.get("name", ""))), at, _attributes(event, place))


def _error(status: Any, attributes: dict[str, Value], events: tuple[SpanEvent, ...]) -> str | None:
    """Why a span failed: its status says it, or the exception that was noted; without where it was raised.

    LangSmith sets the status when a span begins, to OK, and OpenTelemetry lets nothing change that: of a call that failed
    later the exception alone tells, and it notes none but those.
    """
    status = status if isinstance(status, dict) else {}
    raised = [one.attributes.get("exception.message") for one in events if one.name == "exception"]
    if status.get("code") not in _FAILED and not (raised and names.OF_LANGSMITH in attributes):
        return None
    for words in (status.get("message"), *raised, attributes.get("error.type")):
        if isinstance(words, str) and words:
            return utf8(words).partition("Traceback (most recent call last)")[0].strip()
    return ""


def _attributes(around: dict[str, Any], place: str) -> dict[str, Value]:
    attributes: dict[str, Value] = {}
    for one, at in _each(around, "attributes", place):
        if not isinstance(key := one.get("key"), str):
            raise TraceError(f"{at}: its key is not a string: {shown(key)[:80]}")
        if utf8(key) in attributes:
            raise TraceError(f"{at}: the key {key!r} occurs twice".replace("\n", " ")[:200])
        value = _value(one.get("value"), at)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = tuple(value)
        if value is not None:
            attributes[utf8(key)] = (
                value if isinstance(value, str | bool | int | float | tuple) else utf8(as_json(value))
            )
    return attributes


def _value(value: Any, place: str) -> Any:
    """A value, which says of what type it is: {"intValue": "3"}; a number that JSON can't write stays a text."""
    if not value:
        return None
    kind, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    if kind == "arrayValue" and isinstance(inner, dict):
        return [_value(one, at) for one, at in _each(inner, "values", place)]
    if kind == "kvlistValue" and isinstance(inner, dict):
        return {str(one.get("key")): _value(one.get("value"), at) for one, at in _each(inner, "values", place)}
    try:
        match kind, inner:
            case "stringValue" | "bytesValue", str():
                return utf8(inner)
            case "boolValue", bool():
                return inner
            case "intValue", int() | float() | str() if abs(int(inner)) < 2**64:
                return int(inner)
            case "doubleValue", int() | float() | str():
                return float(inner) if math.isfinite(float(inner)) else str(inner)
    except (ValueError, OverflowError):
        pass
    raise TraceError(f"{place}: no value of an attribute: {shown(value)[:80]}")
